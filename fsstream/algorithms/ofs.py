"""OFS: online feature selection by truncated sub-gradient descent.

Row        where y w.x <= 1: w = (1 - l2 eta) w + eta y x, scaled into the ball of radius
           1 / sqrt(l2), and the k largest |w| stay; elsewhere w = (1 - l2 eta) w.
Paper      Wang, Zhao, Hoi, Jin: "Online Feature Selection and Its Applications" (2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.budgeted import (
    OnlineBackend,
    planned,
    rate_of,
    ridge_of,
)
from fsstream.algorithms.learner import required_k
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.learner import Common, NoParameters, Task
    from fsstream.algorithms.merging.shards import Shards


class Ofs(OnlineBackend):
    """Remembers nothing of features without a weight."""

    name: ClassVar[str] = "ofs"
    summary: ClassVar[str] = "truncated sub-gradient descent: the k largest weights stay"
    paper: ClassVar[str] = "Online Feature Selection and Its Applications"
    losses: ClassVar[tuple[str, ...]] = ("hinge", "squared-hinge")
    auto_binary_loss: ClassVar[str] = "hinge"
    uses: ClassVar[frozenset[str]] = frozenset({"k", "init", "learning_rate", "l2", "passes", "intercept"})

    def __init__(self, common: Common, parameters: NoParameters, task: Task) -> None:
        eta, lam = rate_of(common), ridge_of(common)
        if eta * lam >= 1:
            raise UsageError(
                f"--l2 {lam:g} with --learning-rate {eta:g} takes whole weights",
                hint="their product must be below 1",
            )
        kernel = _native.budgeted(
            self.name,
            loss=task.loss,
            budget=required_k(common.k),
            eta=eta,
            lam=lam,
            intercept=common.intercept,
            memory=common.memory,
        )
        super().__init__(kernel, common.passes)
        self.k = required_k(common.k)

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The k largest of the averaged weights."""
        from fsstream.algorithms.merging.budgeted import ofs

        return ofs(shards, k=self.k)

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The k weights."""
        return planned(required_k(common.k), 0)
