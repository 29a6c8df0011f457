"""How far progressive scores are to be trusted, by scipy: what native/learn/calibration.hpp must find."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from tests.oracle.mission_oracle import loss_value

PRIOR = 8.0


@dataclass
class CalibrationOracle:
    loss: str
    with_offset: bool
    scores: list[float] = field(default_factory=list)
    targets: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def meet(self, score: float, target: float, importance: float, row: int) -> None:
        self.scores.append(score)
        self.targets.append(target)
        self.weights.append(importance * row * row)

    def line(self) -> tuple[float, float]:
        """a and c."""
        weights = np.array(self.weights)
        if self.loss == "hinge" or not weights.any():
            return 1.0, 0.0
        rows = weights.sum() ** 2 / (weights**2).sum()
        share = weights / weights.sum()
        if self.loss == "squared":
            return self.by_squares(share, PRIOR / rows)
        u, y = self.binned(share), np.array(self.targets)

        def objective(line):
            a, c = line[0], line[1] if self.with_offset else 0.0
            losses = [loss_value(self.loss, a * s + c, t) for s, t in zip(u, y, strict=True)]
            return rows * float(share @ losses) + PRIOR / 2 * ((a - 1) ** 2 + c**2)

        found = minimize(objective, [1.0, 0.0], method="BFGS")
        return min(max(found.x[0], 1 / 64), 64.0), found.x[1] if self.with_offset else 0.0

    def by_squares(self, share, prior: float) -> tuple[float, float]:
        u, y = np.array(self.scores), np.array(self.targets, float)
        mean_u, mean_y = (share @ u, share @ y) if self.with_offset else (0.0, 0.0)
        square = share @ (u * u) - mean_u**2
        if square <= 0:
            return 1.0, 0.0
        a = (share @ (u * y) - mean_u * mean_y + prior * square) / (square * (1 + prior))
        a = min(max(a, 1 / 64), 64.0)
        return a, (mean_y - a * mean_u) / (1 + prior) if self.with_offset else 0.0

    def binned(self, share) -> np.ndarray:
        """Each score as the mean of its bin: four to an octave, each label apart."""
        near = np.clip(self.scores, -1024, 1024)
        bins: dict[tuple[float, int, bool], list[int]] = {}
        for i, u in enumerate(near):
            mantissa, exponent = math.frexp(abs(u))
            small = abs(u) < 1 / 8
            place = 0 if small else 4 * exponent + int(8 * mantissa) - 4
            bins.setdefault((0.0 if small else math.copysign(1, u), place, self.targets[i] > 0), []).append(i)
        for members in bins.values():
            total = share[members].sum()
            near[members] = share[members] @ near[members] / total if total > 0 else 0.0
        return near


@dataclass
class TrustOracle:
    """What native/learn/trust.hpp must find: one Newton step on all rows at once."""

    loss: str
    weights: list[float] = field(default_factory=list)
    slopes: list[float] = field(default_factory=list)
    curvatures: list[float] = field(default_factory=list)
    parts: list[list[float]] = field(default_factory=list)

    def meet(self, slope: float, curvature: float, importance: float, row: int, parts: list[float]) -> None:
        self.weights.append(importance * row * row)
        self.slopes.append(slope)
        self.curvatures.append(curvature)
        self.parts.append([*parts, 1.0])

    def share(self, doubt: float, held_back: float) -> float:
        """Of a weight, what is written."""
        p, q = self.shares()
        return min(max(1 + p * doubt + q * held_back, 1 / 64), 8.0)

    def shares(self) -> tuple[float, float]:
        if self.loss == "hinge" or not self.weights:
            return 0.0, 0.0
        weights, z = np.array(self.weights), np.array(self.parts)
        squares = (z.T * weights * self.curvatures) @ z
        if squares[0, 0] <= 0:
            return 0.0, 0.0
        rows = weights.sum() ** 2 / (weights**2).sum()
        prior = 32 * squares[0, 0] / rows * np.eye(4)
        slope, p, q, _ = np.linalg.solve(squares + prior, -z.T @ (weights * self.slopes))
        return p / max(1 + slope, 0.25), q / max(1 + slope, 0.25)
