"""The main job: for each block: parse, learn, count.

In: SelectOptions. Out: an Outcome with the model and what there is to say about the run. Nothing is
published here, so a run that fails leaves everything as it was.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream._native import LossMeter
from fsstream.config import parse_parameters
from fsstream.feeds import make_feed
from fsstream.memory import peak_memory
from fsstream.progress import Progress
from fsstream.reading import make_reading
from fsstream.signals import StopSignals
from fsstream.training import Training, check_uses, find_backend
from fsstream.validation import Validation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.feeds import Feed
    from fsstream.model import Model
    from fsstream.reading import AnyReading
    from fsstream.rows import RowSource
    from fsstream.selection import Selection
    from fsstream.sources import Source


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    model: Model
    summary: dict[str, Any]

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
    """Run one selection from its options, and a source in place of their paths, to the model."""
    started = time.monotonic()
    chosen = find_backend(options.algo)
    parse_parameters(chosen.Parameters, options.set, options.algo)  # wrong ones are told before waiting
    check_uses(options, chosen)
    with StopSignals() as signals, ExitStack() as opened:
        with signals.waiting():
            reading = opened.enter_context(closing(make_reading(options, source)))
        feed = opened.enter_context(closing(make_feed(options, chosen, reading, signals)))
        run = _Run(options, chosen, reading, feed)
        run.learn()
        model = run.model()
        return Outcome(model, run.summary(model, time.monotonic() - started))


class _Run:
    """The state of one selection: what feeds the learner, the learner, and the counts."""

    def __init__(
        self, options: SelectOptions, chosen: type[Learner], reading: AnyReading, feed: Feed
    ) -> None:
        self._options = options
        self._reading = reading
        self._feed = feed
        self._aim = feed.aim
        self._training = Training(options, chosen, feed.aim, feed.task, reading.recipe)
        self.learner = self._training.learner
        self._meter = LossMeter(self._aim.loss)
        self._validation = Validation(options, self._training.model) if options.valid else None
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
            "options": model.options,
            "input": {
                "files": self._reading.names,
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
