"""Random features and the solver over them against numpy, and the promises of the paper."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.random_features.scans import ALL_ROWS
from fsstream.algorithms.sparse_rf import SparseRf, SparseRfParameters
from fsstream.basis import KERNELS, Basis, Inputs

from .online_data import batch_of
from .random_features_oracle import minimise, objective, slopes

LOSSES = ("squared", "squared-hinge", "logistic")


def basis_of(kernel: str, keys: np.ndarray, width: float = 1.0, reach: float = 1.0, seed: int = 0) -> Basis:
    d = len(keys)
    return Basis(kernel, seed, width, reach, Inputs([b""] * d, keys, np.zeros(d), np.ones(d)))


def problem_data(seed: int, n: int, d: int, loss: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    y = np.sin(2 * X[:, 0]) + (X[:, 1] if d > 1 else 0) + 0.1 * rng.normal(size=n)
    return X, (y if loss == "squared" else np.where(y > 0, 1.0, -1.0)).astype(np.float32)


def solver(
    X: np.ndarray, y: np.ndarray, loss: str, count: int, *, importance: Any = None, intercept: bool = True
) -> Any:
    """A problem over drawn features, and its columns as a matrix."""
    rows = _native.InputRows(1 << 24)
    rows.load(batch_of(X, y))
    weights = np.ones(len(y), np.float32) if importance is None else importance
    problem = _native.SparseProblem(loss, y, weights, intercept)
    basis = basis_of("gaussian", rows.keys)
    problem.fill_kept(basis.map_of(np.arange(count, dtype=np.uint64)), rows, ALL_ROWS)
    Phi = np.column_stack([problem.column(j) for j in range(count)]).astype(np.float64)
    return problem, Phi


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(20, 90),
    count=st.integers(1, 30),
    loss=st.sampled_from(LOSSES),
    share=st.floats(0.02, 0.9),
    l2=st.sampled_from([0.0, 0.01]),
    intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_the_solver_finds_the_optimum(seed, n, count, loss, share, l2, intercept, weighted):
    X, y = problem_data(seed, n, 3, loss)
    rng = np.random.default_rng(seed)
    importance = (rng.uniform(0.5, 2, n) if weighted else np.ones(n)).astype(np.float32)
    problem, Phi = solver(X, y, loss, count, importance=importance, intercept=intercept)
    l1 = share * float(np.abs(problem.gradients()).max())
    report = problem.solve(l1, l2, 1e-9, 100_000)
    wide, costs = y.astype(np.float64), importance.astype(np.float64)
    w, b = minimise(loss, Phi, wide, costs, l1, l2, intercept=intercept, steps=1500)
    best = objective(loss, Phi, wide, costs, w, b, l1, l2)
    mine = objective(loss, Phi, wide, costs, problem.weights, problem.intercept, l1, l2)
    assert report.objective == pytest.approx(mine, abs=1e-9)
    assert mine <= best + 1e-7
    assert mine - best <= report.gap + 1e-9
    assert report.gap <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_bounds_what_is_left_at_any_stop(loss):
    X, y = problem_data(5, 150, 3, loss)
    problem, _ = solver(X, y, loss, 80)
    l1 = 0.02 * float(np.abs(problem.gradients()).max())
    stops = [problem.solve(l1, 0.0, 0.0, steps) for steps in (0, 1, 2, 5, 20)]
    best = problem.solve(l1, 0.0, 1e-9, 100_000).objective
    gains = [stop.objective - best for stop in stops]
    assert gains == sorted(gains, reverse=True)
    assert all(gain <= stop.gap + 1e-12 for gain, stop in zip(gains, stops, strict=True))
    assert gains[0] > 10 * max(gains[-1], 1e-9)


@pytest.mark.parametrize("count", [3, 40, 300])
@pytest.mark.parametrize("intercept", [True, False])
def test_one_step_is_the_minimum_of_the_second_order_model(count, intercept):
    """The squared loss is its own model: with the weights that may move known, one step is all."""
    X, y = problem_data(12, 900, 3, "squared")
    problem, Phi = solver(X, y, "squared", count, intercept=intercept)
    l1 = 0.02 * float(np.abs(problem.gradients()).max())
    problem.solve(l1, 0.0, 1e-6, 100)
    start = problem.weights + np.where(problem.weights != 0, 0.05, 0.0)
    problem.start_from(start, 0.3 if intercept else 0.0)
    problem.solve(l1, 0.0, 0.0, 1)
    wide, ones = y.astype(np.float64), np.ones(len(y))
    w, b = minimise("squared", Phi, wide, ones, l1, 0.0, intercept=intercept, steps=3000)
    best = objective("squared", Phi, wide, ones, w, b, l1, 0.0)
    before = objective("squared", Phi, wide, ones, start, 0.3 if intercept else 0.0, l1, 0.0)
    after = objective("squared", Phi, wide, ones, problem.weights, problem.intercept, l1, 0.0)
    assert after - best <= 0.01 * (before - best)


def test_k_features_come_out_where_fewer_leave_no_loss():
    X = np.linspace(-1, 1, 600)[:, None].astype(np.float32).astype(np.float64)
    y = np.where(X[:, 0] > 0, 1.0, -1.0).astype(np.float32)
    learner = learned(X, y, "squared-hinge", k=30, draw=50, rounds=2)
    assert len(learner.selection()) == 30
    assert learner.facts()["loss"] < 0.01  # of 1 without features


@pytest.mark.parametrize("loss", LOSSES)
def test_a_ridge_alone_is_solved_too(loss):
    X, y = problem_data(2, 80, 3, loss)
    problem, Phi = solver(X, y, loss, 25)
    report = problem.solve(0.0, 0.05, 1e-8, 10_000)
    wide = y.astype(np.float64)
    w, b = problem.weights, problem.intercept
    gradient = Phi.T @ slopes(loss, Phi @ w + b, wide, np.ones(80)) + 0.05 * w
    assert np.abs(gradient).max() < 1e-4
    assert report.gap < 1e-6
    assert np.count_nonzero(w) == 25


def learned(
    X: np.ndarray,
    y: np.ndarray,
    loss: str,
    *,
    k: int | None = None,
    l1: float | None = None,
    memory: int = 1 << 28,
    threads: int = 1,
    pieces: int = 1,
    **parameters: Any,
) -> SparseRf:
    common = Common(k=k, l1=l1, memory=memory, threads=threads)
    learner = SparseRf(common, SparseRfParameters(**parameters), Task(loss))
    again = True
    while again:
        for rows in np.array_split(np.arange(len(y)), pieces):
            learner.update(batch_of(X[rows], y[rows]))
        again = learner.end_pass()
    return learner


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_objective_never_rises_from_round_to_round(loss, kernel):
    X, y = problem_data(3, 200, 4, loss)
    objectives = learned(X, y, loss, l1=0.01, draw=20, rounds=15, kernel=kernel).facts()["objectives"]
    assert len(objectives) == 15
    assert all(after <= before + 1e-12 for before, after in pairwise(objectives))
    assert objectives[-1] < 0.9 * objectives[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_drawing_at_once_descends_at_least_as_far(loss):
    """Corollary 2: R features in one round against R rounds of one, with the same features."""
    X, y = problem_data(4, 150, 3, loss)
    exact = {"steps": 10_000, "tolerance": 1e-6}
    for share in (1, 5, 40):
        at_once = learned(X, y, loss, l1=0.02, draw=40, rounds=1, **exact).facts()["objectives"][-1]
        parts = learned(X, y, loss, l1=0.02, draw=40 // share, rounds=share, **exact).facts()["objectives"][
            -1
        ]
        assert at_once <= parts + 1e-5


def test_the_gap_to_the_limit_falls_like_one_over_the_features_drawn():
    """Theorem 2, on the mean of several draws; the limit is estimated with many more features."""
    X, y = problem_data(6, 120, 2, "squared")
    sizes = [20, 40, 80, 160]
    paths = []
    for seed in range(6):
        learner = SparseRf(
            Common(l1=0.01, seed=seed),
            SparseRfParameters(draw=20, rounds=100, steps=10, width=0.7),
            Task("squared"),
        )
        learner.update(batch_of(X, y))
        learner.end_pass()
        objectives = learner.facts()["objectives"]
        paths.append([objectives[size // 20 - 1] for size in sizes] + [objectives[-1]])
    best = min(path[-1] for path in paths)
    gaps = np.mean([path[:-1] for path in paths], axis=0) - best
    assert all(gap * size <= 1.5 * gaps[0] * sizes[0] for gap, size in zip(gaps, sizes, strict=True))


def kernel_bound(X: np.ndarray, y: np.ndarray, l1: float, width: float) -> tuple[float, float]:
    """The right side of (22) without its last term, and |w*|^2, of the best ridge; squared loss."""
    n = len(y)
    K = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(-1) / (2 * width**2))
    found = []
    for ridge in l1 * 10.0 ** np.arange(-3, 3.1, 0.5):
        weights = np.linalg.solve(K + n * ridge * np.eye(n), y)
        square = float(weights @ K @ weights)
        found.append((l1 * math.sqrt(square) + 0.5 * float(np.mean((K @ weights - y) ** 2)), square))
    return min(found)


def test_the_gap_to_the_kernel_methods_bound_shrinks_like_one_over_the_features_drawn():
    """Corollary 1: F(D) <= bound + 2 gamma |w*|^2 / (D - c), in the mean of several draws."""
    X, y = problem_data(6, 120, 2, "squared")
    l1, width, gamma = 0.003, 0.7, 2.0  # gamma: curvature of the loss, times the square of a feature
    bound, square = kernel_bound(X, y.astype(np.float64), l1, width)
    excess = 2 * gamma * square
    c = 2 * (0.5 * float(np.mean(y**2)) - bound) / (gamma * square)
    sizes = [10, 20, 40, 80, 160, 320, 640]
    objectives = []
    for seed in range(5):
        learner = SparseRf(
            Common(l1=l1, seed=seed, intercept=False),
            SparseRfParameters(draw=10, rounds=64, steps=20, tolerance=1e-4, width=width, scale="none"),
            Task("squared"),
        )
        learner.update(batch_of(X, y))
        learner.end_pass()
        course = learner.facts()["objectives"]
        objectives.append([course[size // 10 - 1] for size in sizes])
    gaps = np.mean(objectives, axis=0) - bound
    assert gaps[0] > 0
    assert all(gap <= excess / (size - c) for gap, size in zip(gaps, sizes, strict=True))
    assert all(gap * size <= 1.5 * gaps[0] * sizes[0] for gap, size in zip(gaps, sizes, strict=True))
    assert gaps[-1] < 0.05 * gaps[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_no_bit(loss):
    X, y = problem_data(13, 5000, 3, loss)
    found = [learned(X, y, loss, k=40, draw=150, rounds=3, threads=threads) for threads in (1, 2, 5)]
    for other in found[1:]:
        assert np.array_equal(found[0].machine.problem.weights, other.machine.problem.weights)
        assert found[0].selection().raw_names == other.selection().raw_names


@pytest.mark.parametrize(("loss", "most"), [("squared", 60), ("squared-hinge", 250), ("logistic", 100)])
def test_a_small_ridge_takes_few_passes(loss, most):
    """Conjugate gradients without the factored model take 1,025, 3,052 and 735 steps here."""
    X, y = problem_data(14, 3000, 4, loss)
    problem, _ = solver(X, y, loss, 300)
    report = problem.solve(0.0, 1e-4, 1e-4, 10_000)
    assert report.gap < 1e-4
    assert report.steps <= most


def test_the_literal_rule_solves_every_round():
    X, y = problem_data(11, 200, 3, "logistic")
    options: dict[str, Any] = {"l1": 0.003, "draw": 60, "rounds": 3, "tolerance": 1e-3, "steps": 1}
    quick, paper = (learned(X, y, "logistic", rule=rule, **options) for rule in ("quick", "paper"))
    level = 1e-3 * math.log(2)
    assert [report.gap <= level for report in paper.machine.reports] == [True] * 3
    assert [report.gap <= level for report in quick.machine.reports[:2]] == [False, False]


@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize("refit", ["yes", "no"])
def test_exactly_k_and_the_model_agrees_with_the_problem(k, refit):
    X, y = problem_data(7, 300, 4, "squared-hinge")
    learner = learned(X, y, "squared-hinge", k=k, draw=60, rounds=5, refit=refit)
    selection, basis = learner.selection(), learner.basis()
    assert len(selection) == k
    assert len(set(selection.raw_names)) == k
    assert basis is not None
    none = np.zeros(k, np.uint32)
    features = basis.selected_map(selection.raw_names, none)
    intercept = learner.intercepts().astype(np.float64)
    model = _native.RandomFeatureModel(features, False, basis.inputs.keys, selection.weights, none, intercept)
    scores = model.predict(batch_of(X, y))[:, 0]
    assert scores == pytest.approx(learner.machine.problem.decision, abs=1e-4)
    if k == 40:
        assert np.mean((scores > 0) == (y > 0)) > 0.9


@pytest.mark.parametrize("scale", ["standard", "log", "range", "none"])
def test_rows_beyond_the_memory_are_read_again_to_the_same_end(scale):
    X, y = problem_data(8, 2000, 12, "squared-hinge")
    options: dict[str, Any] = {"l1": 0.05, "draw": 10, "rounds": 3, "scale": scale, "width": 3.0}
    kept = learned(X, y, "squared-hinge", **options)
    small = learned(X, y, "squared-hinge", memory=600_000, pieces=7, **options)
    assert kept.machine.rows.all_kept
    assert not small.machine.rows.all_kept
    assert small.machine.rows.bytes <= 600_000 // 3
    assert np.array_equal(kept.machine.problem.weights, small.machine.problem.weights)
    assert kept.selection().raw_names == small.selection().raw_names


def test_the_inputs_that_matter_are_told():
    X, y = problem_data(9, 600, 8, "squared")
    effects = dict(learned(X, y, "squared", k=60, draw=200, rounds=5).machine.basis.ranked_inputs())
    assert sorted(effects, key=lambda name: -effects[name])[:2] == [b"1", b"0"] or sorted(
        effects, key=lambda name: -effects[name]
    )[:2] == [b"0", b"1"]


@pytest.mark.parametrize("aim", [{"l1": 0.02}, {"k": 8}])
def test_a_run_goes_on_from_its_state(aim):
    X, y = problem_data(10, 1500, 12, "logistic")

    def fresh() -> SparseRf:
        return SparseRf(
            Common(memory=500_000, **aim), SparseRfParameters(draw=10, rounds=4), Task("logistic")
        )

    whole = learned(X, y, "logistic", memory=500_000, draw=10, rounds=4, **aim)
    first, second = fresh(), fresh()
    for _ in range(3):
        first.update(batch_of(X, y))
        assert first.end_pass()
    first.update(batch_of(X[:700], y[:700]))
    second.restore(first.state())
    second.update(batch_of(X[700:], y[700:]))
    while second.end_pass():
        second.update(batch_of(X, y))
    assert second.selection().raw_names == whole.selection().raw_names
    assert np.array_equal(second.machine.problem.weights, whole.machine.problem.weights)
    assert second.facts()["objectives"] == whole.facts()["objectives"]


def test_a_run_goes_on_where_no_l1_weight_leaves_k():
    """Of six rows the path goes down to its floor, which counts from where it began."""
    X, y = problem_data(3, 6, 3, "squared")
    states = []

    def learned_from(state: dict | None) -> SparseRf:
        learner = SparseRf(Common(k=20), SparseRfParameters(draw=10, rounds=14), Task("squared"))
        if state is None:
            learner.between_scans = lambda: states.append(learner.state())
        else:
            learner.restore(state)
        learner.update(batch_of(X, y))
        while learner.end_pass():
            learner.update(batch_of(X, y))
        return learner

    whole = learned_from(None)
    assert len(states) > 10
    for state in states:
        assert np.array_equal(learned_from(state).machine.problem.weights, whole.machine.problem.weights)
