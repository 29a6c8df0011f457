"""Adaptive MISSION with dicts, one feature at a time: what the native Newton kernel must equal.

The rule is written above the kernel (native/learn/newton.hpp). What belongs to a feature is float32 as in
the kernel, what belongs to a row is double, and operations come in the kernel's order: features that a row
brings at once have equal claims but for rounding, and rounding decides between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.oracle.calibration_oracle import CalibrationOracle, TrustOracle
from tests.oracle.column_means_oracle import ColumnMeans
from tests.oracle.mission_oracle import in_lanes, loss_slope, loss_value
from tests.oracle.sketch_oracle import BlockOracle, F

ZERO = F(0)


def follow(loss: str, u: float, y: float, a: float, steps: int = 20_000) -> float:
    """Change of u after following the loss downhill for the time a: Runge-Kutta, no closed form."""
    start, h = u, a / steps
    for _ in range(steps):
        k1 = -loss_slope(loss, u, y)
        k2 = -loss_slope(loss, u + h / 2 * k1, y)
        k3 = -loss_slope(loss, u + h / 2 * k2, y)
        k4 = -loss_slope(loss, u + h * k3, y)
        u += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return u - start


def exp(x: float) -> float:
    """The core's e^x to the last bit (fdlibm's reduction and polynomial)."""
    shift = float.fromhex("0x1.8p52")
    k = x * float.fromhex("0x1.71547652b82fep0") + shift - shift
    high, low = x - k * float.fromhex("0x1.62e42feep-1"), k * float.fromhex("0x1.a39ef35793c76p-33")
    r = high - low
    t = r * r
    c = 0.0
    for digits in ("0x1.6376972bea4dp-25", "-0x1.bbd41c5d26bf1p-20", "0x1.1566aaf25de2cp-14"):
        c = t * (float.fromhex(digits) + c)
    c = r - t * (float.fromhex("0x1.555555555553ep-3") + t * (float.fromhex("-0x1.6c16c16bebd93p-9") + c))
    return math.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), int(k))


def flow(loss: str, u: float, y: float, a: float) -> float:
    """The same in closed form; M + e^M = m + e^m + a by Newton's method for the logistic loss."""
    m = y * u
    if loss == "squared":
        return (y - u) * (1 - exp(-2 * a))
    if loss == "hinge":
        return y * min(1 - m, a) if m < 1 else 0.0
    if loss == "squared-hinge":
        return y * (1 - m) * (1 - exp(-2 * a)) if m < 1 else 0.0
    if m > 30 or a < 1e-6:
        return a * y / (1 + exp(m))
    goal = m + exp(m) + a
    moved = goal if goal < 1 else math.log(goal)
    for _ in range(8):
        e = exp(moved)
        step = (moved + e - goal) / (1 + e)
        moved -= step
        if abs(step) <= 1e-12 * (1 + abs(moved)):
            break
    return y * (moved - m)


def curvature(loss: str, u: float, y: float) -> float:
    if loss == "squared":
        return 2.0
    if loss == "squared-hinge":
        return 2.0 if y * u < 1 else 0.0
    s = 1 / (1 + exp(-abs(u)))
    return s * (1 - s)


def fourth_power(x: float) -> float:
    return x * x * x * x


@dataclass
class Evidence:
    scaled: F = ZERO  # P
    count: F = ZERO  # C

    def fade(self, factor: F) -> None:
        self.scaled *= factor
        self.count *= factor

    def without(self, others: F) -> Evidence:
        share = max(F(1) - others / self.count, F(0.1))
        return Evidence(self.scaled * share, self.count * share)

    @property
    def unit(self) -> float:
        return math.sqrt(float(self.scaled) / float(self.count))


class NewtonOracle:
    def __init__(
        self, loss: str, k: int, depth: int, width: int, seed: int, intercept: bool, forget: float = 1.0
    ) -> None:
        self.forget, self.fading = forget, 1.0
        self.loss, self.k, self.with_intercept = loss, k, intercept
        self.sketch = BlockOracle(depth, width, seed)
        self.calibration = CalibrationOracle(loss, intercept)
        self.trust = TrustOracle(loss)
        self.means = ColumnMeans(on=intercept)
        self.unnamed: set[int] = set()  # of a row, what is not in it
        self.cells: dict[tuple[int, int], Evidence] = {}
        self.weights: dict[int, F] = {}
        self.left: list[int] = []  # at the last prune
        self.evidence: dict[int, Evidence] = {}
        self.intercept = self.intercept_evidence = self.threshold = 0.0
        self.scale, self.scale_evidence = 1.0, 0.0
        self.load = F(0)
        self.rows = self.entries = 0
        self.repeats = False  # rows come that were learned before
        self.losses = self.plain_losses = self.targets = self.importance = 0.0

    @property
    def prior(self) -> float:
        left = self.losses / self.plain_losses if self.losses < self.plain_losses else 1.0
        return 0.3 * max(left, 0.2) ** 3 * (self.rows + self.entries) / self.rows

    @property
    def scale_learns(self) -> bool:
        return self.loss != "squared" and not self.repeats

    def line(self) -> tuple[float, float]:
        return (1.0, 0.0) if self.repeats else self.calibration.line()

    def meet(self, u: float, y: float, importance: float) -> None:
        """The row's loss, and what it would be without any feature."""
        mean = self.targets / self.importance if self.importance and self.loss == "squared" else 0.0
        self.losses += importance * loss_value(self.loss, u, y)
        self.plain_losses += importance * loss_value(self.loss, mean, y)
        self.targets += importance * y
        self.importance += importance

    def cell(self, key: int) -> Evidence:
        return self.cells.setdefault(self.sketch.pair(key), Evidence())

    def rate(self, known: Evidence) -> F:
        evidence = known.count + F(self.prior)
        return known.count / min(evidence, np.sqrt(F(50) * evidence)) / known.scaled

    def claim(self, contribution: float, known: Evidence) -> float:
        return fourth_power(contribution) * (float(known.count) + self.prior)

    def learn(self, keys, values, y: float, importance: float) -> float:
        row = [(key, x) for key, x in zip(keys, values, strict=True) if x != 0]
        for key, change in self.means.meet(row, importance, self.forget).items():
            self.intercept += self.scale * float(self.weights.get(key, 0.0)) * change
            if key in self.weights and key not in self.means.columns:  # no mean is taken off any more
                known = self.evidence[key]
                known.scaled = F(float(known.scaled) + float(known.count) * change * change)
        for key, x in self.means.begun.items():
            if key in self.weights:
                self.weights[key] *= self.share_of(key, x)
                known = self.evidence[key]
                known.scaled = max(known.count * self.means.variance(key), np.finfo(F).tiny)
        row, self.unnamed = self.means.centred(row)
        row.sort(key=lambda entry: entry[0] not in self.weights)  # active features first
        before = dict(self.weights)
        self.fade()
        self.shrink(row)
        s = in_lanes([float(self.weights[key]) * float(x) for key, x in row if key in self.weights])
        u = self.intercept + self.scale * s
        parts = self.parts(row)
        self.rows += 1
        self.meet(u, y, importance)
        if not self.repeats:
            slopes = loss_slope(self.loss, u, y), curvature(self.loss, u, y)
            self.calibration.meet(u, y, importance, self.rows)
            self.trust.meet(*slopes, importance, self.rows, parts)
        if importance <= 0:  # a row that only asks
            self.weights = before
            return u
        whole = importance * max(curvature(self.loss, u, y), 1e-4)
        v = F(whole * self.scale * self.scale)
        estimates = {key: self.sketch.query(key) for key, _ in row}
        known = {key: self.weigh(key, x, v, estimates) for key, x in row}
        for key, after in known.items():  # all were read before any is changed
            mine = self.evidence[key] if key in self.weights else self.cell(key)
            mine.scaled, mine.count = after.scaled, after.count
        self.intercept_evidence += whole
        if self.scale_learns:
            self.scale_evidence += whole * s * s
        self.entries += len(row)
        self.move(row, s, u, y, importance, known, estimates)
        return u

    def parts(self, row) -> list[float]:
        """The active features' part of the score, how much of it is in doubt, and what is the prior's."""
        parts = np.zeros(3)
        for key, x in row:
            if key in self.weights:
                parts += self.scale * float(self.weights[key]) * float(x) * np.array([1.0, *self.doubt(key)])
        return parts.tolist()

    def doubt(self, key: int) -> tuple[float, float]:
        """How little a feature's claim exceeds what it must, and the prior's share in what is known of it."""
        known = self.evidence[key]
        claim = self.claim(float(self.weights[key]) * known.unit, known)
        doubt = self.threshold / claim if self.threshold < claim else 1.0
        return doubt, self.prior / (float(known.count) + self.prior)

    def shrink(self, row) -> None:
        """A value of more than sixteen units of its feature counts like sixteen."""
        for key, x in row:
            if key in self.weights:
                self.weights[key] *= self.share_of(key, x)

    def share_of(self, key: int, x: F) -> F:
        known = self.evidence[key]
        far = np.sqrt(F(min(self.means.rows, 256))) if self.means.on and self.means.rows > 1 else F(16)
        limit, square = far * far * known.scaled, x * x * known.count
        return np.sqrt(limit / square) if known.scaled > 0 and square > limit else F(1)

    def fade(self) -> None:
        """Evidence counts less from row to row; in steps, as the kernel does it."""
        self.fading *= self.forget
        if self.fading > 0.9:
            return
        for known in [*self.cells.values(), *self.evidence.values()]:
            known.fade(F(self.fading))
        self.intercept_evidence *= self.fading
        self.scale_evidence *= self.fading
        self.threshold *= self.fading
        self.load *= F(self.fading)
        self.fading = 1.0

    def weigh(self, key: int, x: F, v: F, estimates) -> Evidence:
        known = self.evidence[key] if key in self.weights else self.cell(key)
        scaled, square = known.scaled, x * x
        typical = known.count * square
        variance = self.means.variance(key)
        if key not in self.weights and variance > 0:  # its unit is known
            count = known.count + v
            return Evidence(max(count * variance, np.finfo(F).tiny), count)
        if key not in self.weights and self.load > 0:  # pairs are shared
            if scaled > F(64) * typical:
                estimates[key] = F(0)
            scaled = typical
        elif not scaled:
            scaled = typical
        return Evidence(scaled + v * square, known.count + v)

    def move(self, row, s: float, u: float, y: float, importance: float, known, estimates) -> None:
        rate = {key: self.rate(known[key]) for key, _ in row}
        rate0 = 1 / (self.intercept_evidence + min(self.prior, 1.0)) if self.with_intercept else 0.0
        scale_rate = 1 / (100 + self.scale_evidence) if self.scale_learns else 0.0
        g = self.scale
        active = {key for key, _ in row if key in self.weights}
        pull = {key: float(rate[key] * (x * x)) for key, x in row}
        own = g * g * in_lanes([pull[key] for key, _ in row if key in active])
        q_active = rate0 + scale_rate * s * s + own
        q_all = q_active + g * g * in_lanes([pull[key] for key, _ in row if key not in active])
        u_active = flow(self.loss, u, y, importance * q_active) / q_active if q_active else 0.0
        u_all = flow(self.loss, u, y, importance * q_all) / q_all if q_all else 0.0
        self.intercept += u_active * rate0
        self.scale = min(max(g + u_active * scale_rate * s, 1 / 16), 16.0)
        entering = []
        for key, x in row:
            step = rate[key] * x
            if key in active:
                self.weights[key] += F(u_active * g) * step
                continue
            moved = F(u_all * g) * step * np.sqrt(known[key].scaled / known[key].count)
            self.sketch.add(key, moved)
            entering.append((key, estimates[key] + moved, self.lasting(known[key])))
        for key, contribution, evidence in entering:
            squared = float(contribution) * float(contribution)
            if squared * squared * evidence > self.threshold and key not in self.unnamed:
                own = self.evidence[key] = known[key].without(self.load)
                self.weights[key] = F(float(contribution) / own.unit)
                if len(self.weights) == 2 * self.k:
                    self.prune()

    def lasting(self, known: Evidence) -> float:
        """The evidence in a claim to enter: twice what is not others' at most."""
        own = max(known.count - self.load, F(0.1) * known.count)
        prior = float(F(self.prior))
        return min(float(known.count) + prior, 2 * (float(own) + prior))

    def ranked(self) -> list[tuple[float, int]]:
        claims = [
            (math.sqrt(math.sqrt(self.claim(float(w) * self.evidence[key].unit, self.evidence[key]))), key)
            for key, w in self.weights.items()
        ]
        return sorted(claims, key=lambda pair: (-F(pair[0]), pair[1]))

    def prune(self) -> None:
        ranked = self.ranked()
        self.left = sorted(key for _, key in ranked[self.k :])
        for key in self.left:
            weight, known = self.weights.pop(key), self.evidence.pop(key)
            self.sketch.add(key, F(F(float(weight) * known.unit) - self.sketch.query(key)))
            if known.count > self.cell(key).count:
                self.cell(key).scaled, self.cell(key).count = known.scaled, known.count
        self.threshold = fourth_power(float(F(ranked[self.k - 1][0])))
        counts = [cell.count for cell in self.cells.values()]
        counts += [ZERO] * (self.sketch.pairs - len(counts))
        self.load = sorted(counts)[len(counts) * 9 // 10]

    def selected(self) -> dict[int, F]:
        return {key: self.written(key) for _, key in self.ranked()[: self.k] if self.weights[key]}

    def written(self, key: int) -> F:
        """Of what left, nothing."""
        if key not in self.weights:
            return ZERO
        slope = self.line()[0] * self.scale
        return F(slope * self.trust.share(*self.doubt(key))) * self.weights[key]

    def calibrated_intercept(self) -> float:
        return self.at_means() - sum(float(w) * self.means.mean(key) for key, w in self.selected().items())

    def at_means(self) -> float:
        """The intercept before what is taken off columns of a table."""
        slope, offset = self.line()
        return slope * self.intercept + offset
