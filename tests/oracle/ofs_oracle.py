"""OFS (Wang, Zhao, Hoi, Jin 2014), all d coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .b_arda_oracle import Vector, largest


@dataclass
class Ofs:
    """Hinge loss, l2 ball of radius 1 / sqrt(lam), the B largest |w|."""

    d: int
    budget: int
    eta: float
    lam: float = 0.0

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)

    def step(self, x: Vector, y: float) -> float:
        """One example; the prediction made before it was learned."""
        u = float(self.w @ x)
        shrunk = (1.0 - self.lam * self.eta) * self.w
        if y * u <= 1.0:
            moved = shrunk + self.eta * y * x
            norm = float(np.sqrt(moved @ moved))
            if self.lam > 0.0 and norm > 0.0:
                moved *= min(1.0, 1.0 / (np.sqrt(self.lam) * norm))
            self.w = np.where(largest(np.abs(moved), self.budget), moved, 0.0)
        else:
            self.w = shrunk
        return u
