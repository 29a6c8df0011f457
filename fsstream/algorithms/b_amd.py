"""B-AMD: budgeted adaptive mirror descent.

Objective  sum over rows of loss(w.x, y) + (l2 / 2) |w|^2 with at most k weights at any time.
Row        g = slope x + l2 w, H = delta + sqrt(sum of g^2), z = w - eta g / H; the k features
           with the largest H |z| keep z as their weight.
Paper      Zhai, Wang, Koriche, Gao: "Online Feature Selection by Adaptive Sub-gradient Methods"
           (2018), Algorithm 2.
Departures As b-arda: only the untuned defaults of eta and l2.
"""

from __future__ import annotations

from typing import ClassVar

from fsstream.algorithms.b_arda import Budgeted


class BAmd(Budgeted):
    """Mirror descent."""

    name: ClassVar[str] = "b-amd"
    summary: ClassVar[str] = "adaptive mirror descent with at most k weights"
    paper: ClassVar[str] = "Online Feature Selection by Adaptive Sub-gradient Methods, Algorithm 2"
