"""Grafting: the l1 rival of `os`; features enter one by one where the gradient exceeds lambda.

Objective  min L(X w, y) + lambda |w|_1; L as `os`.
Arrival    admitted if |dL/dw_j| > lambda; then the l1 problem on the admitted is solved and zeros go.
Paper      Perkins, Theiler: "Online Feature Selection using Grafting", ICML 2003.
Ours       Without --l1, lambda is searched for: it falls from scan to scan until at least k features
           stay, is narrowed four times, and the smallest |w| are trimmed to k. The l1 problem is
           solved to a ten-thousandth of the largest weight. With --l1 and no --k all that stay are
           selected. Memory is not bounded by k. No l1 problem has more non-zero weights than samples:
           a larger k gives fewer than k features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.column_learner import (
    NAME,
    ColumnLearner,
    at_most,
    column_bytes,
    refit_parameter,
    sample_targets,
    samples_of,
    scale_parameter,
)
from fsstream.algorithms.learner import Common, Task, required_k
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class GraftingParameters:
    """What `--set` can change."""

    refit: str = refit_parameter()
    scale: str = scale_parameter()


class Grafting(ColumnLearner):
    """The paper's: a feature is admitted where the gradient exceeds lambda, then the l1 problem is solved.
    Ours: without --l1, lambda is searched for, scan by scan, until at least k features stay; of those
    the smallest |w| are trimmed. With --l1 and without --k all that stay are selected. No l1 problem has
    more non-zero weights than samples: a larger k gives fewer than k features. Memory is not bounded by k.
    """

    name: ClassVar[str] = "grafting"
    summary: ClassVar[str] = "l1 one feature at a time: admitted where the gradient exceeds lambda"
    paper: ClassVar[str] = "Online Feature Selection using Grafting (Perkins, Theiler 2003)"
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l1", "l2", "passes", "intercept"})
    default_passes: ClassVar[int] = 0
    Parameters: ClassVar[type] = GraftingParameters
    kernel: _native.Grafting

    def __init__(self, common: Common, parameters: GraftingParameters, task: Task) -> None:
        if common.l1 is not None and not common.l1 > 0:
            raise UsageError(f"--l1 {common.l1:g}: lambda is above 0", hint="leave it out to search for it")
        self.refit = parameters.refit == "yes"
        kernel = _native.Grafting(
            sample_targets(task),
            task.loss,
            k=self._k(common),
            l1=common.l1 or 0.0,
            memory=common.memory,
            intercept=common.intercept,
            ridge=common.l2,
            unit_scale=parameters.scale == "unit",
        )
        super().__init__(kernel, common.passes or 1)
        self.searched = common.l1 is None

    @classmethod
    def _k(cls, common: Common) -> int:
        """0: whatever a lambda that is given leaves."""
        return 0 if common.l1 is not None and common.k is None else required_k(common.k)

    @classmethod
    def reads_again(cls, passes: int | None, l1: float | None) -> bool:
        """The search for lambda scans as often as it needs to, whatever --passes says."""
        return True

    def end_pass(self) -> bool:
        """Scans follow the search for lambda; --passes counts them when it is given."""
        searching = self.kernel.end_scan()
        self.scans += 1
        return searching if self.searched else self.scans < self.passes

    def chosen(self) -> tuple[list[bytes], NDArray[np.float32], float]:
        """The k largest weights, refitted unless that is not wanted."""
        return self.kernel.select(self.refit)

    def facts(self) -> Mapping[str, Any]:
        """lambda, and what admitting cost."""
        seen, admitted, sweeps, collisions, most = self.kernel.counts
        return {
            "scans": self.scans,
            "l1": self.kernel.l1,
            "features_seen": seen,
            "admitted": admitted,
            "sweeps": sweeps,
            "largest_active_set": most,
            "name_collisions": collisions,
            "column_bytes": self.kernel.column_bytes,
        }

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Columns of k features: more are counted as they are admitted."""
        k, samples = cls._k(common), samples_of(task)
        return {
            "columns": column_bytes(samples, at_most(k, task)),
            "vectors": 32 * samples,
            "names": NAME * k,
        }
