"""The pool rule of `os` in plain numpy: dense columns, inverses instead of rank-one updates.

Keep a pool of at most K columns and a least-squares model on some of them. Every arrival is
scored by how much the residual sum of squares would fall if it joined the model; it takes the
place of the pool's lowest score. The model is what is significant: |z| > 3, at most s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GATE = 9.0  # z^2
COPY = 1e-8
CAUTION = 0.9
ROUNDS = 4


@dataclass
class PoolOracle:
    """State: ids and columns (centred, of length one), and which of them are in the model."""

    y: np.ndarray
    s: int
    columns: int
    intercept: bool = True
    l2: float = 0.0
    ids: list[int] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    pool: list[np.ndarray] = field(default_factory=list)
    model: set[int] = field(default_factory=set)  # positions in the pool

    def __post_init__(self):
        self.y = self.y - self.y.mean() if self.intercept else self.y.copy()
        free = len(self.y) - int(self.intercept)
        self.most = max(1, min(self.s, free // 2))

    def fit(self):
        """Scores of the members, noise, residual, inverse and the least-squares weights."""
        n, P = len(self.y), np.array(self.pool).T.reshape(len(self.y), -1)
        M = sorted(self.model)
        others = [k for k in range(len(self.pool)) if k not in self.model]
        G = P.T @ P + self.l2 * np.eye(P.shape[1])
        H = np.linalg.inv(G[np.ix_(M, M)])
        w = H @ (P[:, M].T @ self.y)
        residual = self.y - P[:, M] @ w
        rss = self.y @ self.y - (P[:, M].T @ self.y) @ w
        scores = np.zeros(len(self.pool))
        scores[M] = w**2 / np.diag(H)
        for k in others:
            c = P[:, k] @ residual
            a = G[M, k]
            d = G[k, k] - a @ H @ a
            scores[k] = c**2 / d if d >= COPY else 0.0
        noise = max(rss, 0.0) / (n - len(M) - int(self.intercept))
        return scores, noise, residual, M, H, P

    def tightest(self, M, H, P):
        """The smallest share of a member's length that the model's other members leave unexplained."""
        shares = [1.0 / h for h in np.diag(H)]
        for k in range(len(self.pool)):
            if k not in self.model:
                a = P[:, M].T @ P[:, k]
                shares.append(1.0 + self.l2 - a @ H @ a)
        return min([s for s in shares if s >= COPY], default=1.0)

    def arrive(self, name: int, x: np.ndarray) -> bool:
        """True when the feature entered the pool."""
        if name in self.ids:
            return False
        squares = x @ x
        x = x - x.mean() if self.intercept else x
        norm = np.sqrt(x @ x)
        if norm**2 <= 1e-10 * squares or norm == 0:
            return False
        x = x / norm
        scores, _, residual, M, H, P = self.fit()
        full = len(self.pool) == self.columns
        c = x @ residual
        if full and c**2 < CAUTION * self.tightest(M, H, P) * scores.min():
            return False
        a = P.T @ x
        if len(a) and np.abs(a).max() > 1.0 - COPY:
            return False
        d = 1.0 + self.l2 - a[M] @ H @ a[M]
        if d < COPY or (full and c**2 / d <= scores.min()):
            return False
        place = int(scores.argmin()) if full else len(self.pool)
        self.put(place, name, norm, x)
        self.choose_model()
        return True

    def put(self, place, name, norm, x):
        if place == len(self.pool):
            self.ids.append(name), self.norms.append(norm), self.pool.append(x)
            return
        self.ids[place], self.norms[place], self.pool[place] = name, norm, x
        self.model.discard(place)

    def choose_model(self):
        for _ in range(ROUNDS):
            scores, noise, *_ = self.fit()
            best = np.argsort(-scores, kind="stable")[: self.most]
            chosen = {int(k) for k in best if scores[k] > GATE * noise}
            if chosen == self.model:
                return
            self.model = chosen

    def selection(self) -> dict[int, float]:
        """The s best scores, refitted by least squares: id -> weight of the unscaled column."""
        scores, *_ = self.fit()
        best = np.argsort(-scores, kind="stable")[: self.s]
        P = np.array(self.pool).T[:, best]
        w = np.linalg.solve(P.T @ P + self.l2 * np.eye(len(best)), P.T @ self.y)
        return {self.ids[k]: w[i] / self.norms[k] for i, k in enumerate(best)}
