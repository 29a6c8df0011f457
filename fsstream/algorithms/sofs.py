"""SOFS: second-order online feature selection, AROW with a diagonal covariance.

Row        where m = max(0, 1 - y w.x) > 0: beta = 1 / (sum of Sigma x^2 + gamma),
           w += m beta y Sigma x, 1 / Sigma += x^2 / gamma; the k features with the smallest
           Sigma keep a weight. The rule is the same for both losses of the hinge family.
Paper      Wu, Hoi, Mei, Yu: "Large-Scale Online Feature Selection for Ultra-High Dimensional
           Sparse Data" (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.budgeted import UNTUNED, OnlineBackend
from fsstream.algorithms.feature_tables import numbered
from fsstream.algorithms.learner import Common, Task, parameter, required_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards


@dataclass(frozen=True)
class SofsParameters:
    """What `--set` can change."""

    gamma: float = parameter(
        1.0, "how much the weights resist change: the larger, the smaller are all steps", low=1e-12
    )


class Sofs(OnlineBackend):
    """Keeps a confidence for every feature seen."""

    name: ClassVar[str] = "sofs"
    summary: ClassVar[str] = "confidence-weighted learning: the k most confident features stay"
    paper: ClassVar[str] = "Large-Scale Online Feature Selection for Ultra-High Dimensional Sparse Data"
    losses: ClassVar[tuple[str, ...]] = ("hinge", "squared-hinge")
    auto_binary_loss: ClassVar[str] = "hinge"
    uses: ClassVar[frozenset[str]] = frozenset({"k", "init", "passes", "intercept"})
    Parameters: ClassVar[type] = SofsParameters

    def __init__(self, common: Common, parameters: SofsParameters, task: Task) -> None:
        kernel = _native.budgeted(
            self.name,
            loss=task.loss,
            budget=required_k(common.k),
            eta=UNTUNED,
            gamma=parameters.gamma,
            intercept=common.intercept,
            memory=common.memory,
        )
        super().__init__(kernel, common.passes)
        self.k = required_k(common.k)

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """Averaged weights of the features that all shards together are surest of."""
        from fsstream.algorithms.merging.budgeted import sofs

        return sofs(shards, k=self.k)

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """Its index."""
        return numbered(features, largest_key)
