"""The two l1 methods of Duchi, Hazan and Singer (2011), all d coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .subgradients import prediction, slope

if TYPE_CHECKING:
    from .b_arda_oracle import Vector


@dataclass
class L1Adaptive(ABC):
    """Parameters and the sums that both methods keep."""

    d: int
    eta: float
    lam: float
    delta: float = 0.01
    loss: str = "squared-hinge"

    def __post_init__(self) -> None:
        self.w = np.zeros(self.d)
        self.sum = np.zeros(self.d)
        self.squares = np.zeros(self.d)
        self.t = 0

    def step(self, x: Vector, y: float) -> float:
        """One example; the prediction made before it was learned."""
        u = prediction(self.w, x)
        g = slope(self.loss, u, y) * x
        self.t += 1
        self.sum += g
        self.squares += g * g
        self.move(g, self.delta + np.sqrt(self.squares))
        return u

    @abstractmethod
    def move(self, g: Vector, h: Vector) -> None:
        """The step of the method."""


class L1Arda(L1Adaptive):
    """Primal-dual sub-gradient, composite l1."""

    def move(self, g: Vector, h: Vector) -> None:
        size = np.maximum(0.0, np.abs(self.sum) - self.lam * self.t)
        self.w = np.sign(-self.sum) * (self.eta / h) * size

    def settle(self) -> None:
        """The weights of the sums, t and squares at hand."""
        self.move(np.zeros(self.d), self.delta + np.sqrt(self.squares))


class AdaFobos(L1Adaptive):
    """Composite mirror descent, composite l1."""

    def move(self, g: Vector, h: Vector) -> None:
        u = self.w - (self.eta / h) * g
        self.w = np.sign(u) * np.maximum(0.0, np.abs(u) - self.lam * self.eta / h)

    def rest(self, steps: Vector) -> None:
        """What so many steps without a gradient do to each weight."""
        h = self.delta + np.sqrt(self.squares)
        self.w = np.sign(self.w) * np.maximum(0.0, np.abs(self.w) - steps * self.lam * self.eta / h)
