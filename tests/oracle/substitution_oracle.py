"""Algorithms 1 to 3 of the paper in plain numpy, and its naive baseline: dense columns, full recomputation.

Coordinates are those of columns centred (with an intercept) and of mean square 1; the intercept is
one more retained coordinate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np


def loss_value(loss, u, y):
    if loss == "squared":
        return 0.5 * np.mean((u - y) ** 2)
    if loss == "squared-hinge":
        return 0.5 * np.mean(np.maximum(0, 1 - u * y) ** 2)
    return np.mean(np.logaddexp(0, -u * y))


def loss_slope(loss, u, y):
    if loss == "squared":
        return (u - y) / len(y)
    if loss == "squared-hinge":
        return -np.maximum(0, 1 - u * y) * y / len(y)
    return -y / (1 + np.exp(u * y)) / len(y)


def prepared(x, intercept=True):
    """The column as the solver sees it, or None when it does not vary."""
    squares = x @ x
    x = x - x.mean() if intercept else x
    if x @ x <= 1e-10 * squares or not squares:
        return None
    return x / np.sqrt(np.mean(x * x))


@dataclass
class SubstitutionOracle:
    """Algorithm 1 with a given eta, and an L_F that is raised to the curvature along a step."""

    y: np.ndarray
    s: int
    eta: float
    lipschitz: float
    loss: str = "squared"
    m: float = 1.0
    c: float = 0.5
    intercept: bool = True
    b: float = 0.0
    S: dict = field(default_factory=dict)  # id -> (column, weight)
    entered: int = 0
    refused: int = 0  # by (11)

    def __post_init__(self):
        self.largest_curvature = 0.25 if self.loss == "logistic" else 1.0
        if self.intercept and self.loss == "squared":
            self.b = self.y.mean()

    def predict(self, S, b):
        return b + sum((w * x for x, w in S.values()), np.zeros(len(self.y)))

    def f(self, S, b):
        return loss_value(self.loss, self.predict(S, b), self.y)

    def receive(self, j, x):
        x = prepared(x, self.intercept)
        if j in self.S or x is None:
            return
        slope = loss_slope(self.loss, self.predict(self.S, self.b), self.y)
        prev, prev_b = dict(self.S), self.b
        b = self.b - self.eta / self.m * slope.sum() * self.intercept
        kept = {k: (xk, w - self.eta / self.m * (xk @ slope)) for k, (xk, w) in self.S.items()}
        grown = {**kept, j: (x, -self.eta * (x @ slope))}
        self.b = b
        if len(grown) <= self.s:
            self.S = grown
            self.entered += 1
            return
        worst = min(grown, key=lambda k: (abs(grown[k][1]), -k))
        nxt = {k: v for k, v in grown.items() if k != worst}
        weight = lambda S, k: S[k][1] if k in S else 0.0  # noqa: E731

        def squares(S):
            return sum((weight(S, k) - weight(prev, k)) ** 2 for k in {*S, *prev}) + (b - prev_b) ** 2

        for S in (kept, nxt):
            if squares(S):
                change = self.predict(S, b) - self.predict(prev, prev_b)
                along = self.largest_curvature * np.mean(change**2) / squares(S)
                self.lipschitz = max(self.lipschitz, along)
        allowed = self.c * (self.lipschitz / 2 - 1 / (2 * self.eta)) * squares(nxt)
        if worst != j and self.f(nxt, b) - self.f(prev, prev_b) <= allowed:
            self.S = nxt
            self.entered += 1
        else:
            self.S = kept
            self.refused += worst != j


@dataclass
class AsynchronousOracle:
    """Algorithms 2 and 3, simulated: others' pushes are seen q pushes late. Places that a worker's own
    features leave free are filled by the heaviest that others turned away."""

    y: np.ndarray
    s: int
    q: int
    eta: float
    owner: dict  # id -> worker
    m: float = 1.0

    def __post_init__(self):
        self.workers = [{} for _ in range(self.q)]
        self.turned_away = {}  # id -> weight it had
        self.b = self.y.mean()
        self.u = np.full(len(self.y), self.y.mean())
        self.recent = deque(maxlen=self.q if self.q > 1 else 0)

    def receive(self, j, x):
        t = self.owner[j]
        S, x = self.workers[t], prepared(x)
        if j in S or x is None:
            return
        seen = self.u - sum((d for sender, d in self.recent if sender != t), np.zeros(len(self.y)))
        slope = (seen - self.y) / len(self.y)
        before = sum((w * xk for xk, w in S.values()), np.zeros(len(self.y)))
        for k, (xk, w) in S.items():
            S[k] = (xk, w - self.eta / self.m * (xk @ slope))
        S[j] = (x, -self.eta * (x @ slope))
        self.turned_away.pop(j, None)
        if len(S) > self.s // self.q + (t < self.s % self.q):
            worst = min(S, key=lambda k: (abs(S[k][1]), -k))
            self.turned_away[worst] = S.pop(worst)[1]
        free = self.s - sum(map(len, self.workers))
        by_weight = sorted(self.turned_away.items(), key=lambda entry: (-abs(entry[1]), entry[0]))
        self.turned_away = dict(by_weight[:free])
        shift = -self.eta / self.m * slope.sum() / self.q
        self.b += shift
        change = sum((w * xk for xk, w in S.values()), np.zeros(len(self.y))) - before + shift
        self.u = self.u + change
        self.recent.append((t, change))


@dataclass
class ProjectionOracle:
    """The naive baseline: exact coordinate steps for squared loss, then the s largest stay."""

    y: np.ndarray
    s: int

    def __post_init__(self):
        self.u = np.full(len(self.y), self.y.mean())
        self.S = {}

    def receive(self, j, x):
        x = prepared(x)
        if x is None:
            return
        step = -(x @ (self.u - self.y)) / len(self.y)
        self.S[j] = (x, self.S.get(j, (x, 0.0))[1] + step)
        self.u = self.u + step * x
        if len(self.S) > self.s:
            worst = min(self.S, key=lambda k: (abs(self.S[k][1]), -k))
            self.u = self.u - self.S[worst][1] * x_of(self.S, worst)
            del self.S[worst]


def x_of(S, k):
    return S[k][0]
