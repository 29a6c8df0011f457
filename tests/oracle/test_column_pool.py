"""The native pool against the numpy pool, and against what least squares promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fsstream import _native
from fsstream._native import Batch

from .column_pool_oracle import PoolOracle


def columns_batch(X, names=None, sparse=False):
    """Columns of X as the rows of a batch, zeros left out when sparse."""
    n, p = X.shape
    kept = [np.flatnonzero(X[:, j]) if sparse else np.arange(n) for j in range(p)]
    starts = np.concatenate([[0], np.cumsum([len(k) for k in kept])]).astype(np.uint64)
    keys = np.concatenate([*kept, []]).astype(np.uint64) + np.uint64(1)
    values = np.concatenate([X[k, j] for j, k in enumerate(kept)] + [[]]).astype(np.float32)
    labels = names or [b"%d" % j for j in range(p)]
    return Batch.from_arrays(starts, keys, values, np.zeros(p, np.float32), labels=labels)


def planted(seed, n, p, true, density=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + offset
    X *= rng.random((n, p)) < density
    X = X.astype(np.float32).astype(np.float64)
    w = np.zeros(p)
    w[rng.choice(p, true, replace=False)] = rng.standard_normal(true) + 1
    y = (X @ w + 0.3 * rng.standard_normal(n) + 2).astype(np.float32)
    return X, y, w


def run_oracle(X, y, scans, **options):
    oracle = PoolOracle(y.astype(np.float64), **options)
    for _ in range(scans):
        for j in range(X.shape[1]):
            oracle.arrive(j, X[:, j])
    return oracle


def run_native(X, y, scans, k, columns, sparse=False, cuts=(), **options):
    pool = _native.ColumnPool(y, k, columns, **options)
    for _ in range(scans):
        for part in np.split(np.arange(X.shape[1]), list(cuts)):
            names = [b"%d" % j for j in part]
            assert pool.update(columns_batch(X[:, part], names, sparse)) is None
        pool.end_scan()
    return pool


def as_dict(selected):
    names, weights, _ = selected
    return {int(name): weight for name, weight in zip(names, weights, strict=True)}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(20, 90),
    p=st.integers(1, 40),
    k=st.integers(1, 8),
    columns=st.integers(1, 3),
    scans=st.integers(1, 3),
    density=st.sampled_from([0.15, 0.5, 1.0]),
    intercept=st.booleans(),
    ridge=st.sampled_from([0.0, 0.1]),
)
def test_kernel_is_the_oracle(seed, n, p, k, columns, scans, density, intercept, ridge):
    X, y, _ = planted(seed, n, p, min(p, k), density, offset=0.5)
    for sparse in (False, True):
        options = {"intercept": intercept, "l2": ridge, "sparse": sparse}
        oracle = run_oracle(X, y, scans, s=k, columns=k * columns, **options)
        pool = run_native(X, y, scans, k, columns, sparse, intercept=intercept, ridge=ridge)
        assert [int(name) for name in pool.retained] == oracle.ids
        assert pool.model_size == len(oracle.model)
        # Without ridge, columns that depend on each other leave the weights open.
        chosen = X[:, oracle.ids]
        assume(ridge > 0 or np.linalg.matrix_rank(np.c_[chosen, np.ones(n)]) > len(oracle.ids))
        expected = oracle.selection() if oracle.ids else {}
        found = as_dict(pool.select("squared"))
        assert found.keys() == expected.keys()
        for name, weight in expected.items():
            assert found[name] == pytest.approx(weight, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("cuts", [(1,), (7, 8), (3, 11, 30)])
def test_batches_may_be_cut_anywhere(cuts):
    X, y, _ = planted(3, 60, 40, 5)
    whole, parts = run_native(X, y, 2, 5, 2), run_native(X, y, 2, 5, 2, cuts=cuts)
    assert whole.retained == parts.retained
    assert np.array_equal(whole.select("squared")[1], parts.select("squared")[1])


def test_sweeps_stay_exact_over_thousands_of_substitutions():
    X, y, _ = planted(4, 80, 3000, 10)
    y = y + np.linspace(0, 40, 80, dtype=np.float32)  # hard to fit: many substitutions
    oracle = run_oracle(X, y, 1, s=12, columns=24)
    pool = run_native(X, y, 1, 12, 2)
    assert [int(name) for name in pool.retained] == oracle.ids
    found, expected = as_dict(pool.select("squared")), oracle.selection()
    assert found == pytest.approx(expected, rel=1e-4)


def test_scale_of_the_features_does_not_matter():
    X, y, _ = planted(5, 100, 60, 6)
    scales = 2.0 ** np.random.default_rng(1).integers(-20, 20, 60)
    plain, scaled = run_native(X, y, 2, 6, 2), run_native(X * scales, y, 2, 6, 2)
    assert plain.retained == scaled.retained


def test_refit_is_least_squares_with_an_intercept():
    X, y, _ = planted(6, 100, 40, 6, offset=3.0)
    pool = run_native(X, y, 2, 6, 2)
    names, weights, intercept = pool.select("squared")
    design = np.column_stack([X[:, [int(name) for name in names]], np.ones(100)])
    expected = np.linalg.lstsq(design, y.astype(np.float64), rcond=None)[0]
    assert np.allclose([*weights, intercept], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_refit_reaches_the_optimum_of_the_loss(loss):
    X, y, _ = planted(7, 200, 30, 5)
    y = np.where(y + np.random.default_rng(0).normal(0, 3, 200) > 2, 1, -1).astype(np.float32)
    names, weights, intercept = run_native(X, y, 2, 5, 2).select(loss)
    design = np.column_stack([X[:, [int(name) for name in names]], np.ones(200)])
    margin = y * (design @ np.array([*weights, intercept]))
    short = np.maximum(0, 1 - margin) if loss == "squared-hinge" else 1 / (1 + np.exp(margin))
    assert np.abs(design.T @ (short * y) / 200).max() < 1e-4


def test_copies_and_constants_are_no_candidates():
    X, y, _ = planted(8, 50, 6, 2)
    X = np.column_stack([X, X[:, 0], np.full(50, 7.0), np.zeros(50), 3 * X[:, 1] + 1])
    pool = run_native(X, y, 1, 5, 2)
    assert {int(name) for name in pool.retained} == {0, 1, 2, 3, 4, 5}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    distinct=st.integers(1, 6),
    p=st.integers(1, 30),
    k=st.integers(1, 12),
    columns=st.integers(1, 3),
    loss=st.sampled_from(["squared", "squared-hinge"]),
)
def test_k_come_out_whatever_repeats(seed, n, distinct, p, k, columns, loss):
    """Copies, multiples, constants and columns of zeros: fewer only when fewer vary."""
    rng = np.random.default_rng(seed)
    base = np.column_stack([rng.standard_normal((n, distinct)), np.full(n, 3.0), np.zeros(n)])
    X = base[:, rng.integers(0, distinct + 2, p)] * rng.choice([1.0, -1.0, 2.0, 0.25], p)
    y = (base[:, 0] + 0.1 * rng.standard_normal(n)).astype(np.float32)
    if loss == "squared-hinge":
        y = np.where(y > np.median(y), 1, -1).astype(np.float32)
    names, weights, intercept = run_native(X, y, 2, k, columns).select(loss)
    assert len(set(names)) == len(names) == min(k, np.count_nonzero(np.ptp(X, axis=0)))
    if loss == "squared" and len(names):
        chosen = np.column_stack([X[:, [int(name) for name in names]], np.ones(n)])
        best = chosen @ np.linalg.lstsq(chosen, y.astype(np.float64), rcond=None)[0]
        assert np.abs(chosen @ [*weights, intercept] - best).max() < 1e-2


def test_copies_that_entered_early_give_way():
    X, y, _ = planted(12, 60, 40, 5)
    X = np.column_stack([X[:, [39] * 5], X[:, :39]])
    pool = run_native(X, y, 1, 5, 2)
    assert sum(int(name) < 5 for name in pool.retained) <= 1


def test_a_retained_name_that_comes_again_is_a_fault_and_a_new_scan_is_not():
    X, y, _ = planted(9, 30, 3, 2)
    pool = _native.ColumnPool(y, 2, 2)
    assert pool.update(columns_batch(X[:, [0, 1, 0]], [b"a", b"b", b"a"])) == (2, "repeated", 0)
    pool.end_scan()
    assert pool.update(columns_batch(X[:, [0, 1]], [b"a", b"b"])) is None


def test_a_sample_beyond_the_targets_is_a_fault():
    pool = _native.ColumnPool(np.ones(5, np.float32), 2, 2)
    batch = Batch.from_arrays(
        np.array([0, 1, 2], np.uint64),
        np.array([5, 6], np.uint64),
        np.ones(2, np.float32),
        np.zeros(2, np.float32),
        labels=[b"a", b"b"],
    )
    assert pool.update(batch) == (1, "sample", 6)


def test_state_goes_on_bit_for_bit():
    X, y, _ = planted(10, 60, 80, 6, density=0.3)
    straight = run_native(X, y, 1, 6, 2, sparse=True)
    half = run_native(X[:, :37], y, 0, 6, 2)
    half.update(columns_batch(X[:, :37], sparse=True))
    resumed = _native.ColumnPool(y, 6, 2)
    resumed.restore(half.state())
    resumed.update(columns_batch(X[:, 37:], [b"%d" % j for j in range(37, 80)], sparse=True))
    resumed.end_scan()
    first, second = straight.state(), resumed.state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name


def test_a_state_that_does_not_fit_is_refused():
    X, y, _ = planted(11, 40, 10, 3)
    state = run_native(X, y, 1, 3, 2).state()
    for name in state:
        broken = {key: array for key, array in state.items() if key != name}
        with pytest.raises(ValueError, match="state"):
            _native.ColumnPool(y, 3, 2).restore(broken)
    with pytest.raises(ValueError, match="state"):
        _native.ColumnPool(y, 4, 2).restore(state)
