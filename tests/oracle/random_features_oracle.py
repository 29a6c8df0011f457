"""Random features and their l1 problem, slowly: draws in integers, the optimum by proximal gradients."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_WORD = (1 << 64) - 1


def mix64(x: int) -> int:
    x &= _WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _WORD
    return x ^ (x >> 31)


class SplitMix:
    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        return mix64(self.state)

    def open_uniform(self) -> float:
        return ((self.next() >> 12) + 0.5) / (1 << 52)

    def uniform(self) -> float:
        return (self.next() >> 11) / (1 << 53)


def draw(
    kernel: str,
    seed: int,
    number: int,
    keys: list[int],
    width: float,
    reach: float,
    anchors: Vector | None = None,
) -> tuple[Vector, float]:
    """Direction and offset of one feature over inputs seen as they are; angles in radians."""
    own = SplitMix(mix64(seed ^ 0x7372662D62617369) ^ mix64(number + 1))
    stem = own.next()
    direction = np.zeros(len(keys))
    for j, key in enumerate(keys):
        draws = SplitMix(stem ^ mix64(key + 1))
        first = draws.open_uniform()
        if kernel == "laplacian":
            direction[j] = 1 / math.tan(math.pi * first)
        else:
            direction[j] = math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * draws.open_uniform())
    if kernel == "perceptron":
        direction /= np.linalg.norm(direction)
        uniform = own.uniform()
        if anchors is None:
            return direction, (2 * uniform - 1) * reach
        here, there = (anchors[own.next() % len(anchors)] for _ in range(2))
        return direction, -float(direction @ (here + 0.1 * own.uniform() * (there - here)))
    return direction / width, 2 * math.pi * own.uniform()


def features(kernel: str, direction: Vector, offset: float, X: Vector) -> Vector:
    projected = X @ direction + offset
    return np.where(projected < 0, -1.0, 1.0) if kernel == "perceptron" else math.sqrt(2) * np.cos(projected)


def loss(name: str, u: Vector, y: Vector, importance: Vector) -> float:
    m = y * u
    each = {
        "squared": 0.5 * (u - y) ** 2,
        "squared-hinge": np.maximum(0, 1 - m) ** 2,
        "logistic": np.logaddexp(0, -m),
    }[name]
    return float(importance @ each / importance.sum())


def slopes(name: str, u: Vector, y: Vector, importance: Vector) -> Vector:
    m = y * u
    each = {
        "squared": u - y,
        "squared-hinge": -2 * y * np.maximum(0, 1 - m),
        "logistic": -y / (1 + np.exp(m)),
    }[name]
    return importance * each / importance.sum()


def objective(
    name: str, Phi: Vector, y: Vector, importance: Vector, w: Vector, b: float, l1: float, l2: float
) -> float:
    return loss(name, Phi @ w + b, y, importance) + l1 * float(np.abs(w).sum()) + 0.5 * l2 * float(w @ w)


def minimise(
    name: str,
    Phi: Vector,
    y: Vector,
    importance: Vector,
    l1: float,
    l2: float,
    *,
    intercept: bool,
    steps: int = 20_000,
) -> tuple[Vector, float]:
    """Accelerated proximal gradients with restarts: no trick that the kernel shares."""
    design = np.column_stack([Phi, np.ones(len(y))]) if intercept else Phi
    curvature = {"squared": 1.0, "squared-hinge": 2.0, "logistic": 0.25}[name]
    weighted = design * np.sqrt(importance / importance.sum())[:, None]
    step = 1 / (curvature * np.linalg.norm(weighted, 2) ** 2 + l2)
    penalised = np.ones(design.shape[1])
    if intercept:
        penalised[-1] = 0
    w = v = np.zeros(design.shape[1])
    t = 1.0
    for _ in range(steps):
        gradient = design.T @ slopes(name, design @ v, y, importance) + l2 * penalised * v
        after = v - step * gradient
        after = np.sign(after) * np.maximum(0, np.abs(after) - step * l1 * penalised)
        if (v - after) @ (after - w) > 0:
            t = 1.0
        faster = (1 + math.sqrt(1 + 4 * t * t)) / 2
        v, w, t = after + (t - 1) / faster * (after - w), after, faster
    return (w[:-1], float(w[-1])) if intercept else (w, 0.0)
