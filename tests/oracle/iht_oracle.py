"""The thresholding baselines with dicts, from equation (3) of the MISSION paper and its section 6.1.

`Thresholded`: w <- H_k(w + c x) after every row. `Accumulated`: weights gather until the table is
full, then H_k. Both are stores for MissionOracle; ties go to the smaller key.
"""

from __future__ import annotations

from tests.oracle.mission_oracle import best
from tests.oracle.sketch_oracle import F, SketchOracle


class Thresholded:
    def __init__(self, k: int) -> None:
        self.k, self.w = k, {}

    def score(self, keys, values) -> float:
        return sum(self.w.get(key, 0.0) * float(x) for key, x in zip(keys, values, strict=True))

    def add(self, keys, values, coefficient: float) -> None:
        for key, x in zip(keys, values, strict=True):
            if coefficient * float(x) != 0:
                self.w[key] = self.w.get(key, 0.0) + coefficient * float(x)
        self.w = {key: self.w[key] for key in best(self.w, self.k)}

    def shrink(self, factor: float) -> None:
        self.w = {key: w * factor for key, w in self.w.items()}

    def weights(self) -> dict[int, F]:
        return {key: F(w) for key, w in self.w.items()}


class Remembering:
    """The identity sketch: the k heaviest are active, a dict holds what the others gathered."""

    def __init__(self, k: int) -> None:
        self.k, self.w, self.rest = k, {}, {}

    def score(self, keys, values) -> float:
        return sum(self.w.get(key, 0.0) * float(x) for key, x in zip(keys, values, strict=True))

    def add(self, keys, values, coefficient: float) -> None:
        touched = {
            key: self.w.get(key, self.rest.get(key, 0.0)) + coefficient * float(x)
            for key, x in zip(keys, values, strict=True)
            if coefficient * float(x) != 0
        }
        self.rest |= self.w
        candidates = {**self.w, **touched}
        kept = best(candidates, self.k)
        self.rest |= {key: w for key, w in candidates.items() if key not in kept}
        self.w = {key: candidates[key] for key in kept}

    def shrink(self, factor: float) -> None:
        self.w = {key: w * factor for key, w in self.w.items()}
        self.attenuate(factor)

    def attenuate(self, factor: float) -> None:
        self.rest = {key: w * factor for key, w in self.rest.items()}

    def weights(self) -> dict[int, F]:
        return {key: F(w) for key, w in self.w.items()}


class Batched:
    """Any of these stores, taking the mean of `batch` rows' steps at once."""

    def __init__(self, store, batch: int) -> None:
        self.store, self.batch, self.k = store, batch, store.k
        self.rows, self.sums, self.gamma = 0, {}, 1.0
        self.score, self.shrink, self.weights = store.score, store.shrink, store.weights

    def add(self, keys, values, coefficient: float) -> None:
        for key, x in zip(keys, values, strict=True):
            self.sums[key] = self.sums.get(key, 0.0) + coefficient * float(x)

    def attenuate(self, factor: float) -> None:
        self.gamma = factor

    def end_row(self) -> None:
        self.rows += 1
        if self.rows == self.batch:
            self.step()

    def step(self) -> None:
        if self.sums:
            self.store.score(list(self.sums), list(self.sums.values()))
            self.store.add(list(self.sums), [F(x) for x in self.sums.values()], 1 / self.rows)
        if self.gamma < 1:
            self.store.attenuate(self.gamma)
        self.rows, self.sums = 0, {}


class WeightMedian:
    """The k heaviest exactly, the others in a sketch; both count, the sketch by the mean of its rows."""

    def __init__(self, sketch: SketchOracle, k: int) -> None:
        self.sketch, self.k, self.scale = sketch, k, 1.0
        self.active: dict[int, float] = {}

    def score(self, keys, values) -> float:
        self.had = set(self.active)
        return self.scale * sum(self.believed(key) * float(x) for key, x in zip(keys, values, strict=True))

    def believed(self, key: int) -> float:
        if key in self.active:
            return self.active[key]
        cells = [float(sign * self.sketch.cells[row, cell]) for row, cell, sign in self.sketch.places(key)]
        return sum(cells) / len(cells)

    def add(self, keys, values, coefficient: float) -> None:
        step = coefficient / self.scale
        for key, x in zip(keys, values, strict=True):
            if key in self.had:
                self.active[key] += step * float(x)
        for key, x in zip(keys, values, strict=True):
            change = F(step * float(x))
            if key in self.had or change == 0:
                continue
            weight = float(self.sketch.query(key) + change)
            if len(self.active) < self.k:
                self.active[key] = weight
                continue
            weakest = min(self.active, key=lambda kept: (abs(self.active[kept]), -kept))
            if (abs(weight), -key) > (abs(self.active[weakest]), -weakest):
                left = F(self.active.pop(weakest))
                self.active[key] = weight
                self.sketch.add(weakest, left - self.sketch.query(weakest))
            else:
                self.sketch.add(key, change)

    def shrink(self, factor: float) -> None:
        self.scale *= factor

    def weights(self) -> dict[int, F]:
        return {key: F(w * self.scale) for key, w in self.active.items()}


class Accumulated:
    def __init__(self, k: int, table: int) -> None:
        self.k, self.table, self.scale = k, table, 1.0
        self.w: dict[int, F] = {}

    def score(self, keys, values) -> float:
        return self.scale * sum(
            float(self.w.get(key, F(0))) * float(x) for key, x in zip(keys, values, strict=True)
        )

    def add(self, keys, values, coefficient: float) -> None:
        step, known = F(coefficient / self.scale), set(self.w)
        for key, x in zip(keys, values, strict=True):
            if key in known:
                self.w[key] += step * x
        for key, x in zip(keys, values, strict=True):
            if key in known or step * x == 0:
                continue
            self.w[key] = step * x
            if len(self.w) == self.table:
                self.w = {key: self.w[key] for key in best(self.w, self.k)}

    def shrink(self, factor: float) -> None:
        self.scale *= factor

    def weights(self) -> dict[int, F]:
        return {key: F(float(w) * self.scale) for key, w in self.w.items()}
