"""B-AMD: budgeted adaptive mirror descent.

Objective  sum over rows of loss(w.x, y) + (l2 / 2) |w|^2 with at most k weights at any time.
Row        g = slope x + l2 w, H = delta + sqrt(sum of g^2), z = w - eta g / H; the k features
           with the largest H |z| keep z as their weight.
Paper      Zhai, Wang, Koriche, Gao: "Online Feature Selection by Adaptive Sub-gradient Methods"
           (2018), Algorithm 2.
Departures As b-arda: only the untuned defaults of eta and l2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.b_arda import Budgeted
from fsstream.algorithms.budgeted import SQUARE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards


class BAmd(Budgeted):
    """Mirror descent."""

    name: ClassVar[str] = "b-amd"
    summary: ClassVar[str] = "adaptive mirror descent with at most k weights"
    paper: ClassVar[str] = "Online Feature Selection by Adaptive Sub-gradient Methods, Algorithm 2"

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """Averaged weights beside the squares of all sub-gradients."""
        from fsstream.algorithms.merging.budgeted import b_amd

        squares = _native.CountMin(SQUARE_ROWS, self.width, self.seed) if self.width else None
        return b_amd(shards, k=self.k, squares_of=squares, **self.rule)
