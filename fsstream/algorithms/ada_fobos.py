"""Ada-Fobos: adaptive composite mirror descent with an l1 weight.

Objective  sum over rows of loss(w.x, y) + l1 |w|_1.
Row        H = delta + sqrt(sum of g^2), u = w - (eta / H) g;
           w = sign(u) max(0, |u| - l1 eta / H).
Paper      Duchi, Hazan, Singer: "Adaptive Subgradient Methods for Online Learning and Stochastic
           Optimization" (2011), composite mirror descent.
"""

from __future__ import annotations

from typing import ClassVar

from fsstream.algorithms.l1_adaptive import L1Adaptive


class AdaFobos(L1Adaptive):
    """The paper's. Every row shrinks every weight, so the l1 weight that leaves few features leaves those of
    the last rows: near chance on text, as in the comparisons of B-AMD. `--l1` beside `--k` learns with
    a smaller one, .01 say, and trims the rest.
    """

    name: ClassVar[str] = "ada-fobos"
    summary: ClassVar[str] = "adaptive mirror descent with an l1 weight, searched for when --k is given"
    paper: ClassVar[str] = "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
