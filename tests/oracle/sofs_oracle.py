"""SOFS (Wu, Hoi, Mei, Yu 2017): AROW with a diagonal covariance, the B most confident features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .b_arda_oracle import Vector, largest
from .subgradients import prediction


@dataclass
class Sofs:
    """The mean `w` and the inverse covariance of all d features."""

    d: int
    budget: int
    gamma: float = 1.0

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)
        self.precision = np.ones(self.d)

    def step(self, x: Vector, y: float) -> float:
        """One example; the prediction made before it was learned."""
        u = prediction(self.w, x)
        m = max(0.0, 1.0 - y * u)
        if m > 0.0:
            sigma = 1.0 / self.precision
            beta = 1.0 / (float(sigma @ (x * x)) + self.gamma)
            moved = self.w + m * beta * y * sigma * x
            self.precision += x * x / self.gamma
            self.w = np.where(largest(self.precision, self.budget), moved, 0.0)
        return u
