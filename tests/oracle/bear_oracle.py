"""Sketched online L-BFGS with dicts, from its published description.

A mini-batch: gradient g at the active weights, on the batch's features A; z by the two-loop recursion
with the last pairs restricted to A; a step along -z into the sketch; the gradient g' of the same
rows after it; the pair (w' - w, g' - g) is kept when its product is positive.
"""

from __future__ import annotations

from tests.oracle.iht_oracle import WeightMedian
from tests.oracle.mission_oracle import loss_slope
from tests.oracle.sketch_oracle import F


class Beside(WeightMedian):
    """The k heaviest exactly, the others in the sketch, which does not count."""

    def believed(self, key: int) -> float:
        return self.active.get(key, 0.0)


class BearOracle:
    damping = 0.1

    def __init__(self, store: Beside, loss: str, rate: float, pairs: int, batch: int, l2: float, free: bool):
        self.store, self.loss, self.rate, self.most, self.batch = store, loss, rate, pairs, batch
        self.l2, self.free, self.intercept = l2, free, 0.0
        self.pairs: list[tuple[dict, dict]] = []
        self.waiting: list = []
        self.squares = self.entries = 0.0

    def score(self, keys, values) -> float:
        return self.intercept + self.store.score(keys, values)

    def learn(self, keys, values, y: float, h: float = 1.0) -> float:
        score = self.score(keys, values)
        self.waiting.append((keys, values, y, h))
        self.squares += sum(float(x) ** 2 for x in values)
        self.entries += len(values)
        if len(self.waiting) == self.batch:
            self.step()
        return score

    def gradient(self) -> tuple[dict, dict, float]:
        g: dict[int, float] = {}
        slopes = 0.0
        for keys, values, y, h in self.waiting:
            slope = h * loss_slope(self.loss, self.score(keys, values), y) / len(self.waiting)
            slopes += slope
            for key, x in zip(keys, values, strict=True):
                g[key] = g.get(key, 0.0) + slope * float(x)
        w = {key: float(self.store.active.get(key, 0.0)) for key in g}
        return {key: g[key] + self.l2 * w[key] for key in g}, w, slopes

    def direction(self, g: dict) -> dict:
        z = dict(g)

        def dot(a, b):
            return sum(a[key] * b[key] for key in g if key in a and key in b)

        used = [(s, r, 1 / dot(s, r)) for s, r in self.pairs if dot(s, r) > 0]
        alphas = []
        for s, r, rho in reversed(used):
            alphas.append(rho * dot(s, z))
            z = {key: z[key] - alphas[-1] * r.get(key, 0.0) for key in z}
        if used:
            s, r, _ = used[-1]
            z = {key: z[key] * dot(s, r) / dot(r, r) for key in z}
        for (s, r, rho), alpha in zip(used, reversed(alphas), strict=True):
            beta = rho * dot(r, z)
            z = {key: z[key] + (alpha - beta) * s.get(key, 0.0) for key in z}
        return z

    def step(self) -> None:
        g, w, slopes = self.gradient()
        z = self.direction(g)
        self.store.score(list(z), list(z.values()))
        self.store.add(list(z), [F(x) for x in z.values()], -self.rate)
        g2, w2, _ = self.gradient()
        typical = self.squares / self.entries if self.squares else 1.0
        s = {key: w2[key] - w[key] for key in g}
        r = {key: g2[key] - g[key] + self.damping * typical * s[key] for key in g}
        if sum(s[key] * r[key] for key in g) > 0:
            self.pairs = [*self.pairs, (s, r)][-self.most :]
        if self.free:
            self.intercept -= self.rate * slopes * typical
        self.waiting = []
