"""Algorithms 1, 2 and 3 and the naive baselines against numpy; what Theorem 1 promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .substitution_oracle import AsynchronousOracle, ProjectionOracle, SubstitutionOracle
from .test_column_pool import columns_batch, planted

LOSSES = ["squared", "squared-hinge", "logistic"]


def problem(seed, n, p, loss, density=1.0):
    X, y, _ = planted(seed, n, p, min(4, p), density, offset=0.3)
    if loss != "squared":
        y = np.where(y > np.median(y), 1, -1).astype(np.float32)
    return X, y


def scans(kernel, X, count, sparse=False):
    for _ in range(count):
        assert kernel.update(columns_batch(X, sparse=sparse)) is None
        kernel.end_scan()


def weights_of(kernel, X):
    """Weights in columns of mean square 1."""
    names, weights, intercept = kernel.select(refit=False)
    ids = [int(name) for name in names]
    return {j: w * X[:, j].std() for j, w in zip(ids, weights, strict=True)}, intercept


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(10, 60),
    p=st.integers(1, 30),
    s=st.integers(1, 6),
    count=st.integers(1, 3),
    loss=st.sampled_from(LOSSES),
    m=st.sampled_from([1.0, 3.0]),
    c=st.sampled_from([0.0, 0.5, 1.0]),
    eta=st.sampled_from([0.05, 0.3]),
    density=st.sampled_from([0.3, 1.0]),
)
def test_kernel_is_algorithm_1(seed, n, p, s, count, loss, m, c, eta, density):
    """The oracle is told the estimate of L_F before each arrival."""
    X, y = problem(seed, n, p, loss, density)
    kernel = _native.Substitution(y, loss, "paper", s, step=eta, retained_divisor=m, descent=c)
    oracle = SubstitutionOracle(y.astype(np.float64), s, eta, 0.0, loss, m, c)
    for _ in range(count):
        for j in range(p):
            oracle.lipschitz = kernel.progress["curvature"]
            kernel.update(columns_batch(X[:, [j]], [b"%d" % j], sparse=density < 1))
            oracle.receive(j, X[:, j])
        kernel.end_scan()
    found, _ = weights_of(kernel, X)
    assert found.keys() == {j for j, (_, w) in oracle.S.items()}
    for j, (_, weight) in oracle.S.items():
        assert found[j] == pytest.approx(weight, rel=1e-4, abs=1e-6)
    assert kernel.counts[1:3] == (oracle.entered, oracle.refused)
    assert kernel.progress["objective"] == pytest.approx(oracle.f(oracle.S, oracle.b), rel=1e-6, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(5, 60),
    p=st.integers(1, 40),
    s=st.integers(1, 8),
    loss=st.sampled_from(LOSSES),
    c=st.sampled_from([0.1, 0.5, 1.0]),
    m=st.sampled_from([1.0, 2.0]),
    ridge=st.sampled_from([0.0, 0.2]),
    collinear=st.booleans(),
)
def test_the_objective_falls_as_theorem_1_says(seed, n, p, s, loss, c, m, ridge, collinear):
    """(11) at every arrival, eta estimated; so the sum of squared steps is bounded by the descent."""
    X, y = problem(seed, n, p, loss)
    if collinear:
        X += 3 * X[:, :1]
    kernel = _native.Substitution(y, loss, "paper", s, retained_divisor=m, descent=c, ridge=ridge)
    before = kernel.progress
    for scan in range(2):
        for j in range(p):
            if scan == 1 and b"%d" % j in kernel.retained:
                continue
            kernel.update(columns_batch(X[:, [j]], [b"%d" % j]))
            now = kernel.progress
            promised = now["promised_descent"] - before["promised_descent"]
            assert promised >= 0
            assert now["objective"] - before["objective"] <= -promised + 1e-12
            before = now
        kernel.end_scan()
    assert before["promised_descent"] <= before["first_objective"] - before["objective"] + 1e-9
    assert before["first_objective"] - before["objective"] <= before["first_objective"]


def test_the_estimate_of_curvature_is_that_of_the_retained_columns():
    X, y = problem(1, 200, 300, "squared")
    kernel = _native.Substitution(y, "squared", "paper", 20)
    scans(kernel, X, 4)
    kept = X[:, [int(name) for name in kernel.retained]]
    kept = (kept - kept.mean(0)) / kept.std(0)
    exact = np.linalg.eigvalsh(kept.T @ kept / 200)[-1]
    assert 0.8 * exact <= kernel.progress["curvature"] <= 1.6 * exact


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(10, 50),
    p=st.integers(1, 30),
    s=st.integers(2, 8),
    q=st.integers(1, 4),
)
def test_simulation_is_algorithms_2_and_3(seed, n, p, s, q):
    X, y = problem(seed, n, p, "squared")
    q = min(q, s)
    kernel = _native.AsynchronousSubstitution(y, "squared", s, q, step=0.1, retained_divisor=2.0, seed=seed)
    alone = []  # which worker a key belongs to: the one that counts it
    for j in range(p):
        probe = _native.AsynchronousSubstitution(y, "squared", s, q, seed=seed)
        probe.update(columns_batch(X[:, [j]], [b"%d" % j]))
        alone.append([count[0] for count in probe.counts].index(1))
    oracle = AsynchronousOracle(y.astype(np.float64), s, q, 0.1, dict(enumerate(alone)), 2.0)
    scans(kernel, X, 2)
    for _ in range(2):
        for j in range(p):
            oracle.receive(j, X[:, j])
    found, _ = weights_of(kernel, X)
    expected = {j: w for S in oracle.workers for j, (_, w) in S.items()}
    expected |= dict.fromkeys(oracle.turned_away, 0.0)
    assert found.keys() == expected.keys()
    for j, weight in expected.items():
        assert found[j] == pytest.approx(weight, rel=1e-4, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    p=st.integers(1, 30),
    k=st.integers(1, 12),
    q=st.integers(1, 6),
    count=st.integers(1, 3),
    threads=st.booleans(),
)
def test_k_come_out_however_the_features_fall_to_the_workers(seed, p, k, q, count, threads):
    """A share that its worker's features do not fill; copies and constants among them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 40))[:, rng.integers(0, 40, p)] * rng.choice([0.0, 1.0, 1.0, 1.0], p)
    y = (X.sum(1) + rng.standard_normal(20)).astype(np.float32)
    kernel = _native.AsynchronousSubstitution(y, "squared", k, min(q, k), threads=threads, seed=seed)
    scans(kernel, X, count)
    names, _, _ = kernel.select()
    assert len(set(names)) == len(names) == min(k, np.count_nonzero(X.any(0)))


def test_native_threads_find_what_is_planted():
    X, y, w = planted(2, 300, 200, 6)
    kernel = _native.AsynchronousSubstitution(y, "squared", 12, 2, threads=True)
    scans(kernel, X, 4)
    names, weights, _ = kernel.select()
    assert len(names) == 12
    found = dict(zip([int(name) for name in names], weights, strict=True))
    strong = np.flatnonzero(np.abs(w) > 0.5)
    assert set(strong) <= found.keys()
    assert all(found[j] == pytest.approx(w[j], abs=0.1) for j in strong)
    assert sum(count[0] for count in kernel.counts) == 800


def test_projection_is_coordinate_descent_that_keeps_the_largest():
    X, y = problem(3, 80, 60, "squared")
    kernel = _native.Substitution(y, "squared", "projection", 10)
    oracle = ProjectionOracle(y.astype(np.float64), 10)
    scans(kernel, X, 2)
    for _ in range(2):
        for j in range(60):
            oracle.receive(j, X[:, j])
    found, _ = weights_of(kernel, X)
    assert found == pytest.approx({j: w for j, (_, w) in oracle.S.items()}, rel=1e-4)


def test_proximal_with_a_heavy_l1_takes_nothing():
    X, y = problem(4, 80, 60, "squared")
    kernel = _native.Substitution(y, "squared", "proximal", 10, l1=1e6)
    scans(kernel, X, 1)
    assert kernel.retained == []
    light = _native.Substitution(y, "squared", "proximal", 10, l1=1e-9)
    scans(light, X, 1)
    assert len(light.retained) == 10


@pytest.mark.parametrize("kind", ["paper", "projection", "asynchronous", "places free"])
def test_state_goes_on_bit_for_bit(kind):
    X, y = problem(5, 60, 80, "squared-hinge")

    def make():
        if kind == "asynchronous":
            return _native.AsynchronousSubstitution(y, "squared-hinge", 9, 3)
        if kind == "places free":  # some workers are given fewer than their share
            return _native.AsynchronousSubstitution(y, "squared-hinge", 78, 8)
        return _native.Substitution(y, "squared-hinge", kind, 9)

    straight, half, resumed = make(), make(), make()
    straight.update(columns_batch(X))
    half.update(columns_batch(X[:, :41]))
    resumed.restore(half.state())
    resumed.update(columns_batch(X[:, 41:], [b"%d" % j for j in range(41, 80)]))
    if kind == "places free":
        assert len(straight.select()[0]) == 78
    first, second = straight.state(), resumed.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name


def test_a_step_too_long_is_said_to_diverge():
    from fsstream.errors import FsstreamError

    X, y = problem(6, 60, 80, "squared")
    kernel = _native.AsynchronousSubstitution(y, "squared", 20, 4, step=500.0)
    with pytest.raises(FsstreamError, match="range of numbers"):
        scans(kernel, X, 40)
