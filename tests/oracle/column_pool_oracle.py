"""The pool rule of `os` in plain numpy: dense columns, inverses instead of rank-one updates.

Keep a pool of at most K columns and a least-squares model on some of them. Every arrival is
scored by how much the residual sum of squares would fall if it joined the model; it takes the
place of the pool's lowest score; the first s enter whatever they repeat. The model is what is
significant: |z| > 3, at most s; then pairs are exchanged across its border while that is worth
|z| > 2. Kept columns are rounded to 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GATE = 9.0  # z^2
WORTH = 4.0  # z^2
EXCHANGES = 20
COPY = 1e-5
CAUTION = 0.9
ROUNDS = 4


def in_16_bits(x: np.ndarray) -> np.ndarray:
    """Multiples of the largest |value| / 32767."""
    step = np.abs(x).max() / 32767
    return np.rint(x / step) * step


@dataclass
class PoolOracle:
    """State: ids and columns (centred, of length one), and which of them are in the model."""

    y: np.ndarray
    s: int
    columns: int
    intercept: bool = True
    l2: float = 0.0
    sparse: bool = False  # columns come without their zeros
    ids: list[int] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    pool: list[np.ndarray] = field(default_factory=list)
    model: set[int] = field(default_factory=set)  # positions in the pool

    def __post_init__(self):
        self.y = self.y - self.y.mean() if self.intercept else self.y.copy()
        free = len(self.y) - int(self.intercept)
        self.most = max(1, min(self.s, free // 2))
        self.gram = np.zeros((self.columns, self.columns))  # products taken as the columns arrived, unrounded
        self.with_y = np.zeros(self.columns)

    def fit(self):
        """Scores of the members, noise, residual, inverse and the least-squares weights."""
        n, P = len(self.y), np.array(self.pool).T.reshape(len(self.y), -1)
        M = sorted(self.model)
        others = [k for k in range(len(self.pool)) if k not in self.model]
        G, b = self.gram, self.with_y
        H = np.linalg.inv(G[np.ix_(M, M)])
        w = H @ b[M]
        residual = self.y - P[:, M] @ w
        rss = self.y @ self.y - b[M] @ w
        scores = np.zeros(len(self.pool))
        scores[M] = w**2 / np.diag(H)
        for k in others:
            a = G[M, k]
            c = b[k] - a @ w
            d = G[k, k] - a @ H @ a
            scores[k] = c**2 / d if d >= COPY else 0.0
        noise = max(rss, 0.0) / (n - len(M) - int(self.intercept))
        return scores, noise, residual, M, H, P

    def tightest(self, M, H, P):
        """The smallest share of a member's length that the model's other members leave unexplained."""
        shares = [1.0 / h for h in np.diag(H)]
        for k in range(len(self.pool)):
            if k not in self.model:
                a = self.gram[M, k]
                shares.append(1.0 + self.l2 - a @ H @ a)
        return min([s for s in shares if s >= COPY], default=1.0)

    def arrive(self, name: int, x: np.ndarray) -> bool:
        """True when the feature entered the pool."""
        if name in self.ids:
            return False
        squares = x @ x
        rounded = not self.sparse or 4 * np.count_nonzero(x) >= len(x)
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
        copies_too = len(self.pool) < self.s
        if not copies_too and np.abs(a).max() > 1.0 - COPY:
            return False
        d = 1.0 + self.l2 - a[M] @ H @ a[M]
        if (d < COPY and not copies_too) or (full and c**2 / d <= scores.min()):
            return False
        place = int(scores.argmin()) if full else len(self.pool)
        self.gram[place, : len(a)] = self.gram[: len(a), place] = a
        self.gram[place, place] = 1.0 + self.l2
        self.with_y[place] = x @ self.y
        self.put(place, name, norm, in_16_bits(x) if rounded else x)
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
                break
            self.model = chosen
        for _ in range(EXCHANGES):
            gains = self.exchange_gains()
            _, noise, *_ = self.fit()
            pair = max(gains, key=gains.__getitem__, default=None)
            if pair is None or gains[pair] <= WORTH * noise:
                return
            self.model = self.model - {pair[1]} | {pair[0]}

    def exchange_gains(self) -> dict[tuple[int, int], float]:
        """What the residual loses when one from outside joins the model and one inside leaves it."""
        scores, *_ = self.fit()
        gains, model = {}, self.model
        for i in set(range(len(self.pool))) - model:
            if scores[i] == 0:
                continue
            self.model = model | {i}
            without, *_ = self.fit()
            self.model = model
            gains |= {(i, j): scores[i] - without[j] for j in model}
        return gains

    def selection(self) -> dict[int, float]:
        """The s best scores, refitted by least squares: id -> weight of the unscaled column."""
        scores, *_ = self.fit()
        best = np.argsort(-scores, kind="stable")[: self.s]
        P = np.array(self.pool).T[:, best]
        w = np.linalg.solve(P.T @ P + self.l2 * np.eye(len(best)), P.T @ self.y)
        return {self.ids[k]: w[i] / self.norms[k] for i, k in enumerate(best)}
