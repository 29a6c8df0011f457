"""Algorithm 2 of "Online Feature Selection by Adaptive Sub-gradient Methods", over all d coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .b_arda_oracle import Vector, largest
from .subgradients import prediction, slope, value


@dataclass
class BAmd:
    """State and parameters; `step` is one turn of the loop."""

    d: int
    budget: int
    eta: float
    lam: float = 0.0
    delta: float = 0.01
    loss: str = "squared-hinge"
    truncation: str = "weighted"  # "magnitude": keep the largest |z|

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)
        self.z = np.zeros(self.d)
        self.squares = np.zeros(self.d)
        self.h = np.full(self.d, self.delta)
        self.scores = np.zeros(self.d)
        self.losses: list[float] = []

    def step(self, x: Vector, y: float) -> float:
        """Lines 3 to 10; the prediction of line 4."""
        u = prediction(self.w, x)
        phi = 0.5 * self.lam * float(self.w @ self.w)
        self.losses.append(value(self.loss, u, y) + phi)
        g = slope(self.loss, u, y) * x + self.lam * self.w
        self.squares += g * g
        self.h = self.delta + np.sqrt(self.squares)
        self.z = self.w - self.eta * g / self.h
        # H |z|, written so that equal gradients of unseen features give equal numbers. Where g = 0
        # nothing moved, and the number stays what it was, to the last bit.
        moved = np.abs(self.z) if self.truncation == "magnitude" else np.abs(self.h * self.w - self.eta * g)
        self.scores = np.where(g != 0.0, moved, np.where(self.w != 0.0, self.scores, 0.0))
        self.w = np.where(largest(self.scores, self.budget), self.z, 0.0)
        return u
