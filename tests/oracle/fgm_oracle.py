"""The Feature Generating Machine in numpy, written from the paper: Algorithms 1 to 4, no tricks.

In: a dense matrix, targets, costs C_i. Out: the rounds' features, weights, bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


def mixed(word):
    """SplitMix64's finaliser."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def held_out(rows, seed=0):
    """Which rows tell what C is best: of the n-th five one, drawn by n."""
    held = np.zeros(rows, bool)
    for n in range(rows // 5):
        held[5 * n + mixed(mixed(n) ^ seed * 0x9E3779B97F4A7C15 % 2**64) % 5] = True
    return held


def loss_value(loss, y, costs, u):
    margin = y * u
    if loss == "squared-hinge":
        return float(np.sum(costs / 2 * np.maximum(0, 1 - margin) ** 2))
    if loss == "logistic":
        return float(np.sum(costs * np.logaddexp(0, -margin)))
    return float(np.sum(costs / 2 * (y - u) ** 2))


def residuals(loss, y, costs, u):
    """alpha_i y_i."""
    margin = y * u
    if loss == "squared-hinge":
        return costs * y * np.maximum(0, 1 - margin)
    if loss == "logistic":
        return costs * y * np.exp(-np.logaddexp(0, margin))
    return costs * (y - u)


def conjugate(loss, y, costs, r):
    """What f(alpha, d) has besides 1/2 |c_d|^2."""
    a = r * y / costs
    if loss == "squared-hinge":
        return float(np.sum(costs * (a * a / 2 - a)))
    if loss == "logistic":
        safe = np.clip(a, 1e-300, 1), np.clip(1 - a, 1e-300, 1)
        return float(np.sum(costs * sum(p * np.log(p) for p in safe)))
    return float(np.sum(r * r / (2 * costs) - r * y))


def moreau(groups, u, tau):
    """Algorithm 3."""
    norms = np.array([np.linalg.norm(u[g]) for g in groups])
    ordered = np.sort(norms)[::-1]
    s = 1 / tau
    kept = [h for h in range(1, len(ordered) + 1) if ordered[h - 1] - s / (1 + h * s) * ordered[:h].sum() > 0]
    rho = max(kept, default=0)
    threshold = s / (1 + rho * s) * ordered[:rho].sum()
    w = np.zeros_like(u)
    for g, norm in zip(groups, norms, strict=True):
        if norm > threshold:
            w[g] = (norm - threshold) / norm * u[g]
    return w


def omega(groups, w):
    return 0.5 * sum(np.linalg.norm(w[g]) for g in groups) ** 2


@dataclass
class Reduced:
    """min over w, b of omega(w) + P(X w - b); `groups` are lists of columns of X."""

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    groups: list
    loss: str = "squared-hinge"
    shift: bool = False
    history: list = field(default_factory=list)

    def objective(self, w, b):
        return omega(self.groups, w) + loss_value(self.loss, self.y, self.costs, self.X @ w - b)

    def apg(self, w, b, tolerance, *, eta=0.8, iterations=100_000, tau=None, restart=False):
        """Algorithm 4, with the gradient of b taken at the new w and no cap on tau.

        With restart an iteration that raises F is taken back and the momentum starts anew, and tau
        shrinks only after a first trial that held.
        """
        tau = 0.01 * self.costs.sum() if tau is None else tau
        v, v_b, rho, held = w.copy(), b, 1.0, True
        f = self.objective(w, b)
        self.history = [f]
        for _ in range(iterations):
            u = self.X @ v - v_b
            p = loss_value(self.loss, self.y, self.costs, u)
            g = -self.X.T @ residuals(self.loss, self.y, self.costs, u)
            if held or not restart:
                tau *= eta
            held = True
            while True:
                new = moreau(self.groups, v - g / tau, tau)
                move = new - v
                value = loss_value(self.loss, self.y, self.costs, self.X @ new - v_b)
                if value <= p + g @ move + tau / 2 * move @ move + 1e-13 * abs(p):
                    break
                tau /= eta
                held = False
            new_b = self.shift_step(new, v_b, eta * tau, eta) if self.shift else 0.0
            f_new = self.objective(new, new_b)
            if restart and f_new > f:
                if rho == 1.0:
                    break
                v, v_b, rho = w.copy(), b, 1.0
                continue
            following = (1 + np.sqrt(1 + 4 * rho * rho)) / 2
            v = new + (rho - 1) / following * (new - w)
            v_b = new_b + (rho - 1) / following * (new_b - b)
            w, b, rho = new, new_b, following
            self.history.append(f_new)
            fall, f_old, f = f - f_new, f, f_new
            if fall <= tolerance * f_old:
                break
        return w, b

    def shift_step(self, w, v_b, tau, eta):
        u = self.X @ w
        slope = residuals(self.loss, self.y, self.costs, u - v_b).sum()
        before = loss_value(self.loss, self.y, self.costs, u - v_b)
        bound = self.costs.sum() * (0.25 if self.loss == "logistic" else 1.0)
        tau = min(tau, bound)
        while True:
            b = v_b - slope / tau
            after = loss_value(self.loss, self.y, self.costs, u - b)
            if after <= before - slope**2 / (2 * tau) + 1e-13 * before or tau >= bound:
                return b
            tau = min(tau / eta, bound)

    def gap(self, w, b):
        """F minus the dual objective at alpha(w, b): zero at the optimum, never negative.

        Weak duality makes this a certificate that does not trust any solver. With a shift alpha
        must satisfy sum alpha_i y_i = 0: only then does the bound hold.
        """
        r = residuals(self.loss, self.y, self.costs, self.X @ w - b)
        c = self.X.T @ r
        steepest = max(np.linalg.norm(c[g]) for g in self.groups)
        dual = -0.5 * steepest**2 - conjugate(self.loss, self.y, self.costs, r)
        return self.objective(w, b) - dual


def start_residuals(loss, y, costs, shift):
    """alpha^0 y: C for the squared hinge, C / 2 for logistic; with shift that of the best b alone."""
    if loss == "squared":
        return costs * (y - (np.average(y, weights=costs) if shift else 0.0))
    if not shift:
        return costs * y * (1.0 if loss == "squared-hinge" else 0.5)
    positive, negative = costs[y > 0].sum(), costs[y < 0].sum()
    alpha = np.where(y > 0, negative, positive) / (positive + negative)
    return costs * y * alpha * (2.0 if loss == "squared-hinge" else 1.0)


def worst_case(c, count, taken=()):
    """Algorithm 2: the largest |c_j|, ties to the smaller index."""
    order = sorted(
        (j for j in range(len(c)) if j not in set(taken) and c[j] != 0), key=lambda j: (-abs(c[j]), j)
    )
    return order[:count]


@dataclass
class Rounds:
    """Algorithm 1. `literal`: d may hold features of earlier rounds, as the paper's argmax does."""

    X: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    loss: str
    shift: bool
    B: int
    literal: bool = False
    tolerance: float = 1e-12
    chosen: list = field(default_factory=list)
    theta: list = field(default_factory=list)
    phi: list = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    bias: float = 0.0

    def run(self, rounds):
        r = start_residuals(self.loss, self.y, self.costs, self.shift)
        for _ in range(rounds):
            c = self.X.T @ r
            taken = () if self.literal else [j for d in self.chosen for j in d]
            d = worst_case(c, self.B, taken)
            if not d or (self.literal and d in self.chosen):
                break
            self.chosen.append(d)
            r = self.solve()
        return self

    def solve(self):
        members = [j for d in self.chosen for j in d]
        ends = np.cumsum([0, *map(len, self.chosen)])
        groups = [list(range(a, b)) for a, b in pairwise(ends)]
        problem = Reduced(self.X[:, members], self.y, self.costs, groups, self.loss, self.shift)
        w = np.concatenate([self.weights, np.zeros(len(members) - len(self.weights))])
        self.weights, self.bias = problem.apg(w, self.bias, self.tolerance, restart=not self.literal)
        r = residuals(self.loss, self.y, self.costs, problem.X @ self.weights - self.bias)
        self.theta.append(-problem.objective(self.weights, self.bias))
        c = self.X.T @ r
        top = np.sort(c**2)[::-1][: self.B].sum()
        bound = 0.5 * top + conjugate(self.loss, self.y, self.costs, r)
        self.phi.append(min([bound, *self.phi[-1:]]))
        return r
