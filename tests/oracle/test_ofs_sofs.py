"""The OFS and SOFS kernels against their rules over all d coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .ofs_oracle import Ofs
from .online_data import batch_of, streams, weights_of
from .sofs_oracle import Sofs


def run(oracle, rows, targets) -> list[float]:
    return [oracle.step(x, y) for x, y in zip(rows, targets, strict=True)]


@given(
    streams(),
    st.integers(1, 8),
    st.sampled_from([0.01, 0.2, 1.0]),
    st.sampled_from([0.0, 0.01, 0.3]),
)
@settings(deadline=None, max_examples=100)
def test_ofs_whole_runs(data, budget, eta, lam):
    rows, targets = data
    oracle = Ofs(rows.shape[1], budget, eta, lam)
    kernel = _native.budgeted("ofs", loss="hinge", budget=budget, eta=eta, lam=lam)
    scores = kernel.update(batch_of(rows, targets))
    np.testing.assert_allclose(scores, run(oracle, rows, targets), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights_of(kernel, oracle.d), oracle.w, rtol=1e-4, atol=1e-7)


@given(streams(counts=True), st.integers(1, 8))
@settings(deadline=None, max_examples=50)
def test_ofs_ties_by_the_smaller_key(data, budget):
    """Counts, eta a power of two and no shrinking: sums are exact, so ties are ties."""
    rows, targets = data
    oracle = Ofs(rows.shape[1], budget, 0.25)
    kernel = _native.budgeted("ofs", loss="hinge", budget=budget, eta=0.25)
    kernel.update(batch_of(rows, targets))
    run(oracle, rows, targets)
    np.testing.assert_array_equal(weights_of(kernel, oracle.d), oracle.w)


@given(streams(), st.integers(1, 8), st.sampled_from([0.01, 1.0, 100.0]))
@settings(deadline=None, max_examples=100)
def test_sofs_whole_runs(data, budget, gamma):
    rows, targets = data
    oracle = Sofs(rows.shape[1], budget, gamma)
    kernel = _native.budgeted("sofs", loss="hinge", budget=budget, eta=1.0, gamma=gamma)
    scores = kernel.update(batch_of(rows, targets))
    np.testing.assert_allclose(scores, run(oracle, rows, targets), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights_of(kernel, oracle.d), oracle.w, rtol=1e-4, atol=1e-7)


@given(streams(counts=True), st.integers(1, 8))
@settings(deadline=None, max_examples=50)
def test_sofs_ties_by_the_smaller_key(data, budget):
    """Counts and gamma = 1: precisions are whole numbers, many of them equal."""
    rows, targets = data
    oracle = Sofs(rows.shape[1], budget, 1.0)
    kernel = _native.budgeted("sofs", loss="hinge", budget=budget, eta=1.0, gamma=1.0)
    kernel.update(batch_of(rows, targets))
    run(oracle, rows, targets)
    np.testing.assert_allclose(weights_of(kernel, oracle.d), oracle.w, rtol=1e-6, atol=1e-12)


@given(streams(counts=True), st.sampled_from(["ofs", "sofs"]), st.integers(0, 60))
@settings(deadline=None, max_examples=50)
def test_batches_and_restored_state_change_nothing(data, algorithm, cut):
    rows, targets = data
    options = {"loss": "hinge", "budget": 4, "eta": 0.2, "lam": 0.1, "intercept": True}
    whole, first, second = (_native.budgeted(algorithm, **options) for _ in range(3))
    whole.update(batch_of(rows, targets))
    first.update(batch_of(rows[:cut], targets[:cut]))
    second.restore(first.state())
    second.update(batch_of(rows[cut:], targets[cut:]))
    assert whole.intercept == second.intercept
    one, two = whole.state(), second.state()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
