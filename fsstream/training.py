"""One learner of one run: made from the options, fed batches, asked for its model."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Common
from fsstream.algorithms.one_versus_rest import OneVersusRest
from fsstream.config import LEARNING_FIELDS, parse_parameters, suggest
from fsstream.errors import LimitError, UsageError
from fsstream.groups import read_groups
from fsstream.model import Model, name_classes
from fsstream.task import TWO_CLASS_LOSSES, turned
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsstream.algorithms.learner import Learner, Task
    from fsstream.config import SelectOptions
    from fsstream.feeds import Aim

# Options a backend may have no use for, by field; each must not be given then.
_BACKEND_OPTIONS = ("k", "learning_rate", "l1", "l2", "passes", "intercept", "workers", "init", "groups")


def find_backend(name: str) -> type[Learner]:
    """The backend behind --algo."""
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name!r}", hint=suggest(name, BACKENDS))
    return backend(name)


def check_uses(options: SelectOptions, chosen: type[Learner]) -> None:
    """Refuse options that the backend would ignore."""
    for name in _BACKEND_OPTIONS:
        if getattr(options, name) is not None and name not in chosen.uses:
            flag = "--" + name.replace("_", "-")
            raise UsageError(
                f"{flag} has no use with --algo {chosen.name}", hint=f"see `fsstream algos {chosen.name}`"
            )
    if "k" in chosen.uses and options.k is None and options.l1 is None:
        raise UsageError("--k is missing", hint="how many features to select, for example --k 100")
    if options.output and "k" not in chosen.uses:
        raise UsageError(f"--algo {chosen.name} selects nothing, so there is no --output to write")


def common_options(options: SelectOptions, chosen: type[Learner]) -> Common:
    """The part of the options that reaches the backend, with its defaults."""
    return Common(
        k=options.k,
        learning_rate=options.learning_rate,
        l1=options.l1,
        l2=options.l2 or 0.0,
        passes=options.passes or 1,
        intercept=chosen.intercept_default if options.intercept is None else options.intercept,
        seed=options.seed,
        memory=options.memory_bytes,
        threads=options.thread_count,
        workers=options.workers or 1,
        groups=read_groups(options.groups) if options.groups else None,
    )


class Training:
    """A learner with what makes it a model: the options it was made from and the labels it met."""

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        aim: Aim,
        task: Task,
        recipe: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.options = options
        self.aim = aim
        self._recipe = recipe
        self._chosen = chosen
        self._parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
        self._common = common_options(options, chosen)
        self._check_memory(task)
        self.learner = self._make_learner(task)
        if aim.initial is not None:
            self.learner.start_from(aim.initial)

    def model(self) -> Model:
        """The model as it is now."""
        selection, intercepts = self.learner.selection(), self.learner.intercepts()
        labels = self.aim.labels
        if turned(self.aim.kind, labels):
            labels = labels[::-1]
            selection = dataclasses.replace(selection, weights=-selection.weights)
            intercepts = -intercepts
        return Model(
            selection=name_classes(selection, labels).ranked(),
            intercepts=intercepts,
            kind=self.aim.kind,
            loss=self.aim.loss,
            labels=labels,
            options=self._resolved(),
            reading=self._recipe(),
            basis=self.learner.basis(),
            rows=self.aim.rows,
        )

    def _make_learner(self, task: Task) -> Learner:
        if self.aim.kind == "classes" and self.aim.loss in TWO_CLASS_LOSSES:
            return OneVersusRest(self._common, self._parameters, task, backend=self._chosen)
        return self._chosen(self._common, self._parameters, task)

    def _check_memory(self, task: Task) -> None:
        plan = self._chosen.plan(self._common, self._parameters, task)
        total = sum(plan.values())
        if total > self._common.memory:
            largest = max(plan, key=lambda what: plan[what])
            raise LimitError(
                f"needs {show_size(total)}, and --memory is {show_size(self._common.memory)}",
                hint=f"the largest part is {largest} with {show_size(plan[largest])}",
            )

    def _resolved(self) -> dict[str, Any]:
        """The options as they were in the end; what only moves bytes or speed is left out."""
        given = {name: getattr(self.options, name) for name in LEARNING_FIELDS}
        common = {name: value for name, value in dataclasses.asdict(self._common).items() if name in given}
        return {**given, **common, "loss": self.aim.loss, "set": dataclasses.asdict(self._parameters)}
