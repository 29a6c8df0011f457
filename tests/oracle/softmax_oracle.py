"""Classes side by side with dicts, one class and feature at a time: what the softmax kernel must equal.

The rules are written above the kernel (native/learn/softmax_learner.hpp). A sketch a class with the
same seed is the same as one whose cells hold all classes. Weights are float32, all else is double.
"""

from __future__ import annotations

import math

import numpy as np

from tests.oracle.mission_oracle import loss_slope
from tests.oracle.newton_oracle import Evidence, exp, flow
from tests.oracle.sketch_oracle import F, SketchOracle


class SoftmaxOracle:
    def __init__(
        self,
        k: int,
        depth: int,
        width: int,
        seed: int,
        intercept: bool,
        l2: float = 0.0,
        forget: float = 1.0,
    ) -> None:
        self.forget, self.fading = forget, 1.0
        self.k, self.with_intercept, self.l2 = k, intercept, l2
        self.depth, self.width, self.seed = depth, width, seed
        self.sketches: list[SketchOracle] = []  # one a class
        self.on: list[set[int]] = []  # active features of each class
        self.thresholds: list[F] = []
        self.intercepts: list[float] = []
        self.kept: dict[int, list[F]] = {}  # weights of features that are on for some class
        self.evidence: dict[int, Evidence] = {}
        self.cells = [Evidence() for _ in range(width)]
        self.intercept_evidence = self.spread = self.squares = 0.0
        self.entries = self.rows = 0
        self.room = max(4 * k, 8)  # kept features; those that are on nowhere leave when it is full

    @property
    def prior(self) -> float:
        return 0.02 * self.spread / self.rows

    def meet(self, c: int) -> None:
        while len(self.on) <= c:
            self.sketches.append(SketchOracle(self.depth, self.width, self.seed))
            self.on.append(set())
            self.thresholds.append(F(0))
            self.intercepts.append(0.0)
            for weights in self.kept.values():
                weights.append(F(0))

    def make_room(self, more: int) -> None:
        """Before `more` features may enter."""
        if len(self.kept) + more < self.room:
            return
        for key in sorted(key for key in self.kept if not any(key in on for on in self.on)):
            self.leave(key)
        if 2 * (len(self.kept) + more) > self.room:
            self.room = 2 * (len(self.kept) + 2 * more)

    def estimates(self, key: int) -> list[F]:
        return [sketch.query(key) for sketch in self.sketches]

    def scores(self, row, seen) -> list[float]:
        return [
            b + sum(float(seen[key][c]) * float(x) for key, x in row if self.counts(key, c, seen))
            for c, b in enumerate(self.intercepts)
        ]

    def learn(self, keys, values, y: int, h: float) -> list[float]:
        self.meet(y)
        row = [(key, F(x)) for key, x in zip(keys, values, strict=True)]
        seen = {key: self.look_up(key) for key, _ in row}
        scores = self.scores(row, seen)
        self.rows += 1
        others = [c for c in range(len(self.on)) if c != y]
        if others:
            top = max(scores[c] for c in others)
            share = {c: exp(scores[c] - top) for c in others}
            total = sum(share.values())
            margin = scores[y] - top - math.log(total)
            share = {c: s / total for c, s in share.items()}
        else:
            margin, share = math.inf, {}
        self.step(row, seen, y, h, margin, share)
        return scores


class ConstantOracle(SoftmaxOracle):
    """MISSION's rule with a constant step: estimated weights live in the sketches alone."""

    def __init__(self, rate: float, exact: bool, *shape, **options) -> None:
        super().__init__(*shape, **options)
        self.rate, self.exact = rate, exact

    def look_up(self, key: int) -> list[F]:
        return list(self.kept[key]) if self.exact and key in self.kept else self.estimates(key)

    def counts(self, key: int, c: int, seen) -> bool:
        return key in self.on[c] if self.exact else abs(seen[key][c]) > self.thresholds[c]

    def step(self, row, seen, y: int, h: float, margin: float, share) -> None:
        self.squares += sum(float(x) ** 2 for _, x in row)
        self.entries += len(row)
        if not share:
            return
        keep = (1 - self.rate * self.l2) * self.forget
        if keep < 1:
            self.shrink(F(keep), seen)
        pull = -self.rate * h * loss_slope("logistic", margin, 1.0)
        steps = [pull if c == y else -pull * share[c] for c in range(len(self.on))]
        if self.with_intercept:
            size = self.squares / self.entries if self.squares else 1.0
            self.intercepts = [b + size * s for b, s in zip(self.intercepts, steps, strict=True)]
        for key, x in row:
            beside = self.exact and key in self.kept
            for c, s in enumerate(steps):
                moved = F(x * F(s))
                seen[key][c] += moved
                if beside:
                    self.kept[key][c] += moved
                else:
                    self.sketches[c].add(key, moved)
        self.admit([key for key, _ in row], seen)

    def shrink(self, factor: F, seen) -> None:
        for sketch in self.sketches:
            sketch.cells *= factor
        for weights in [*self.kept.values(), *seen.values()]:
            weights[:] = [w * factor for w in weights]
        self.thresholds = [t * factor for t in self.thresholds]

    def leave(self, key: int) -> None:
        weights = self.kept.pop(key)
        if self.exact:
            for sketch, w in zip(self.sketches, weights, strict=True):
                sketch.add(key, w - sketch.query(key))

    def admit(self, keys, seen) -> None:
        was_kept = [key for key in keys if self.exact and key in self.kept]
        self.make_room(len(keys) - len(was_kept))
        entering = [key for key in keys if key not in was_kept]
        for key in [*(key for key in was_kept if key in self.kept), *entering]:
            for c in range(len(self.on)):
                if key not in self.on[c] and abs(seen[key][c]) > self.thresholds[c]:
                    self.kept.setdefault(key, list(seen[key]))
                    self.on[c].add(key)
                    if len(self.on[c]) == 2 * self.k:
                        self.prune(c)

    def weight(self, key: int, c: int) -> F:
        return self.kept[key][c] if self.exact else self.sketches[c].query(key)

    def ranked(self, c: int) -> list[int]:
        return sorted(self.on[c], key=lambda key: (-abs(self.weight(key, c)), key))

    def prune(self, c: int) -> None:
        ranked = self.ranked(c)
        self.thresholds[c] = abs(self.weight(ranked[self.k - 1], c))
        self.on[c] = set(ranked[: self.k])

    def selected(self) -> dict[tuple[int, int], F]:
        return {
            (c, key): self.weight(key, c)
            for c in range(len(self.on))
            for key in self.ranked(c)[: self.k]
            if self.weight(key, c)
        }


class AdaptiveOracle(SoftmaxOracle):
    """Newton steps with one evidence a feature for all classes."""

    def look_up(self, key: int) -> list[F]:
        return self.kept[key] if key in self.kept else self.estimates(key)

    def counts(self, key: int, c: int, seen) -> bool:
        return key in self.on[c]

    def cell(self, key: int) -> Evidence:
        return self.cells[SketchOracle(self.depth, self.width, self.seed).places(key)[0][1]]

    def fade(self) -> None:
        self.fading *= self.forget
        if self.fading > 0.9:
            return
        factor = F(self.fading)
        for known in [*self.cells, *self.evidence.values()]:
            known.fade(factor)
        self.intercept_evidence *= self.fading
        self.thresholds = [t * np.sqrt(np.sqrt(factor)) for t in self.thresholds]
        self.fading = 1.0

    def meet_evidence(self, key: int, x: F, v: float, seen) -> Evidence:
        kept = key in self.kept
        known, square = self.evidence[key] if kept else self.cell(key), F(float(x) ** 2)
        if not kept and known.scaled > 64 * float(square) * float(known.count):
            known.scaled = known.count * square
            seen[key][:] = [F(0)] * len(seen[key])
        known.scaled = F(float(known.scaled) + v * float(square))
        known.count = F(float(known.count) + v)
        return Evidence(known.scaled, known.count)

    def step(self, row, seen, y: int, h: float, margin: float, share) -> None:
        row = [(key, x) for key, x in row if x != 0]
        self.fade()
        wrong = 1 / (1 + math.exp(margin)) if share else 0.0
        v = h * max([1e-4, wrong * (1 - wrong), *(wrong * s * (1 - wrong * s) for s in share.values())])
        known = {key: self.meet_evidence(key, x, v, seen) for key, x in row}
        self.intercept_evidence += v
        self.spread += 1 + sum(
            float(F(float(x) ** 2)) * float(known[key].count) / float(known[key].scaled) for key, x in row
        )
        if not share:
            return
        rate = {
            key: F(1 / (float(known[key].scaled) * (1 + self.prior / float(known[key].count))))
            for key, _ in row
        }
        rate0 = 1 / (self.intercept_evidence + self.prior) if self.with_intercept else 0.0
        pull = {key: float(rate[key]) * float(F(float(x) ** 2)) for key, x in row}
        active = [rate0 + sum(pull[key] for key, _ in row if key in on) for on in self.on]
        everywhere = [rate0 + sum(pull.values())] * len(self.on)

        def spent(q: list[float]) -> list[F]:
            pulled = q[y] + sum(s * s * q[c] for c, s in share.items())
            step = flow("logistic", margin, 1.0, h * pulled) / pulled if pulled else 0.0
            return [F(step if c == y else -step * share[c]) for c in range(len(q))]

        active_step, other_step = spent(active), spent(everywhere)
        self.intercepts = [b + rate0 * float(s) for b, s in zip(self.intercepts, active_step, strict=True)]
        self.move(row, seen, known, rate, active_step, other_step)

    def move(self, row, seen, known, rate, active_step, other_step) -> None:
        kept = [key for key, _ in row if key in self.kept]
        for key, x in row:
            for c in range(len(self.on)):
                step = active_step[c] if key in self.on[c] else other_step[c]
                if key in self.kept:
                    self.kept[key][c] += rate[key] * x * step
                else:
                    moved = rate[key] * x * F(known[key].unit) * step
                    self.sketches[c].add(key, moved)
                    seen[key][c] += moved
        entering = [key for key, _ in row if key not in kept]
        self.make_room(len(entering))
        for key in [*(key for key in kept if key in self.kept), *entering]:
            unit, stature = F(known[key].unit), self.stature(known[key])
            size = stature * unit if key in kept else stature
            weights = self.kept[key] if key in kept else seen[key]
            for c in range(len(self.on)):
                if key in self.on[c] or not abs(weights[c]) * size > self.thresholds[c]:
                    continue
                if key not in self.kept:
                    self.kept[key] = [w / unit for w in weights]
                    self.evidence[key] = known[key]
                self.on[c].add(key)
                if len(self.on[c]) == 2 * self.k:
                    self.prune(c)

    def leave(self, key: int) -> None:
        weights, known = self.kept.pop(key), self.evidence.pop(key)
        for sketch, w in zip(self.sketches, weights, strict=True):
            sketch.add(key, w * F(known.unit) - sketch.query(key))
        if known.count > self.cell(key).count:
            self.cell(key).scaled, self.cell(key).count = known.scaled, known.count

    def stature(self, known: Evidence) -> F:
        return F(math.sqrt(math.sqrt(float(known.count) + self.prior)))

    def claims(self, c: int) -> list[tuple[F, int]]:
        found = [
            (abs(self.kept[key][c]) * F(self.evidence[key].unit) * self.stature(self.evidence[key]), key)
            for key in self.on[c]
        ]
        return sorted(found, key=lambda claim: (-claim[0], claim[1]))

    def prune(self, c: int) -> None:
        ranked = self.claims(c)
        self.thresholds[c] = ranked[self.k - 1][0]
        self.on[c] = {key for _, key in ranked[: self.k]}

    def selected(self) -> dict[tuple[int, int], F]:
        return {
            (c, key): self.kept[key][c]
            for c in range(len(self.on))
            for _, key in self.claims(c)[: self.k]
            if self.kept[key][c]
        }
