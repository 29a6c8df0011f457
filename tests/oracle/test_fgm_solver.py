"""The inner solver of fgm against brute force, its numpy twin, and the duality gap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fsstream import _native
from tests.oracle import fgm_oracle as oracle

LOSSES = ("squared-hinge", "logistic", "squared")


def columns_of(X):
    """A ColumnCache that holds the columns of a dense matrix."""
    rows, width = X.shape
    cache = _native.ColumnCache(rows)
    collector = _native.ColumnCollector(cache, np.arange(width, dtype=np.uint64))
    row, column = np.nonzero(X)
    starts = np.searchsorted(row, np.arange(rows + 1)).astype(np.uint64)
    batch = _native.Batch.from_arrays(
        starts, column.astype(np.uint64), X[row, column].astype(np.float32), np.zeros(rows, np.float32)
    )
    collector.add(batch, 0)
    collector.finish()
    return cache


def problem(seed, rows=60, sizes=(3, 4, 2), density=1.0, loss="squared-hinge", cost=5.0):
    rng = np.random.default_rng(seed)
    width = sum(sizes)
    X = rng.normal(size=(rows, width)) * (rng.random((rows, width)) < density)
    X = X.astype(np.float32).astype(np.float64)
    u = X @ rng.normal(size=width) + 0.4 + 0.3 * rng.normal(size=rows)
    y = u if loss == "squared" else np.where(u > 0, 1.0, -1.0)
    costs = np.full(rows, cost)
    ends = np.cumsum([0, *sizes])
    groups = [list(range(a, b)) for a, b in pairwise(ends)]
    return oracle.Reduced(X, y, costs, groups, loss)


def solve(reduced, weights=None, bias=0.0, **options):
    width = reduced.X.shape[1]
    starts = np.cumsum([0, *map(len, reduced.groups)]).astype(np.uint64)
    return _native.solve_reduced(
        columns_of(reduced.X),
        reduced.loss,
        reduced.y,
        reduced.costs,
        starts,
        np.arange(width, dtype=np.uint32),
        np.zeros(width) if weights is None else weights,
        bias,
        0.0,
        _native.ProximalOptions(shift=reduced.shift, **options),
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shift", [False, True])
def test_rows_that_cost_nothing_leave_everything_at_zero(loss, shift):
    reduced = problem(3, loss=loss, cost=0.0)
    reduced.shift = shift
    found = solve(reduced)
    assert not np.any(found.weights)
    assert (found.bias, found.objective) == (0.0, 0.0)


@settings(deadline=None)
@given(
    norms=st.lists(st.floats(0, 100), min_size=1, max_size=6),
    tau=st.floats(0.01, 100),
)
def test_moreau_projection_is_the_minimum(norms, tau):
    """No scaled-down norms do better: checked by coordinate search around the answer."""
    factors, total = _native.moreau_factors(np.array(norms), tau)
    o = np.array(norms)

    def value(w):
        return tau / 2 * np.sum((w - o) ** 2) + 0.5 * np.sum(np.abs(w)) ** 2

    best = value(factors * o)
    assert total == pytest.approx(np.sum(factors * o))
    rng = np.random.default_rng(0)
    for scale in (1.0, 0.1, 0.01):
        for _ in range(200):
            other = np.maximum(0, factors * o + scale * rng.normal(size=len(o)) * (1 + o))
            assert value(other) >= best - 1e-9 * (1 + best)


def test_moreau_projection_by_brute_force():
    """A grid over two groups of two weights each."""
    rng = np.random.default_rng(3)
    for tau in (0.2, 1.0, 7.0):
        u = rng.normal(size=4)
        groups = [[0, 1], [2, 3]]
        exact = oracle.moreau(groups, u, tau)
        factors, _ = _native.moreau_factors(np.array([np.linalg.norm(u[g]) for g in groups]), tau)
        ours = np.concatenate([factors[h] * u[g] for h, g in enumerate(groups)])
        np.testing.assert_allclose(ours, exact, atol=1e-12)
        # The minimum lies on the rays of u_1 and u_2: two factors from 0 to 1.
        grid = np.linspace(0, 1, 401)
        a, b = np.meshgrid(grid, grid)
        n1, n2 = np.linalg.norm(u[:2]), np.linalg.norm(u[2:])
        values = tau / 2 * ((1 - a) ** 2 * n1**2 + (1 - b) ** 2 * n2**2) + 0.5 * (a * n1 + b * n2) ** 2
        at = np.unravel_index(np.argmin(values), values.shape)
        np.testing.assert_allclose(factors, [a[at], b[at]], atol=1 / 200)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("density", [1.0, 0.2])
def test_optimum_is_certified_by_the_duality_gap(loss, cached, density):
    for seed in range(4):
        reduced = problem(seed, loss=loss, density=density)
        found = solve(reduced, tolerance=1e-14, cached_products=cached)
        assert found.objective == pytest.approx(reduced.objective(found.weights, 0.0), rel=1e-12)
        # The gap falls with the error of w, the objective with its square: 1e-5 of the one is
        # far below 1e-6 of the other, which an independent solver confirms.
        assert -1e-9 <= reduced.gap(found.weights, 0.0) / found.objective < 1e-5
        other = minimize(reduced.objective, found.weights, args=(0.0,), options={"gtol": 1e-9}, method="BFGS")
        assert found.objective <= other.fun * (1 + 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_optimum_with_shift(loss):
    """With b: sum alpha_i y_i = 0 at the optimum, and there the gap closes as well."""
    for seed in range(4):
        reduced = problem(seed, loss=loss)
        reduced.shift = True
        found = solve(reduced, tolerance=1e-15)
        r = oracle.residuals(loss, reduced.y, reduced.costs, found.decision)
        assert abs(r.sum()) < 1e-3 * np.abs(r).sum()
        assert abs(reduced.gap(found.weights, found.bias)) / found.objective < 1e-5
        assert found.objective < solve(problem(seed, loss=loss), tolerance=1e-15).objective
        w, b = reduced.apg(np.zeros(reduced.X.shape[1]), 0.0, 1e-15, restart=True)
        assert found.objective == pytest.approx(reduced.objective(w, b), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_kkt_conditions(loss):
    """Active groups: the gradient is -|w|_{2,1} w_h / |w_h|; silent groups: shorter than |w|_{2,1}."""
    silent = 0
    for seed in range(6):
        reduced = problem(seed, sizes=(2, 2, 2, 2), loss=loss, cost=0.02)
        found = solve(reduced, tolerance=1e-15)
        w = found.weights
        total = sum(np.linalg.norm(w[g]) for g in reduced.groups)
        c = reduced.X.T @ oracle.residuals(loss, reduced.y, reduced.costs, reduced.X @ w)
        for g in reduced.groups:
            size = np.linalg.norm(w[g])
            if size > 1e-9:
                np.testing.assert_allclose(c[g], total * w[g] / size, atol=1e-5 * total)
            else:
                silent += 1
                assert np.linalg.norm(c[g]) <= total * (1 + 1e-6)
    assert silent


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("restart", [False, True])
def test_iterations_are_those_of_the_numpy_twin(loss, shift, restart):
    reduced = problem(1, loss=loss)
    reduced.shift = shift
    w, b = reduced.apg(np.zeros(9), 0.0, 1e-6, restart=restart)
    found = solve(reduced, tolerance=1e-6, restart=restart)
    np.testing.assert_allclose(found.history, reduced.history[1:], rtol=1e-8)
    np.testing.assert_allclose(found.weights, w, atol=1e-6)
    assert found.bias == pytest.approx(b, abs=1e-6)


def test_warm_start_is_done_at_once():
    reduced = problem(2)
    cold = solve(reduced, tolerance=1e-10)
    warm = solve(reduced, weights=cold.weights, tolerance=1e-6)
    assert warm.iterations <= 2 < cold.iterations
    assert warm.objective <= cold.objective * (1 + 1e-12)


def test_rate_of_theorem_4():
    """F_k - F* <= 2 L |w0 - w*|^2 / (eta (k + 1)^2) along the paper's iterations."""
    reduced = problem(5, rows=80, sizes=(5, 5, 5))
    best = solve(reduced, tolerance=1e-15)
    found = solve(reduced, tolerance=-1.0, iterations=60, restart=False)
    lipschitz = np.linalg.norm(np.sqrt(reduced.costs)[:, None] * reduced.X, 2) ** 2
    k = np.arange(1, len(found.history) + 1)
    bound = 2 * lipschitz * best.weights @ best.weights / (0.8 * (k + 1) ** 2)
    assert np.all(found.history - best.objective <= bound)


def test_inexact_is_close_to_exact():
    """Figure 1: a tolerance of 1e-3 costs few iterations and little of the objective."""
    reduced = problem(7, rows=200, sizes=(10, 10, 10), cost=10.0)
    exact = solve(reduced, tolerance=1e-6)
    inexact = solve(reduced, tolerance=1e-3)
    assert inexact.iterations < exact.iterations
    assert inexact.objective <= exact.objective * 1.02


def test_columns_take_the_smaller_form():
    X = np.zeros((40, 2))
    X[:30, 0] = 1.5
    X[::10, 1] = 2.0
    cache = columns_of(X)
    assert cache.dense(0)
    assert not cache.dense(1)
    r = np.arange(40.0)
    np.testing.assert_allclose(cache.dots(np.array([0, 1], np.uint32), r), X.T @ r)
    np.testing.assert_allclose(cache.square_sums(np.array([0, 1], np.uint32), np.ones(40)), (X**2).sum(0))
    assert cache.bytes == 40 * 4 + 4 * 8
