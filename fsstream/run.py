"""The main job: for each block: parse, learn, count.

In: SelectOptions. Out: an Outcome with the model and what there is to say about the run. Nothing is
published here, so a run that fails leaves everything as it was.
"""

from __future__ import annotations

import dataclasses
import resource
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream._native import LossMeter
from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Common
from fsstream.algorithms.one_versus_rest import OneVersusRest
from fsstream.config import LEARNING_FIELDS, parse_parameters, suggest
from fsstream.errors import LimitError, UsageError
from fsstream.feeds import make_feed
from fsstream.groups import read_groups
from fsstream.model import Model, name_classes
from fsstream.progress import Progress
from fsstream.reading import Reading
from fsstream.signals import StopSignals
from fsstream.task import TWO_CLASS_LOSSES, turned
from fsstream.units import show_size
from fsstream.validation import Validation

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner, Task
    from fsstream.config import SelectOptions
    from fsstream.feeds import Feed

# Options a backend may have no use for, by field; each must not be given then.
_BACKEND_OPTIONS = ("k", "learning_rate", "l1", "l2", "passes", "intercept", "workers", "init", "groups")


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    model: Model
    summary: dict[str, Any]


def select(options: SelectOptions) -> Outcome:
    """Run one selection from its options to the model."""
    started = time.monotonic()
    chosen = find_backend(options.algo)
    parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
    check_uses(options, chosen)
    with StopSignals() as signals, ExitStack() as opened:
        with signals.waiting():
            reading = opened.enter_context(closing(Reading(options)))
        feed = opened.enter_context(closing(make_feed(options, chosen, reading, signals)))
        run = _Run(options, chosen, parameters, reading, feed)
        run.learn()
        model = run.model()
        return Outcome(model, run.summary(model, time.monotonic() - started))


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


class _Run:
    """The state of one selection: what feeds the learner, the learner, and the counts."""

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        parameters: Any,
        reading: Reading,
        feed: Feed,
    ) -> None:
        self._options = options
        self._reading = reading
        self._feed = feed
        self._aim = feed.aim
        self._chosen = chosen
        self._common = common_options(options, chosen)
        self._parameters = parameters
        self._check_memory(self._feed.task)
        self.learner = self._make_learner(self._feed.task)
        if self._aim.initial is not None:
            self.learner.start_from(self._aim.initial)
        self._meter = LossMeter(self._aim.loss)
        self._validation = Validation(options, self.current_model) if options.valid else None
        self.passes = 0

    def learn(self) -> None:
        """Pass after pass, as long as the learner asks for another and validation allows it."""
        progress = Progress(self._reading.input, wanted=self._options.progress, quiet=self._options.quiet)
        with closing(progress):
            wanted = True
            while wanted:
                self.passes += 1
                progress.start_pass(self.passes)
                self._learn_once(progress)
                wanted = self.learner.end_pass()
                if self._validation is not None and not self._validation.after_pass(self.passes):
                    break

    def _learn_once(self, progress: Progress) -> None:
        for batch in self._feed.batches(self.passes):
            scores = self.learner.update(batch)
            if self.passes == 1 and scores is not None:
                self._meter.add(batch, scores)
            progress.update(batch.rows, self._meter.mean if self._meter.rows else None)

    def _make_learner(self, task: Task) -> Learner:
        if self._aim.kind == "classes" and self._aim.loss in TWO_CLASS_LOSSES:
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

    def model(self) -> Model:
        """The model of the last pass, or of the best one when --patience watches over it."""
        if self._validation is not None and self._options.patience and self._validation.best is not None:
            return self._validation.best
        return self.current_model()

    def current_model(self) -> Model:
        """The model as it is now."""
        selection, intercepts = self.learner.selection(), self.learner.intercepts()
        labels = self._aim.labels
        if turned(self._aim.kind, labels):
            labels = labels[::-1]
            selection = dataclasses.replace(selection, weights=-selection.weights)
            intercepts = -intercepts
        return Model(
            selection=name_classes(selection, labels).ranked(),
            intercepts=intercepts,
            kind=self._aim.kind,
            loss=self._aim.loss,
            labels=labels,
            options=self._resolved(),
            reading=self._reading.recipe(),
        )

    def _resolved(self) -> dict[str, Any]:
        """The options as they were in the end; what only moves bytes or speed is left out."""
        given = {name: getattr(self._options, name) for name in LEARNING_FIELDS}
        common = {name: value for name, value in dataclasses.asdict(self._common).items() if name in given}
        return {**given, **common, "loss": self._aim.loss, "set": dataclasses.asdict(self._parameters)}

    def summary(self, model: Model, seconds: float) -> dict[str, Any]:
        """What --summary writes."""
        read, total = self._reading.input.progress()
        return {
            "fsstream": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            "options": model.options,
            "input": {
                "files": [source.name for source in self._reading.input.sources],
                "bytes": read,
                "size": total,
                "rows": self._aim.rows,
                "entries": self._reading.entries,
                "bad_records": self._reading.bad.count,
                "skipped_windows": self._reading.skipped_windows,
                **self._reading.recipe(),
            },
            "task": {"kind": model.kind, "loss": model.loss, "labels": model.labels},
            "passes": self.passes,
            "progressive_validation": self._progressive(),
            "validation": self._validation.history if self._validation else None,
            "selected": len(model.selection),
            "intercepts": [float(value) for value in model.intercepts],
            "backend": dict(self.learner.facts()),
            "notes": self._reading.notes,
            "seconds": seconds,
            "cpu_seconds": time.process_time(),
            "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
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
