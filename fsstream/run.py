"""The main job: for each block: parse, learn, count.

In: SelectOptions. Out: an Outcome with the model and what there is to say about the run. Nothing is
published here, so a run that fails leaves everything as it was.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream._native import LossMeter
from fsstream.algorithms.learner import Access
from fsstream.course import Course
from fsstream.errors import CorruptError, RowError, UsageError, fitting
from fsstream.feeds import FeedState, make_feed
from fsstream.file_clashes import check_file_clashes
from fsstream.memory import peak_memory
from fsstream.output import first_records
from fsstream.parameters import parse_parameters
from fsstream.progress import Progress
from fsstream.reading import make_reading
from fsstream.remarks import remarks
from fsstream.saving import Mark, Saving, Snapshot
from fsstream.signals import StopSignals
from fsstream.state import Prefixed
from fsstream.stream_feed import Place
from fsstream.training import Training, check_uses, find_backend
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.algorithms.learner import Learner
    from fsstream.checkpoint import Checkpoint, Saved
    from fsstream.config import SelectOptions
    from fsstream.feeds import Feed
    from fsstream.model import Model
    from fsstream.reading import AnyReading
    from fsstream.rows import RowSource
    from fsstream.selection import Selection
    from fsstream.sources import Source
    from fsstream.state import StateSink
    from fsstream.validation import Validation

SHOWN_FEATURES = 50  # of each class, in the summary
# A batch is learned in parts, between which a signal is heard. A part has at most so many numbers:
_SCORES = 1 << 20  # scores, one for each row and class
_COLUMN_NUMBERS = 1 << 24  # values, one for each feature and sample: seconds of work, or less


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a run came to."""

    model: Model
    summary: dict[str, Any]

    def __repr__(self) -> str:
        return f"<{len(self)} features by {self.model.options['algo']}: {self.selection.beginning}>"

    def __len__(self) -> int:
        return len(self.selection)

    def __bool__(self) -> bool:
        return True  # there is a model, were it of no features

    @property
    def selection(self) -> Selection:
        """The selected features, in output order."""
        return self.model.selection

    @property
    def names(self) -> list[str]:
        """Their names, as text."""
        return self.selection.names

    @property
    def weights(self) -> NDArray[np.float32]:
        """Their weights."""
        return self.selection.weights

    def to_dict(self) -> dict[str, Any]:
        """Weights by name; with several classes, such a dict for each class."""
        return self.selection.to_dict()

    def to_jsonl(self) -> str:
        """What the command writes."""
        return self.selection.to_jsonl()


def select(options: SelectOptions, source: Source | RowSource | None = None) -> Outcome:
    """One selection, from its options to the model; a source takes the place of the paths in the options."""
    return _learn(options, source, None)


def resume(checkpoint: Checkpoint, options: SelectOptions) -> Outcome:
    """Go on with a run, with the options of `checkpoint.resumed`, to the model."""
    return _learn(options, None, checkpoint)


def _learn(
    options: SelectOptions, source: Source | RowSource | None, checkpoint: Checkpoint | None
) -> Outcome:
    started = time.monotonic()
    chosen = find_backend(options.algo)
    parse_parameters(chosen.Parameters, options.set, options.algo)  # a wrong one is told at once
    check_uses(options, chosen)
    check_file_clashes(options, inputs=None if source is None else ())
    before = checkpoint.snapshot if checkpoint is not None else None
    with StopSignals() as signals, ExitStack() as opened:
        if source is not None and options.checkpoint is not None:
            raise UsageError(
                "--checkpoint is for paths and standard input", hint="another process cannot read this source"
            )
        saving = opened.enter_context(Saving(options, checkpoint))
        with signals.waiting():
            reading = opened.enter_context(
                closing(make_reading(options, source, keep_positions=saving.wanted))
            )
        if reading.room is not None:
            reading.room.per_entry = chosen.entry_bytes
        if before is not None:
            with fitting("the checkpoint"):
                reading.go_on(before.counts, before.notes)
        state = before.feed if before is not None else None
        progress = opened.enter_context(
            closing(Progress(reading.input, wanted=options.progress, quiet=options.quiet))
        )
        feed = opened.enter_context(
            closing(make_feed(options, chosen, reading, signals, progress=progress, state=state))
        )
        try:
            run = _Run(options, chosen, reading, feed, signals, saving=saving, before=before)
        except CorruptError:
            if checkpoint is not None:
                _explain_memory(checkpoint.origin.options.memory_bytes, options.memory_bytes)
            raise
        run.learn(progress)
        with signals.asked():
            model = run.model()
        for remark in remarks(options, run.learner, model, reading.collisions):
            reading.note(remark)
        return Outcome(model, run.summary(model, time.monotonic() - started))


def _explain_memory(before: int, now: int) -> None:
    """UsageError where `resume --memory` gives the state another size than it was saved with."""
    if before != now:
        raise UsageError(
            f"--memory: what this backend keeps has the size that {show_size(before)} gave it, "
            f"and {show_size(now)} would give another",
            hint="go on without --memory, or begin anew with select",
        )


class _Run:
    """The state of one selection: what feeds the learner, the learner, and the counts."""

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        reading: AnyReading,
        feed: Feed,
        signals: StopSignals,
        *,
        saving: Saving,
        before: Saved | None,
    ) -> None:
        self._options = options
        self._reading = reading
        self._feed = feed
        self._signals = signals
        self._saving = saving
        self._aim = feed.aim
        task = feed.task
        if before is not None:
            task = dataclasses.replace(task, labels=task.labels[: before.first_labels])
        self._chosen = chosen
        self._classes = self._first_labels = len(task.labels)
        self._samples = 0 if task.targets is None else len(task.targets)
        self._training = Training(options, chosen, feed.aim, task, reading.recipe)
        self.learner = self._training.learner
        self._meter = LossMeter(self._aim.loss, self._aim.kind == "classes")
        self._course = Course(self.learner, chosen.access, with_selection=options.summary is not None)
        self._validation = self._make_validation() if options.valid else None
        self.passes = 0
        self._place = Place()  # behind the batches of the current pass that have been learned
        self._begun = 0  # rows of the batch after that which have been learned, too
        if before is not None:
            with fitting("the checkpoint"):
                self._go_on(before)

    def _make_validation(self) -> Validation:
        from fsstream.validation import Validation

        return Validation(self._options, self._training.model)

    def _go_on(self, before: Saved) -> None:
        """Take over what an interrupted run had learned."""
        self.passes, self._place, self._begun = before.passes, before.feed.place, before.begun
        self._course.go_on(before.course)
        self._meter.restore(before.part("meter"))
        self.learner.restore(before.part("learner"))
        if not self.learner.resumes_within_a_pass:
            self.learner.end_pass()
        if self._validation is not None:
            self._validation.restore(before.validation or {}, before.part("validation"))

    def learn(self, progress: Progress) -> None:
        """Pass after pass, as long as the learner asks for another and validation allows it."""
        wanted = True
        while wanted:
            progress.start(f"pass {self.passes + 1}", self._feed.gives, reads_source=self._feed.reads_source)
            self._learn_once(progress)
            wanted = self._end_pass()
            self._saving.unmark()
            self.passes += 1
            self._course.note()
            validation = self._validation if self._leaves_models or not wanted else None
            if validation is not None and not validation.after_pass(self.passes):
                break
        progress.close()

    @property
    def _leaves_models(self) -> bool:
        """Whether each pass ends with a model; the scans of fgm and its like are steps to a single one."""
        return "passes" in self._chosen.uses

    def _learn_once(self, progress: Progress) -> None:
        batches = self._feed.batches(self.passes + 1)
        within = self.learner.resumes_within_a_pass
        for batch in self._saving.batches(batches, self, within_a_pass=within):
            for rows in self._parts(batch, self._begun):
                try:
                    scores = self.learner.update(rows)
                except RowError as wrong:
                    raise self._feed.placed(wrong, self._begun + wrong.row) from None
                if self.passes == 0 and scores is not None:
                    self._meter.add(rows, scores)
                self._begun += rows.rows
                if within and self._begun < batch.rows:
                    self._signals.check()
            self._place, self._begun = self._feed.place, max(0, self._begun - batch.rows)
            self._course.learned(batch.rows)
            progress.update(batch.rows, self._remark)
        self._place = Place()

    def _remark(self) -> str:
        return f", progressive loss {self._meter.mean:.4f}" if self._meter.rows else ""

    def _end_pass(self) -> bool:
        """Whether the learner wants another pass.

        Learners that keep rows in memory do most of their work here. They are saved, and stopped by a signal,
        between two of their scans.
        """
        if self.learner.resumes_within_a_pass:
            return self.learner.end_pass()
        self.learner.between_scans = self._between_scans
        try:
            with self._signals.asked():
                return self.learner.end_pass()
        finally:
            del self.learner.between_scans  # the run holds the learner, so the learner must not hold the run

    def _between_scans(self) -> None:
        self._saving.save_if_due()
        self._signals.check()

    def _parts(self, batch: Batch, begin: int) -> Iterator[Batch]:
        """The rows from `begin` on, in parts: see _SCORES and _COLUMN_NUMBERS."""
        at_once = max(1, batch.rows)
        several = self._aim.kind == "classes"
        if self._chosen.access is Access.COLUMNS:
            numbers = self._samples * (self._classes if several else 1)
            at_once = max(1, _COLUMN_NUMBERS // max(1, numbers))
        elif several and self._chosen.access is Access.ROWS and batch.rows:
            self._classes = max(self._classes, int(batch.targets.max()) + 1)
            at_once = max(1, _SCORES // self._classes)
        if begin == 0 and batch.rows <= at_once:
            yield batch
            return
        for first in range(begin, batch.rows, at_once):
            yield batch.part(first, min(first + at_once, batch.rows))

    def mark(self) -> Mark:
        """Where the run stands between two batches."""
        aim = self._aim
        return Mark(
            self._place, aim.rows, len(aim.labels), self._reading.counts(), self._feed.size, self._course.rows
        )

    def snapshot(self, mark: Mark) -> Snapshot:
        """All of the run but its arrays, as it was at the mark."""
        self._reading.bad.sync()
        aim = self._aim
        return Snapshot(
            passes=self.passes,
            feed=FeedState(
                mark.place, aim.loss, aim.kind, aim.labels[: mark.labels], mark.rows, aim.rows_before
            ),
            first_labels=self._first_labels,
            counts=mark.counts,
            notes=self._reading.notes,
            validation=None if self._validation is None else self._validation.facts(),
            course=self._course.state(mark.learned),
            begun=self._begun,
        )

    def save(self, out: StateSink) -> None:
        """The arrays of the learner, the meter and the validation."""
        self.learner.save(Prefixed(out, "learner/"))
        self._meter.save(Prefixed(out, "meter/"))
        if self._validation is not None:
            self._validation.save(Prefixed(out, "validation/"))

    def warn(self, text: str) -> None:
        """Tell the user, also one who wants to hear of errors only."""
        self._reading.note(text, urgent=True)

    def model(self) -> Model:
        """The model of the last pass, or of the best one when --patience watches over it."""
        if self._validation is not None and self._options.patience and self._validation.best is not None:
            return self._validation.best
        return self._training.model()

    def summary(self, model: Model, seconds: float) -> dict[str, Any]:
        """What --summary writes."""
        read, total = self._reading.input.progress()
        return {
            "fsstream": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            "numpy": getattr(sys.modules.get("numpy"), "__version__", None),  # many runs need none
            "options": {**self._options.resolved(), **model.reading, **model.options},
            "input": {
                "files": self._reading.names,
                "bytes": read,
                "size": total,
                "rows": self._aim.rows,
                "entries": self._reading.entries,
                "bad_records": self._reading.bad.count,
                "first_bad_records": self._reading.bad.first,
                "skipped_windows": self._reading.skipped_windows,
                "collisions_within_rows": self._reading.collisions,
                **self._reading.recipe(),
            },
            "task": {"kind": model.kind, "loss": model.loss, "labels": model.labels},
            "passes": self.passes,
            "progressive_validation": self._progressive(),
            "validation": self._validation.history if self._validation else None,
            "selected": len(model.selection),
            "largest": first_records(model.selection, SHOWN_FEATURES),
            "course": self._course.points,
            "intercepts": [float(value) for value in model.raw_intercepts],
            "backend": dict(self.learner.facts()),
            "notes": self._reading.notes,
            "resumes": self._saving.resumes,
            "seconds": seconds,
            "cpu_seconds": time.process_time(),
            "peak_memory": peak_memory(),
        }

    def _progressive(self) -> dict[str, Any] | None:
        """Loss of each row before it was learned, in the first pass."""
        if not self._meter.rows:
            return None
        curve = [
            {"rows": rows, "mean_loss": mean, "recent_loss": recent}
            for rows, mean, recent in self._meter.curve
        ]
        accuracy = None if self._aim.kind == "numbers" else self._meter.accuracy
        return {"mean_loss": self._meter.mean, "accuracy": accuracy, "curve": curve}
