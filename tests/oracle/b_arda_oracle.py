"""Algorithm 1 of "Online Feature Selection by Adaptive Sub-gradient Methods", over all d coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .subgradients import prediction, slope, value

Vector = NDArray[np.float64]


def largest(v: Vector, budget: int) -> NDArray[np.bool_]:
    """Which entries are among the `budget` largest; ties: the smaller index."""
    kept = np.zeros(len(v), dtype=bool)
    kept[np.lexsort((np.arange(len(v)), -v))[:budget]] = True
    return kept


@dataclass
class BArda:
    """State and parameters; `step` is one turn of the loop."""

    d: int
    budget: int
    eta: float
    lam: float = 0.0
    delta: float = 0.01
    loss: str = "squared-hinge"
    truncation: str = "weighted"  # "magnitude": the naive one of section 4.1

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)
        self.z = np.zeros(self.d)
        self.sum = np.zeros(self.d)
        self.squares = np.zeros(self.d)
        self.t = 0
        self.losses: list[float] = []

    def step(self, x: Vector, y: float) -> float:
        """Lines 3 to 10; the prediction of line 4."""
        u = prediction(self.w, x)
        phi = 0.5 * self.lam * float(self.w @ self.w)
        self.losses.append(value(self.loss, u, y) + phi)
        g = slope(self.loss, u, y) * x
        self.t += 1
        self.sum += g
        self.squares += g * g
        self.solve()
        return u

    def solve(self) -> None:
        """Lines 8 to 10: z and w from the sums."""
        h = self.delta + np.sqrt(self.squares)
        self.z = -self.eta * self.sum / (self.lam * self.eta * self.t + h)
        v = np.abs(self.z) if self.truncation == "magnitude" else h * self.z * self.z
        self.scores = v
        self.w = np.where(largest(v, self.budget), self.z, 0.0)
