"""l1-ARDA: adaptive dual averaging with an l1 weight.

Objective  sum over rows of loss(w.x, y) + l1 |w|_1.
Row        G += g, H = delta + sqrt(sum of g^2);
           w = sign(-G) (eta / H) max(0, |G| - l1 t).
Paper      Duchi, Hazan, Singer: "Adaptive Subgradient Methods for Online Learning and Stochastic
           Optimization" (2011), primal-dual subgradient method.
"""

from __future__ import annotations

from typing import ClassVar

from fsstream.algorithms.l1_adaptive import L1Adaptive


class L1Arda(L1Adaptive):
    """Dual averaging."""

    name: ClassVar[str] = "l1-arda"
    summary: ClassVar[str] = "adaptive dual averaging with an l1 weight, searched for when --k is given"
    paper: ClassVar[str] = "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
