"""Projected gradient descent: the batch counterpart of `os`; every scan is one iteration.

Objective  as `os`: min L(X w, y) with at most k non-zero weights.
Scan       w_j - eta * gradient for every feature that passes; the k largest |w| stay.
Paper      the L0-constrained batch baseline of Yang et al., KDD 2016 (Yuan, Li, Zhang; Foucart).
Ours       eta = 1 / L, L raised (and the scan taken again) whenever the curvature along a step
           exceeds it; kept columns are those of this iterate and the next, so memory is n x 2k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.column_learner import (
    NAME,
    ColumnLearner,
    at_most,
    check_step,
    column_bytes,
    refit_parameter,
    sample_targets,
    samples_of,
    scale_parameter,
)
from fsstream.algorithms.learner import Common, Task, parameter, required_k

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ProjGdParameters:
    """What `--set` can change."""

    iterations: int = parameter(
        100, "scans at most, unless --passes is given; it ends earlier when the weights change no more", low=1
    )
    refit: str = refit_parameter()
    scale: str = scale_parameter()


class ProjGd(ColumnLearner):
    """The paper's: a gradient step on all features a scan, then the k largest stay.
    Ours: eta = 1 / L, with L raised, and the scan taken again, whenever the curvature along a step
    exceeds it; it ends when the weights stay. Memory is that of 2k columns.
    """

    name: ClassVar[str] = "proj-gd"
    summary: ClassVar[str] = "a gradient step on all features a scan, then the k largest stay; batch"
    paper: ClassVar[str] = "Online Feature Selection: A Limited-Memory Substitution Algorithm, section 3"
    default_passes: ClassVar[int] = 0
    Parameters: ClassVar[type] = ProjGdParameters
    kernel: _native.ProjectedGradient

    def __init__(self, common: Common, parameters: ProjGdParameters, task: Task) -> None:
        self.refit = parameters.refit == "yes"
        kernel = _native.ProjectedGradient(
            sample_targets(task),
            task.loss,
            k=required_k(common.k),
            step=check_step(common),
            intercept=common.intercept,
            ridge=common.l2,
            unit_scale=parameters.scale == "unit",
        )
        super().__init__(kernel, common.passes or parameters.iterations)

    def end_pass(self) -> bool:
        """True while the weights move and scans are left."""
        moving = self.kernel.end_scan()
        self.scans += 1
        return moving and self.scans < self.passes

    def chosen(self) -> tuple[list[bytes], NDArray[np.float32], float]:
        """The k largest weights, refitted unless that is not wanted."""
        return self.kernel.select(self.refit)

    def facts(self) -> Mapping[str, Any]:
        """Iterations, the objective before the refit, and the Lipschitz constant used."""
        return {
            "scans": self.scans,
            "objective": self.kernel.objective,
            "curvature": self.kernel.curvature,
            "column_bytes": self.kernel.column_bytes,
        }

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Columns of two iterates."""
        k, samples = required_k(common.k), samples_of(task)
        return {
            "columns": column_bytes(samples, 2 * at_most(k + 1, task)),
            "vectors": 64 * samples,
            "names": 2 * NAME * (k + 1),
        }
