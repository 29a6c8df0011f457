"""Validation on a file of its own after each pass, and stopping when it gets no better."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fsstream.apply import evaluate_model
from fsstream.errors import DataError, UsageError
from fsstream.model_file import parse_model
from fsstream.numerics import np
from fsstream.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsstream.config import SelectOptions
    from fsstream.model import Model
    from fsstream.state import State, StateSink


class Validation:
    """Measures the model after each pass. The best one is kept when a patience is given."""

    def __init__(self, options: SelectOptions, make_model: Callable[[], Model]) -> None:
        assert options.valid is not None
        if (options.passes or 1) > 1 and not Source(options.valid).rereadable:
            raise UsageError(
                f"--valid {options.valid} is no file, and is read after each pass",
                hint="write what comes from the pipe to a file first",
            )
        # The targets are those of the samples that are learned from: of others, rows are read.
        rows = "auto" if options.format == "columns" else options.format
        self._options = replace(options, inputs=(options.valid,), format=rows, targets=None, bad_lines=None)
        self._make_model = make_model
        self._best_loss = float("inf")
        self._best_pass = 0
        self.best: Model | None = None
        self.history: list[dict[str, Any]] = []

    def after_pass(self, number: int) -> bool:
        """Measure; False when learning should stop."""
        model = self._make_model()
        try:
            measured = evaluate_model(model, self._options)
        except DataError as error:
            if error.path is not None:
                raise
            raise DataError(
                f"--valid: {error.message}", path=self._options.inputs[0], hint=error.hint
            ) from None
        self.history.append({"pass": number, **measured})
        loss = measured.get("loss", 0.0)
        if loss < self._best_loss:
            self._best_loss, self._best_pass, self.best = loss, number, model
        patience = self._options.patience
        return patience is None or number - self._best_pass < patience

    def facts(self) -> dict[str, Any]:
        """What `restore` needs beside the best model."""
        return {"history": self.history, "best_pass": self._best_pass}

    def save(self, out: StateSink) -> None:
        """The best model as it would be on disk, if there is one."""
        if self.best is not None:
            out.put("best", np.frombuffer(self.best.to_bytes(), np.uint8))

    def restore(self, plain: Mapping[str, Any], best: State) -> None:
        """Go on with what `facts` and `save` gave."""
        self.history = list(plain["history"])
        self._best_pass = int(plain["best_pass"])
        if "best" in best:
            self._best_loss = float(self.history[self._best_pass - 1].get("loss", 0.0))
            self.best = parse_model(best["best"].tobytes(), "the best model so far")
