"""B-ARDA with sums in sketches (native/learn/b_arda.hpp, store = sketch), one feature after the other.

A working set of 2 B features has exact sums; the others' are in the product's own two sketches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsstream import _native

from .subgradients import slope

DEPTH, SQUARE_ROWS = 3, 2


@dataclass
class SketchedBArda:
    """State and parameters; `step` learns a row given as keys and values."""

    budget: int
    eta: float
    lam: float
    width: int
    seed: int
    loss: str
    delta: float = 0.01
    tau: float = 0.0
    t: int = 0
    sums: dict[int, tuple[float, float]] = field(default_factory=dict)  # of the working set
    members: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.sketch = _native.CountSketch(DEPTH, self.width, self.seed)
        self.least = _native.CountMin(SQUARE_ROWS, self.width, self.seed + 1)

    def weight(self, key: int) -> float:
        """z of a feature of the working set."""
        total, squares = self.sums[key]
        return -self.eta * total / (self.tau + self.delta + np.sqrt(squares))

    def order(self, key: int, total: float, squares: float) -> tuple[float, int]:
        """Sorts the strongest first; ties: the smaller key."""
        h = self.delta + np.sqrt(squares)
        return (-(abs(total) * np.sqrt(h)) / (self.tau + h), key)

    def order_of(self, key: int) -> tuple[float, int]:
        """The same, of a feature of the working set."""
        return self.order(key, *self.sums[key])

    def step(self, keys: list[int], values: list[float], y: float) -> float:
        """Learns a row; the prediction before."""
        present = [key in self.sums for key in keys]
        u = sum(self.weight(k) * x for k, x in zip(keys, values, strict=True) if k in self.members)
        self.t += 1
        self.tau = max(self.tau, self.lam * self.eta * self.t)
        pull = slope(self.loss, u, y)
        for key, x, here in zip(keys, values, present, strict=True):
            if here:
                total, squares = self.sums[key]
                self.sums[key] = (total + pull * x, squares + (pull * x) * (pull * x))
        self.learn_others(
            [(k, pull * x) for k, x, here in zip(keys, values, present, strict=True) if not here]
        )
        self.members = set(sorted(self.sums, key=self.order_of)[: self.budget])
        return float(u)

    def learn_others(self, moves: list[tuple[int, float]]) -> None:
        """Estimates are read before any of the row is added; slots are given in the row's order."""
        moves = [(key, g) for key, g in moves if g != 0.0]
        if not moves:
            return
        keys = np.array([key for key, _ in moves], np.uint64)
        steps = np.array([g for _, g in moves], np.float32)
        before = self.sketch.query(keys)
        self.sketch.add(keys, steps)
        for i, (key, _) in enumerate(moves):
            one = keys[i : i + 1]
            squares = self.least.query(one) + steps[i : i + 1] * steps[i : i + 1]
            self.least.raise_to(one, squares)
            self.consider(key, float(before[i]) + float(steps[i]), float(squares[0]))

    def consider(self, key: int, total: float, squares: float) -> None:
        """A free slot, or that of the weakest feature without a weight."""
        if len(self.sums) >= 2 * self.budget:
            weakest = max((k for k in self.sums if k not in self.members), key=self.order_of)
            if self.order(key, total, squares) > self.order_of(weakest):
                return
            self.write_back(weakest, *self.sums.pop(weakest))
        elif len(self.members) < self.budget:
            self.members.add(key)
        self.sums[key] = (total, squares)

    def write_back(self, key: int, total: float, squares: float) -> None:
        """The sketches say of what leaves what it had."""
        one = np.array([key], np.uint64)
        self.sketch.add(one, np.array([total], np.float32) - self.sketch.query(one))
        self.least.raise_to(one, np.array([squares], np.float32))
