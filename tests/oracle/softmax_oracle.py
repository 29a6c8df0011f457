"""Classes side by side with dicts, one class and feature at a time: what the softmax kernel must equal.

The rules are written above the kernel (native/learn/softmax_learner.hpp). A sketch a class with the
same seed is the same as one whose cells hold all classes. Weights are float32, all else is double.
"""

from __future__ import annotations

import math

import numpy as np

from tests.oracle.column_means_oracle import ColumnMeans
from tests.oracle.mission_oracle import loss_slope, loss_value
from tests.oracle.newton_oracle import Evidence, exp, flow
from tests.oracle.sketch_oracle import F, SketchOracle

NEWCOMER = F(0.8)  # what the sketch says of a claim counts for so much of it


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
        self.shared = np.zeros(width, F)  # C of what is not kept
        self.intercept_evidence = self.squares = self.losses = self.plain_losses = 0.0
        self.entries = self.rows = 0
        self.unnamed: set[int] = set()  # of a row, what is not in it
        self.room = max(4 * k, 8)  # kept features; those that are on nowhere leave when it is full

    @property
    def prior(self) -> F:
        left = self.losses / self.plain_losses if self.losses < self.plain_losses else 1.0
        n = max(len(self.on), 2)
        return F(4 * (n - 1) / n**2 * 0.3 * max(left, 0.2) ** 3 * self.entries / self.rows)

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
        if more == 0 or len(self.kept) + more < self.room:
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
        if others:
            self.losses += h * loss_value("logistic", margin, 1.0)
            self.plain_losses += h * math.log(len(self.on))
        self.step(row, seen, y, h, margin, share)
        return scores

    def add_sketched(self, key: int, amounts: list[F]) -> None:
        for sketch, amount in zip(self.sketches, amounts, strict=True):
            sketch.add(key, amount)

    def admit(self, kept: list[int], sizes: dict[int, F], seen: dict[int, list[F]]) -> None:
        """Features that were kept before the row, and those in the sketch with what it says now, in order."""
        above = [
            key for key in seen if any(self.claims_to(c, seen[key], sizes[key]) for c in range(len(self.on)))
        ]
        self.make_room(len(above))
        kept = [key for key in kept if key in self.kept]
        risen = [
            key
            for key in kept
            if any(
                key not in self.on[c] and self.claims_to(c, self.kept[key], sizes[key])
                for c in range(len(self.on))
            )
        ]
        for key in risen:
            self.turn_on(key, self.kept[key], sizes[key])
        for key in above:
            if key in self.unnamed:  # it enters when it is met
                continue
            weights = self.entering_weights(key, seen)
            if any(self.claims_to(c, weights, sizes[key]) for c in range(len(self.on))):
                self.enter(key, weights)
                self.turn_on(key, weights, sizes[key])

    def entering_weights(self, key: int, seen: dict[int, list[F]]) -> list[F]:
        """What the sketch says now that others of the row have taken theirs out of it."""
        return self.estimates(key)

    def claims_to(self, c: int, weights: list[F], size: F) -> bool:
        return bool(abs(weights[c]) * size > self.thresholds[c])

    def turn_on(self, key: int, weights: list[F], size: F) -> None:
        for c in range(len(self.on)):
            if key not in self.on[c] and self.claims_to(c, weights, size):
                self.on[c].add(key)
                if len(self.on[c]) == 2 * self.k:
                    self.prune(c)


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
        kept = [key for key, _ in row if self.exact and key in self.kept]
        sketched = {}
        for key, x in row:
            moved = [F(x * F(s)) for s in steps]
            if key in kept:
                self.kept[key] = [w + m for w, m in zip(self.kept[key], moved, strict=True)]
            elif not self.exact:
                self.add_sketched(key, moved)
                sketched[key] = [w + m for w, m in zip(seen[key], moved, strict=True)]
            elif x != 0:
                self.add_sketched(key, moved)
                sketched[key] = self.estimates(key)
        self.admit(kept, dict.fromkeys([*kept, *sketched], F(1)), sketched)

    def shrink(self, factor: F, seen) -> None:
        for sketch in self.sketches:
            sketch.cells *= factor
        for weights in [*self.kept.values(), *seen.values()]:
            weights[:] = [w * factor for w in weights]
        self.thresholds = [t * factor for t in self.thresholds]

    def leave(self, key: int) -> None:
        weights = self.kept.pop(key)
        if self.exact:
            self.add_sketched(key, weights)

    def enter(self, key: int, weights: list[F]) -> None:
        if key not in self.kept and self.exact:
            self.add_sketched(key, [-w for w in weights])
        self.kept.setdefault(key, list(weights))

    def entering_weights(self, key: int, seen: dict[int, list[F]]) -> list[F]:
        return super().entering_weights(key, seen) if self.exact else seen[key]

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

    def __init__(self, k: int, depth: int, width: int, seed: int, intercept: bool, **options) -> None:
        super().__init__(k, depth, width, seed, intercept, **options)
        self.means = ColumnMeans(on=intercept)

    def learn(self, keys, values, y: int, h: float) -> list[float]:
        self.meet(y)
        row = [(key, F(x)) for key, x in zip(keys, values, strict=True) if x != 0]
        for key, change in self.means.meet(row, h, self.forget).items():
            self.follow(key, change)
        for key, x in self.means.begun.items():
            self.take_unit(key, x)
        row, self.unnamed = self.means.centred(row)
        return super().learn([key for key, _ in row], [x for _, x in row], y, h)

    def follow(self, key: int, change: float) -> None:
        """Another mean is taken off the values of a feature: scores stay."""
        if key not in self.kept:
            return
        for c, on in enumerate(self.on):
            self.intercepts[c] += float(self.kept[key][c]) * change * (key in on)
        if key not in self.means.columns:  # no mean is taken off any more
            known = self.evidence[key]
            known.scaled = F(float(known.scaled) + float(known.count) * change * change)

    def take_unit(self, key: int, x: F) -> None:
        """The values of a column differ for the first time."""
        if key not in self.kept:
            return
        known, far = self.evidence[key], np.sqrt(F(min(self.means.rows, 256)))
        limit, square = far * far * known.scaled, x * x * known.count
        if known.scaled > 0 and square > limit:
            self.kept[key] = [w * np.sqrt(limit / square) for w in self.kept[key]]
        known.scaled = max(known.count * self.means.variance(key), np.finfo(F).tiny)

    def written_intercepts(self) -> list[float]:
        """Of values as they are."""
        written = list(self.intercepts)
        for (c, key), weight in self.selected().items():
            written[c] -= float(weight) * self.means.mean(key)
        return written

    def in_units(self, key: int, x: F) -> F:
        """A value of what is not kept: in deviations of its column, else by its sign alone."""
        variance = self.means.variance(key)
        return x / np.sqrt(variance) if variance > 0 else np.sign(x)

    def look_up(self, key: int) -> list[F]:
        return self.kept.get(key, [])

    def counts(self, key: int, c: int, seen) -> bool:
        return key in self.on[c]

    def cell(self, key: int) -> int:
        return self.sketches[0].places(key)[0][1]

    def fade(self) -> None:
        self.fading *= self.forget
        if self.fading > 0.9:
            return
        factor = F(self.fading)
        for known in self.evidence.values():
            known.fade(factor)
        self.shared *= factor
        self.intercept_evidence *= self.fading
        self.thresholds = [t * np.sqrt(np.sqrt(factor)) for t in self.thresholds]
        self.fading = 1.0

    def weigh(self, key: int, x: F, v: F) -> Evidence:
        """P and C with the row's share; of what is not kept, P in the unit of the value at hand."""
        if key not in self.kept:
            count = self.shared[self.cell(key)] + v
            variance = self.means.variance(key)
            return Evidence(count * (variance if variance > 0 else x * x), count)
        known = self.evidence[key]
        scaled = known.scaled if known.scaled > 0 else known.count * (x * x)
        return Evidence(scaled + v * (x * x), known.count + v)

    def step(self, row, seen, y: int, h: float, margin: float, share) -> None:
        row = [(key, x) for key, x in row if x != 0]
        self.fade()
        if h <= 0:  # a row that only asks
            self.entries += 1
            return
        wrong = 1 / (1 + math.exp(margin)) if share else 0.0
        v = F(h * max([1e-4, wrong * (1 - wrong), *(wrong * s * (1 - wrong * s) for s in share.values())]))
        known = {key: self.weigh(key, x, v) for key, x in row}
        for key, after in known.items():  # all were read before any is changed
            if key in self.kept:
                self.evidence[key] = after
            else:
                self.shared[self.cell(key)] = after.count
        self.intercept_evidence += float(v)
        self.entries += 1 + len(row)
        if not share:
            return
        rate, pull = {}, {}
        for key, x in row:
            evidence = known[key].count + self.prior
            slow = min(evidence, np.sqrt(F(50) * evidence))
            if key in self.kept:
                r = known[key].count / slow / known[key].scaled
                rate[key], pull[key] = r * x, float(r * (x * x))
            else:
                unit = self.in_units(key, x)
                rate[key], pull[key] = unit * (F(1) / slow), float(unit * unit * (F(1) / slow))
        rate0 = 1 / (self.intercept_evidence + float(self.prior)) if self.with_intercept else 0.0
        active = [rate0 + sum(pull[key] for key, _ in row if key in on) for on in self.on]
        everywhere = [rate0 + sum(pull.values())] * len(self.on)

        def spent(q: list[float]) -> list[F]:
            pulled = q[y] + sum(s * s * q[c] for c, s in share.items())
            step = flow("logistic", margin, 1.0, h * pulled) / pulled if pulled else 0.0
            return [F(step if c == y else -step * share[c]) for c in range(len(q))]

        active_step, other_step = spent(active), spent(everywhere)
        self.intercepts = [b + rate0 * float(s) for b, s in zip(self.intercepts, active_step, strict=True)]
        self.move(row, known, rate, active_step, other_step)

    def move(self, row, known, rate, active_step, other_step) -> None:
        kept = [key for key, _ in row if key in self.kept]
        sketched = {}
        for key, _ in row:
            if key in self.kept:
                for c, on in enumerate(self.on):
                    self.kept[key][c] += rate[key] * (active_step if key in on else other_step)[c]
            else:
                self.add_sketched(key, [rate[key] * s for s in other_step])
                sketched[key] = self.estimates(key)
        self.entering = known
        sizes = {key: self.size(known[key]) for key in kept}
        self.admit(kept, sizes | {key: NEWCOMER * self.stature(known[key]) for key in sketched}, sketched)

    def enter(self, key: int, weights: list[F]) -> None:
        known = self.entering[key]
        self.kept[key], self.evidence[key] = [w / F(known.unit) for w in weights], known
        self.add_sketched(key, [-w for w in weights])

    def leave(self, key: int) -> None:
        weights, known = self.kept.pop(key), self.evidence.pop(key)
        self.add_sketched(key, [w * F(known.unit) for w in weights])
        self.shared[self.cell(key)] = max(self.shared[self.cell(key)], known.count)

    def stature(self, known: Evidence) -> F:
        return np.sqrt(np.sqrt(known.count + self.prior))

    def size(self, known: Evidence) -> F:
        return np.sqrt(known.scaled / known.count) * self.stature(known)

    def claims(self, c: int) -> list[tuple[F, int]]:
        found = [(abs(self.kept[key][c]) * self.size(self.evidence[key]), key) for key in self.on[c]]
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
