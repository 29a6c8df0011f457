"""The ridge that k features are fitted again with: the formula, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream.algorithms.random_features.ridge import ridge_for

from .random_features_oracle import loss, slopes
from .test_random_features import LOSSES, learned, problem_data


def bends(name: str, u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Second derivatives."""
    if name == "squared":
        return np.ones(len(y))
    if name == "squared-hinge":
        return np.where(y * u < 1, 2.0, 0.0)
    return np.exp(-np.abs(u)) / (1 + np.exp(-np.abs(u))) ** 2


@pytest.mark.parametrize("name", LOSSES)
def test_the_formula_is_k_times_the_noise_over_the_weights(name: str) -> None:
    """With every row of the same weight the rows' worth of curvature is a count: (sum h)^2 / sum h^2."""
    rng = np.random.default_rng(1)
    n, k = 400, 12
    y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    u, w = y * rng.normal(0.8, 0.5, n), rng.normal(size=k)
    g, h = slopes(name, u, y, np.ones(n)) * n, bends(name, u, y)
    worth = h.sum() ** 2 / (h**2).sum()
    if name == "squared-hinge":
        assert worth == np.count_nonzero(y * u < 1)
    expected = k * (g**2).mean() / h.mean() / (1 - k / worth) ** 2 / (w**2).sum()
    most = 0.5 * k * (h**2).sum() / h.sum()
    assert expected < most
    ones = np.full(n, 1 / n)
    found = ridge_for(w, g / n, h / n, ones)
    assert found == pytest.approx(expected, rel=0.01)
    assert ridge_for(0.1 * w, g / n, h / n, ones) == pytest.approx(most, rel=0.01)
    repeated = ridge_for(
        w, np.append(g / n, np.ones(5)), np.append(h / n, np.zeros(5)), np.append(ones, np.zeros(5))
    )
    assert repeated == found  # rows of no importance do not count


def test_it_has_an_end_where_rows_are_too_few() -> None:
    flat = np.full(10, 0.1)
    for bend in (1.0, 0.25):
        assert ridge_for(np.full(4, 1e-6), flat, bend * flat, flat) == 2 * bend
        assert ridge_for(np.zeros(4), flat, bend * flat, flat) == 2 * bend
        assert ridge_for(np.ones(12), flat, bend * flat, flat) == 6 * bend
    assert ridge_for(np.ones(3), 0 * flat, 0 * flat, flat) == 3


def test_the_solver_tells_the_curvatures() -> None:
    for name in LOSSES:
        X, y = problem_data(3, 200, 3, name)
        problem = learned(X, y, name, k=5, draw=40, rounds=2).machine.problem
        expected = bends(name, problem.decision, y.astype(float)) / 200
        assert problem.curvatures() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_many_features_for_few_rows_do_not_run_after_the_noise(seed: int) -> None:
    """60 features for 300 rows of noisy classes: with a ridge of 1/N the loss of other rows is far larger."""
    rng = np.random.default_rng(seed)
    X, y = problem_data(seed, 2300, 4, "squared-hinge")
    y = np.where(rng.uniform(size=len(y)) < 0.15, -y, y).astype(np.float32)
    learner = learned(X[:300], y[:300], "squared-hinge", k=60, draw=100, rounds=3, width=2.0)
    machine = learner.machine
    others = machine.basis.map_of(machine.numbers).of(X[300:].astype(np.float32)).astype(float)

    def loss_elsewhere() -> float:
        u = others @ machine.problem.weights + machine.problem.intercept
        return loss("squared-hinge", u, y[300:].astype(float), np.ones(len(u)))

    chosen = loss_elsewhere()
    machine.problem.solve(0.0, 1.0 / 300, 1e-4, 2000)
    assert chosen < 0.8 * loss_elsewhere()
