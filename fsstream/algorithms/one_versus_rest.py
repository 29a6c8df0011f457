"""Several classes for a backend that knows two: one learner a class, this class against the others.

A class that appears late starts with its first row. A backend that reads the data again would have
missed rows by then, so the runner tells it all classes before the first pass.

The learners share the memory: each is planned with the share of one of the first classes, and what grows
may take what the others have left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fsstream.algorithms.learner import Learner
from fsstream.errors import DivergedError, LimitError
from fsstream.numerics import np
from fsstream.selection import Selection
from fsstream.state import Prefixed, under
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.algorithms.learner import Common, Task
    from fsstream.algorithms.merging.shards import Shards
    from fsstream.basis import Basis
    from fsstream.expansion import Expansion
    from fsstream.model import Model
    from fsstream.numerics import Floats
    from fsstream.state import StateSink


OBJECTS = 4096  # bytes that a learner takes beside its plan and its tables
_BESIDE = 16 << 20  # so many of them are no part of --memory: they belong to the program


class OneVersusRest(Learner):
    """A learner of classes made of two-class learners of one backend."""

    name = "one-versus-rest"
    summary = "one two-class learner a class"
    paper = ""

    def __init__(self, common: Common, parameters: Any, task: Task, *, backend: type[Learner]) -> None:
        self._backend = backend
        self.state_refusal = backend.state_refusal  # type: ignore[misc]
        self.predicts_with_state = backend.predicts_with_state  # type: ignore[misc]
        self.resumes_within_a_pass = backend.resumes_within_a_pass  # type: ignore[misc]
        self._memory = common.memory
        self._common = replace(common, memory=self._share(len(task.labels)))
        self._parameters = parameters
        self._task = task
        self._learners: list[Learner] = []
        self._taken: list[int] = []  # bytes, of each learner
        self._left = self._memory + min(_BESIDE, OBJECTS * len(task.labels))
        self._again: list[bool] = []
        self._grow(len(task.labels))
        self.rows_a_step = max((learner.rows_a_step for learner in self._learners), default=1)

    def update(self, batch: Batch) -> Floats | None:
        if self._task.targets is not None:  # rows are features, the samples have their targets
            for learner in self._learners:
                learner.update(batch)
            return None
        classes = np.array(batch.targets)
        known = len(self._learners)
        if len(classes):
            self._grow(int(classes.max()) + 1)
        columns = []
        end, failure = batch.rows, None
        before = max((learner.rows_learned for learner in self._learners), default=0)
        for index, learner in enumerate(self._learners):
            # A new class's learner must not see more of the past than its block happens to hold.
            first = min(end, int(np.argmax(classes == index))) if index >= known else 0
            rows = batch.part(first, end) if end - first < batch.rows else batch
            rows.set_targets(np.where(classes[first:end] == index, np.float32(1), np.float32(-1)))
            learner.allow(self._left + self._taken[index] - OBJECTS)
            own = learner.rows_learned
            try:
                scores = learner.update(rows)
            except DivergedError as error:
                if not error.row:
                    raise
                # One of the other classes may have failed in an earlier row of the batch.
                end = first + error.row - own - 1
                failure = DivergedError(error.what, row=before + end + 1, hint=error.hint)
                continue
            self._take(index)
            columns.append(scores if scores is None else _not_met(first, scores))
        if failure is not None:
            raise failure
        batch.set_targets(classes)
        known_scores = [column for column in columns if column is not None]
        return np.stack(known_scores, axis=1) if known_scores and len(known_scores) == len(columns) else None

    def start_from(self, model: Model) -> None:
        for index, learner in enumerate(self._learners):
            learner.start_from(_part_of(model, index))

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        return np.concatenate([learner.scores(batch) for learner in self._learners], axis=1)

    def end_pass(self) -> bool:
        wanted = False
        for learner in self._learners:
            learner.between_scans = self.between_scans
            wanted |= learner.end_pass()  # each is told
            del learner.between_scans
        return wanted

    def selection(self) -> Selection:
        parts = [learner.selection() for learner in self._learners]
        extra_names = parts[0].extra if parts else {}
        return Selection(
            raw_names=[name for part in parts for name in part.raw_names],
            raw_weights=np.concatenate([part.weights for part in parts] or [np.empty(0, np.float32)]),
            classes=[index for index, part in enumerate(parts) for _ in part.raw_names],
            groups=_joined([part.groups for part in parts]),
            extra={name: np.concatenate([part.extra[name] for part in parts]) for name in extra_names},
        )

    def intercepts(self) -> Floats:
        return np.array([learner.intercepts()[0] for learner in self._learners], dtype=np.float32)

    def basis(self) -> Basis | Expansion | None:
        parts: list[Any] = [learner.basis() for learner in self._learners]
        return type(parts[0]).joined(parts) if parts and None not in parts else None

    def facts(self) -> Mapping[str, Any]:
        return {f"class_{index}": dict(learner.facts()) for index, learner in enumerate(self._learners)}

    def remarks(self) -> Iterable[str]:
        """Each has seen the same rows, so each would say the same."""
        return self._learners[0].remarks() if self._learners else ()

    def save(self, out: StateSink) -> None:
        out.put("classes", np.array([len(self._learners)]))
        for i, learner in enumerate(self._learners):
            learner.save(Prefixed(out, f"{i}/"))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        for index, (learner, own) in enumerate(self._parts(state)):
            learner.restore(own)
            self._take(index)

    def merge(self, shards: Shards) -> None:
        """Each class of the shards that have met it; they were given no rows of it before."""
        for number, learner in enumerate(self._learners):
            learner.merge(shards.of_class(number))

    def start_again(self, state: Mapping[str, NDArray[Any]]) -> None:
        known = int(state["classes"][0])
        self._grow(known)
        for index, learner in enumerate(self._learners):  # a class that is new begins as the others go on
            learner.start_again(under(f"{index}/", state) if index < known else learner.state())

    def _parts(
        self, state: Mapping[str, NDArray[Any]]
    ) -> Iterator[tuple[Learner, Mapping[str, NDArray[Any]]]]:
        self._grow(int(state["classes"][0]))
        for index, learner in enumerate(self._learners):
            yield learner, under(f"{index}/", state)

    def _grow(self, count: int) -> None:
        while len(self._learners) < count:
            task = self._task
            if task.targets is not None:
                mine = task.targets == len(self._learners)
                task = replace(task, targets=np.where(mine, np.float32(1), np.float32(-1)))
            planned = self._check_memory(task)
            self._learners.append(self._backend(self._common, self._parameters, task))
            self._taken.append(0)
            self._take(len(self._learners) - 1, least=planned)

    def _share(self, classes: int) -> int:
        """Of one of the classes that are known from the beginning."""
        left = self._memory - max(0, OBJECTS * classes - _BESIDE)
        if left < classes:
            raise self._too_many(classes, OBJECTS * classes)
        return left // max(1, classes)

    def _check_memory(self, task: Task) -> int:
        """Bytes planned for one more class: of its share, or of what the others left when it came late."""
        planned = sum(self._backend.plan(self._common, self._parameters, task).values()) + OBJECTS
        classes = len(task.labels)
        if len(self._learners) < classes:
            if planned > self._common.memory + OBJECTS:
                raise self._too_many(classes, classes * planned)
        elif planned > self._left:
            raise self._too_many(len(self._learners) + 1, self._memory - self._left + planned)
        return planned

    def _take(self, index: int, least: int = 0) -> None:
        """A learner has what was planned for it, or more."""
        taken = max(self._taken[index], least, OBJECTS + self._learners[index].memory_used)
        self._left -= taken - self._taken[index]
        self._taken[index] = taken

    def _too_many(self, classes: int, needed: int) -> LimitError:
        return LimitError(
            f"{self._backend.name} needs {show_size(needed)} for {classes:,} classes, "
            f"and --memory is {show_size(self._memory)}",
            hint="raise --memory, lower --k, or bound the classes with --max-classes",
        )


def _part_of(model: Model, index: int) -> Model:
    """What a model of classes holds of one of them, as a model of that class against the others."""
    numbers = model.class_numbers() or ()
    mine = model.selection.at([place for place, number in enumerate(numbers) if number == index])
    selection, intercepts = replace(mine, classes=None), model.raw_intercepts[index : index + 1]
    return replace(model, kind="binary", selection=selection, raw_intercepts=intercepts)


def _not_met(rows: int, scores: Floats) -> Floats:
    """Scores that begin after so many rows: before them nobody knew of the class."""
    return np.pad(scores, (rows, 0), constant_values=-np.float32(np.inf)) if rows else scores


def _joined(columns: list[Any]) -> list[str] | None:
    if any(column is None for column in columns):
        return None
    return [group for column in columns for group in column]
