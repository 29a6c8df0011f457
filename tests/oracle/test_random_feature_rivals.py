"""`rf` against the ridge in closed form, `boosting` against what the paper says of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fsstream.algorithms.boosting import Boosting, BoostingParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.rf import Rf, RfParameters
from fsstream.basis import KERNELS

from .online_data import batch_of
from .random_features_oracle import objective
from .test_random_features import LOSSES, problem_data


def fed(learner: Any, X: np.ndarray, y: np.ndarray) -> Any:
    again = True
    while again:
        learner.update(batch_of(X, y))
        again = learner.end_pass()
    return learner


@pytest.mark.parametrize("kernel", KERNELS)
def test_rf_is_the_ridge_in_closed_form(kernel):
    X, y = problem_data(1, 120, 4, "squared")
    learner = fed(
        Rf(Common(k=30, l2=0.02), RfParameters(kernel=kernel, tolerance=1e-9), Task("squared")), X, y
    )
    machine = learner.machine
    Phi = np.column_stack([machine.problem.column(j) for j in range(30)]).astype(np.float64) / np.sqrt(30)
    centred, wide = Phi - Phi.mean(axis=0), y.astype(np.float64)
    w = np.linalg.solve(centred.T @ centred / 120 + 0.02 * np.eye(30), centred.T @ (wide - wide.mean()) / 120)
    assert machine.problem.weights * np.sqrt(30) == pytest.approx(w, abs=1e-3)
    assert len(learner.selection()) == 30
    assert learner.selection().raw_names[29] == f"{kernel}#29".encode()


def boosted(X: np.ndarray, y: np.ndarray, loss: str, memory: int = 1 << 28, **common: Any) -> Boosting:
    return fed(Boosting(Common(memory=memory, **common), BoostingParameters(rounds=12), Task(loss)), X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_perceptron_lowers_the_objective(loss):
    X, y = problem_data(2, 200, 3, loss)
    learner = boosted(X, y, loss, l1=0.01)
    objectives = learner.facts()["objectives"]
    assert all(after <= before + 1e-12 for before, after in pairwise(objectives))
    problem = learner.machine.problem
    Phi = np.column_stack([problem.column(j) for j in range(problem.columns)]).astype(np.float64)
    assert set(np.unique(Phi)) == {-1.0, 1.0}
    args = (loss, Phi, y.astype(np.float64), np.ones(200))
    found = objective(*args, problem.weights, problem.intercept, 0.01, 0)
    start = objective(*args, 0 * problem.weights, float(y.mean()), 0.01, 0)
    assert found <= objectives[-1] + 1e-9
    assert found < 0.75 * start


def test_the_first_perceptron_finds_the_line_that_parts_the_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5)).astype(np.float32).astype(np.float64)
    y = np.where(X @ [2.0, -1, 0, 0, 0.5] + 0.3 > 0, 1, -1).astype(np.float32)
    learner = boosted(X, y, "squared-hinge", k=1)
    scores = learner.machine.problem.decision
    assert np.mean((scores > 0) == (y > 0)) > 0.98


@pytest.mark.parametrize("k", [2, 4, 20])
def test_k_perceptrons_come_out_where_one_brings_the_loss_to_nothing(k):
    """The last fit ended before it had begun: of 4 asked for 1 had a weight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)).astype(np.float32).astype(np.float64)
    y = np.where(X[:, 3] > X[:, 7], 1, -1).astype(np.float32)
    assert len(boosted(X, y, "squared-hinge", k=k).selection()) == k


def test_boosting_goes_on_from_its_state():
    X, y = problem_data(4, 1500, 12, "squared-hinge")
    options: dict[str, Any] = {"l1": 0.01, "memory": 500_000}
    whole = boosted(X, y, "squared-hinge", **options)
    assert not whole.machine.rows.all_kept
    make = lambda: Boosting(Common(**options), BoostingParameters(rounds=12), Task("squared-hinge"))  # noqa: E731
    first, second = make(), make()
    for _ in range(5):
        first.update(batch_of(X, y))
        assert first.end_pass()
    second.restore(first.state())
    second.update(batch_of(X, y))
    while second.end_pass():
        second.update(batch_of(X, y))
    assert np.array_equal(second.machine.problem.weights, whole.machine.problem.weights)
    assert np.array_equal(second.basis().learned.directions, whole.basis().learned.directions)
