"""MISSION from the paper (Algorithm 1), with dicts: what the native kernel must equal.

Two stores of weights. `Estimated`: every weight in the sketch; what counts is what the sketch
says is above the threshold. `Exact`: active weights in a dict, the others in the sketch.
Both prune at 2k candidates to the k largest, ties to the smaller key.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from tests.oracle.sketch_oracle import BlockOracle, F, SketchOracle

if TYPE_CHECKING:
    import numpy as np


def loss_value(loss: str, u: float, y: float) -> float:
    m = y * u
    if loss == "logistic":
        return math.log1p(math.exp(-m)) if m > 0 else math.log1p(math.exp(m)) - m
    if loss == "squared":
        return (y - u) ** 2
    short = max(0.0, 1 - m)
    return short if loss == "hinge" else short * short


def loss_slope(loss: str, u: float, y: float) -> float:
    m = y * u
    if loss == "logistic":
        return -y / (1 + math.exp(m))
    if loss == "squared":
        return -2 * (y - u)
    if m >= 1:
        return 0.0
    return -y if loss == "hinge" else -2 * y * (1 - m)


def in_lanes(terms: list[float]) -> float:
    """Sixteen sums, folded in halves: the order in which the kernel adds."""
    lanes = [0.0] * 16
    for j, term in enumerate(terms):
        lanes[j % 16] += term
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [a + b for a, b in zip(lanes[:half], lanes[half:], strict=True)]
    return lanes[0]


def best(weights: dict[int, F], k: int) -> list[int]:
    return sorted(weights, key=lambda key: (-abs(weights[key]), key))[:k]


class Estimated:
    def __init__(self, sketch: SketchOracle, k: int) -> None:
        self.sketch, self.k = sketch, k
        self.candidates: set[int] = set()
        self.threshold, self.scale = F(0), 1.0
        self.pending, self.rows_pending = 1.0, 0

    def score(self, keys, values) -> float:
        self.seen = [self.sketch.query(key) for key in keys]
        terms = [
            float(w) * float(x) if abs(w) > self.threshold else 0.0
            for w, x in zip(self.seen, values, strict=True)
        ]
        return self.scale * in_lanes(terms)

    def add(self, keys, values, coefficient: float) -> None:
        step = F(coefficient / self.scale)
        steps = [step * x for x in values]
        above = [key for key, w, d in zip(keys, self.seen, steps, strict=True) if abs(w + d) > self.threshold]
        for key, d in zip(keys, steps, strict=True):
            self.sketch.add(key, d)
        for key in [key for key in above if key not in self.candidates]:
            self.candidates.add(key)
            if len(self.candidates) == 2 * self.k:
                self.prune()

    def prune(self) -> dict[int, F]:
        asked = {key: self.sketch.query(key) for key in self.candidates}
        kept = best(asked, self.k)
        if len(kept) == self.k:
            self.threshold = abs(asked[kept[-1]])
        self.candidates = set(kept)
        return {key: asked[key] for key in kept}

    def shrink(self, factor: float) -> None:
        self.scale *= factor

    def attenuate(self, factor: float) -> None:
        self.pending *= factor
        self.rows_pending += 1
        if self.rows_pending < self.k and self.pending > 1e-3:
            return
        factor, self.pending, self.rows_pending = self.pending, 1.0, 0
        for key, w in sorted(self.prune().items()):
            self.sketch.add(key, F(float(w) * (1 / factor - 1)))
        self.threshold = F(float(self.threshold) / factor)
        self.scale *= factor

    def weights(self) -> dict[int, F]:
        return {key: F(float(self.sketch.query(key)) * self.scale) for key in self.candidates}


class Exact:
    def __init__(self, sketch: SketchOracle, k: int) -> None:
        self.sketch, self.k = sketch, k
        self.active: dict[int, F] = {}
        self.threshold, self.scale, self.sketch_scale = F(0), 1.0, 1.0

    def score(self, keys, values) -> float:
        terms = [
            float(self.active[key]) * float(x)
            for key, x in zip(keys, values, strict=True)
            if key in self.active
        ]
        return self.scale * in_lanes(terms)

    def add(self, keys, values, coefficient: float) -> None:
        step, sketch_step = F(coefficient / self.scale), F(coefficient / self.sketch_scale)
        others = [
            (key, sketch_step * x) for key, x in zip(keys, values, strict=True) if key not in self.active
        ]
        for key, x in zip(keys, values, strict=True):
            if key in self.active:
                self.active[key] += step * x
        seen = [self.sketch.query(key) for key, _ in others]
        threshold = self.threshold  # a prune within the row may raise or lower it
        for key, d in others:
            self.sketch.add(key, d)
        for (key, d), w in zip(others, seen, strict=True):
            weight = F(float(w + d) * (self.sketch_scale / self.scale))
            if abs(weight) > max(threshold, self.threshold):
                self.active[key] = weight
                if len(self.active) == 2 * self.k:
                    self.prune()

    def prune(self) -> None:
        kept = best(self.active, self.k)
        self.threshold = abs(self.active[kept[-1]])
        left = sorted(self.active.keys() - set(kept))
        asked = [self.sketch.query(key) for key in left]
        for key, seen in zip(left, asked, strict=True):
            weight = F(float(self.active.pop(key)) * (self.scale / self.sketch_scale))
            self.sketch.add(key, weight - seen)

    def shrink(self, factor: float) -> None:
        self.scale *= factor
        self.sketch_scale *= factor

    def attenuate(self, factor: float) -> None:
        self.sketch_scale *= factor

    def weights(self) -> dict[int, F]:
        return {key: F(float(w) * self.scale) for key, w in self.active.items()}


class Dense:
    """Feature hashing: the one row of a sketch is the weights, and all of them count."""

    def __init__(self, bits: int, seed: int) -> None:
        self.table, self.scale = SketchOracle(1, 1 << bits, seed), 1.0

    def score(self, keys, values) -> float:
        terms = [float(self.table.query(key)) * float(x) for key, x in zip(keys, values, strict=True)]
        return self.scale * in_lanes(terms)

    def add(self, keys, values, coefficient: float) -> None:
        step = F(coefficient / self.scale)
        for key, x in zip(keys, values, strict=True):
            self.table.add(key, step * x)

    def shrink(self, factor: float) -> None:
        self.scale *= factor


class MissionOracle:
    def __init__(
        self,
        store,
        loss: str,
        rate: float,
        l2: float = 0.0,
        gamma: float = 1.0,
        intercept: bool = True,
        gamma_doubling: float = 0.0,
        bounded: bool = False,
    ) -> None:
        self.bounded = bounded and loss in ("squared", "squared-hinge")
        self.store, self.loss, self.rate, self.l2, self.gamma = store, loss, rate, l2, gamma
        self.free, self.intercept = intercept, 0.0
        self.rows, self.gamma_doubling = 0, gamma_doubling
        self.progressive, self.squares, self.entries = 0.0, 0.0, 0

    def learn(self, keys, values, target: float, importance: float = 1.0) -> float:
        """One row; returns its score from before."""
        values = [F(x) for x in values]
        score = self.intercept + self.store.score(keys, values)
        self.squares += sum(float(x) ** 2 for x in values)
        self.entries += len(values)
        self.progressive += importance * loss_value(self.loss, score, target)
        typical = self.squares / self.entries if self.squares else 1.0
        step = self.rate * importance
        if self.bounded:  # the new score goes half of the way to the target, at most
            reach = sum(float(x) ** 2 for x in values) + (typical if self.free else 0.0)
            step = min(step, 0.25 / reach) if reach > 0 else step
        coefficient = -step * loss_slope(self.loss, score, target)
        if self.l2 > 0:
            self.store.shrink(1 - self.rate * self.l2)
        if coefficient != 0:
            self.store.add(keys, values, coefficient)
            if self.free:
                # The intercept is a feature of the size of a typical entry.
                self.intercept += coefficient * typical
        if self.gamma < 1:
            self.store.attenuate(self.gamma_now())
        if hasattr(self.store, "end_row"):
            self.store.end_row()
        self.rows += 1
        return score

    def gamma_now(self) -> float:
        if not self.gamma_doubling:
            return self.gamma
        return max(0.5, 1 - (1 - self.gamma) * 2 ** (self.rows / self.gamma_doubling))

    def selected(self) -> dict[int, F]:
        weights = {key: w for key, w in self.store.weights().items() if w != 0}
        ranked = sorted(weights, key=lambda key: (-abs(weights[key]), str(key).encode()))
        return {key: weights[key] for key in ranked[: self.store.k]}


def store_of(active: str, depth: int, width: int, seed: int, k: int):
    if active == "exact":
        return Exact(BlockOracle(depth, width, seed), k)
    return Estimated(SketchOracle(depth, width, seed), k)


def as_rows(row_starts: np.ndarray, keys: np.ndarray, values: np.ndarray):
    for begin, end in itertools.pairwise(row_starts.tolist()):
        yield keys[begin:end].tolist(), values[begin:end]
