"""The last choice on a short stream, with dense matrices: what native/learn/final_refit.hpp must equal."""

from __future__ import annotations

import numpy as np

from tests.oracle.sketch_oracle import mix64

RIDGE, STAYS = 2.0, 0.7
RIDGES = (128.0, 32.0, 8.0, 2.0, 0.5)


def values(loss: str, u: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, -y * u) if loss == "logistic" else (y - u) ** 2


def slopes(loss: str, u: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each row, and its curvature."""
    if loss == "squared":
        return 2 * (u - y), np.full(len(y), 2.0)
    p = np.exp(-np.logaddexp(0, y * u))
    return -y * p, p * (1 - p)


def fitted(
    x: np.ndarray, y: np.ndarray, costs: np.ndarray, ridge: float, loss: str
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum by Newton steps, as many as it takes, and the diagonal of the second order there."""
    z = np.zeros(x.shape[1])

    def objective(z: np.ndarray) -> float:
        return float(costs @ values(loss, x @ z, y) + ridge / 2 * z @ z)

    for _ in range(200):
        slope, curvature = slopes(loss, x @ z, y)
        curved = x.T @ ((costs * curvature)[:, None] * x) + ridge * np.eye(len(z))
        step = np.linalg.solve(curved, -x.T @ (costs * slope) - ridge * z)
        length = 1.0
        while objective(z + length * step) > objective(z) and length > 1e-9:
            length /= 2
        z = z + length * step
        if np.abs(step).max() < 1e-10:
            break
    return z, np.diag(curved)


def best_ridge(x: np.ndarray, y: np.ndarray, costs: np.ndarray, loss: str) -> tuple[float, float]:
    """The one that says most of rows held out; and how near the next best comes, as a share."""
    held = np.zeros(len(y), np.bool_)
    for first in range(0, len(y), 5):  # of each five in a row one, drawn
        held[first + mix64(first) % min(5, len(y) - first)] = True
    losses = []
    for ridge in RIDGES:
        z, _ = fitted(x, y, np.where(held, 0, costs), ridge, loss)
        losses.append(float((costs * held) @ values(loss, x @ z, y)))
    best = int(np.argmin(losses))
    return RIDGES[best], min(np.delete(losses, best)) / losses[best] - 1


def refit(
    x: np.ndarray, y: np.ndarray, costs: np.ndarray, k: int, means: np.ndarray, *, intercept: bool, loss: str
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Which columns of `x`, less `means`, stay, their weights, the intercept, and how near a choice was.

    That is between the last claim that stayed and the first that went, as a share.
    """
    present = costs @ ((x != 0) | (means != 0))
    x = x - means
    squares = costs @ x**2
    units = np.sqrt(np.where(squares > 0, squares / np.maximum(present, 1e-30), 1.0))
    scaled = x / units
    bias = np.full((len(y), 1), float(intercept))
    base = float(costs @ y / costs.sum()) if intercept and loss == "squared" else 0.0
    y = y - base
    columns = np.arange(x.shape[1])
    ridge, narrowest = best_ridge(np.hstack([scaled, bias]), y, costs, loss)
    while True:
        stays = np.hstack([scaled[:, columns], bias])
        if len(columns) <= k:
            z, _ = fitted(stays, y, costs, ridge, loss)
            return columns, z[:-1] / units[columns], base + float(z[-1]), narrowest
        z, curvature = fitted(stays, y, costs, RIDGE, loss)
        claims = np.abs(z[:-1]) * curvature[:-1] ** 0.25
        order = np.argsort(-claims, kind="stable")
        count = max(k, int(STAYS * len(columns)))
        narrowest = min(narrowest, 1 - claims[order[count]] / claims[order[count - 1]])
        columns = np.sort(columns[order[:count]])
