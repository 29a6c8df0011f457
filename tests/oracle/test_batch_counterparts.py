"""Proj-GD and grafting against numpy and against the optimality conditions of their objectives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .substitution_oracle import loss_slope, prepared
from .test_column_pool import columns_batch
from .test_substitution import LOSSES, problem, weights_of


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(10, 60),
    p=st.integers(1, 30),
    s=st.integers(1, 6),
    loss=st.sampled_from(LOSSES),
    iterations=st.integers(1, 5),
)
def test_proj_gd_is_a_step_and_a_projection(seed, n, p, s, loss, iterations):
    X, y = problem(seed, n, p, loss)
    eta = 0.2
    kernel = _native.ProjectedGradient(y, loss, s, step=eta)
    for _ in range(iterations):
        kernel.update(columns_batch(X))
        kernel.end_scan()
    Z = np.column_stack([prepared(X[:, j]) for j in range(p)])
    w, b = np.zeros(p), float(y.mean()) if loss == "squared" else 0.0
    for _ in range(iterations):
        slope = loss_slope(loss, Z @ w + b, y.astype(np.float64))
        w, b = w - eta * Z.T @ slope, b - eta * slope.sum()
        w[np.argsort(-np.abs(w), kind="stable")[s:]] = 0
    found, _ = weights_of(kernel, X)
    assert found == pytest.approx({j: w[j] for j in np.flatnonzero(w)}, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_proj_gd_never_rises_and_ends(loss):
    X, y = problem(1, 60, 100, loss)
    X += 2 * X[:, :1]  # correlated: the first step is too long
    kernel = _native.ProjectedGradient(y, loss, 8)
    before = kernel.objective
    for _ in range(3000):
        kernel.update(columns_batch(X))
        moving = kernel.end_scan()
        assert kernel.objective <= before + 1e-12
        before = kernel.objective
        if not moving:
            break
    assert not moving
    assert kernel.curvature > 1.0 or loss == "logistic"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_grafting_ends_at_the_optimum_of_the_l1_problem(loss, share):
    X, y = problem(2, 80, 40, loss)
    Z = np.column_stack([prepared(X[:, j]) for j in range(40)])
    wide = y.astype(np.float64)
    start = wide.mean() if loss == "squared" else 0.0
    l1 = share * np.abs(Z.T @ loss_slope(loss, np.full(80, start), wide)).max()
    kernel = _native.Grafting(y, loss, l1=l1)
    for _ in range(20):
        kernel.update(columns_batch(X))
        kernel.end_scan()
    names, weights, b = kernel.select(refit=False)
    ids = [int(name) for name in names]
    gradient = Z.T @ loss_slope(loss, X[:, ids] @ weights.astype(np.float64) + b, wide)
    signs = np.sign(weights)
    assert np.abs(gradient[ids] + l1 * signs).max() < 0.02 * l1
    assert np.abs(gradient).max() < 1.02 * l1


def test_a_searched_lambda_leaves_at_least_k_and_not_many_more():
    X, y = problem(3, 150, 120, "squared")
    kernel = _native.Grafting(y, "squared", k=12)
    searching = True
    while searching:
        kernel.update(columns_batch(X))
        searching = kernel.end_scan()
    assert 12 <= len(kernel.retained) <= 16
    assert len(kernel.select()[0]) == 12


@pytest.mark.parametrize("make", [_native.ProjectedGradient, _native.Grafting])
def test_state_goes_on_bit_for_bit(make):
    X, y = problem(4, 50, 60, "squared")

    def run(kernel, columns, ends):
        kernel.update(columns_batch(X[:, columns], [b"%d" % j for j in columns]))
        if ends:
            kernel.end_scan()

    straight, half = make(y, "squared", k=6), make(y, "squared", k=6)
    for kernel in (straight, half):
        run(kernel, range(60), True)
        run(kernel, range(25), False)
    resumed = make(y, "squared", k=6)
    resumed.restore(half.state())
    for kernel in (straight, resumed):
        run(kernel, range(25, 60), True)
    first, second = straight.state(), resumed.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name
