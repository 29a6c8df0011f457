"""OFS (Wang, Zhao, Hoi, Jin 2014), all d coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .b_arda_oracle import Vector, largest
from .subgradients import prediction, slope


@dataclass
class Ofs:
    """Hinge loss, l2 ball of radius 1 / sqrt(lam), the B largest |w|.

    With another loss of the hinge family its slope takes the place of -y.
    """

    d: int
    budget: int
    eta: float
    lam: float = 0.0
    loss: str = "hinge"

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)
        self.moved = np.zeros(self.d)  # before truncation

    def step(self, x: Vector, y: float) -> float:
        """One example; the prediction made before it was learned."""
        u = prediction(self.w, x)
        self.moved = (1.0 - self.lam * self.eta) * self.w
        if y * u <= 1.0:
            self.moved += self.eta * x * (y if self.loss == "hinge" else -slope(self.loss, u, y))
            norm = float(np.sqrt(self.moved @ self.moved))
            if self.lam > 0.0 and norm > 0.0:
                self.moved *= min(1.0, 1.0 / (np.sqrt(self.lam) * norm))
        self.w = np.where(largest(np.abs(self.moved), self.budget), self.moved, 0.0)
        return u
