"""What the backends around the native Sgd share: passes, convergence, state.

In: batches. Out: scores before learning; the kernel's arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.learner import Common, Learner
from fsstream.errors import CorruptError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch, Newton, Sgd
    from fsstream.model import Model

DEFAULT_RATE = 0.5


class SgdLearner(Learner):
    """Drives one native kernel; subclasses say what is stored and what is selected."""

    def __init__(self, kernel: Sgd | Newton, passes: int, tolerance: float) -> None:
        self.kernel = kernel
        self.passes = passes
        self.tolerance = tolerance
        self.pass_losses: list[float] = []

    def update(self, batch: Batch) -> NDArray[np.float32]:
        """Learn the rows; return what they would have been given before."""
        return self.kernel.update(batch)

    def end_pass(self) -> bool:
        """Another scan, unless all passes are done or the last one hardly helped."""
        loss, weight = self.kernel.take_progress()
        self.pass_losses.append(loss / weight if weight > 0 else 0.0)
        return len(self.pass_losses) < self.passes and not self.converged()

    def converged(self) -> bool:
        """The mean progressive loss of the last pass is hardly below that of the one before."""
        if len(self.pass_losses) < 2:
            return False
        before, now = self.pass_losses[-2:]
        return before - now < self.tolerance * abs(before)

    def start_from(self, model: Model) -> None:
        """Warm start: begin with the features of an earlier model."""
        chosen = model.selection
        for name, key, weight in zip(
            chosen.raw_names, model.keys().tolist(), chosen.weights.tolist(), strict=True
        ):
            self.kernel.seed(name, key, weight)
        self.kernel.intercept = float(model.intercepts[0])

    def intercepts(self) -> NDArray[np.float32]:
        """The one intercept."""
        return np.array([self.kernel.intercept], dtype=np.float32)

    def facts(self) -> Mapping[str, Any]:
        """Mean progressive loss of each finished pass."""
        return {"rows": self.kernel.rows, "pass_losses": list(self.pass_losses)}

    def state(self) -> dict[str, NDArray[Any]]:
        """Sketch or table, active set, intercept and the losses of finished passes."""
        return {**self.kernel.state(), "pass_losses": np.array(self.pass_losses, dtype=np.float64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `state` gave."""
        try:
            self.kernel.restore(state)
            self.pass_losses = np.asarray(state["pass_losses"], dtype=np.float64).tolist()
        except (KeyError, RuntimeError) as error:
            raise CorruptError(f"the saved state does not fit these options: {error}") from error


def rate_of(common: Common) -> float:
    """The step, 0.5 unless given."""
    return DEFAULT_RATE if common.learning_rate is None else common.learning_rate


def checked_l2(common: Common) -> float:
    """Ridge weight: a step must not turn weights around."""
    if rate_of(common) * common.l2 >= 1:
        raise UsageError(
            f"--l2 {common.l2:g} with --learning-rate {rate_of(common):g} takes whole weights",
            hint="their product must be below 1",
        )
    return common.l2
