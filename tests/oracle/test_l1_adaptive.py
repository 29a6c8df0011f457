"""The l1 ladder against l1-ARDA and Ada-Fobos over all d coordinates, rung by rung."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .l1_adaptive_oracle import AdaFobos, L1Arda
from .online_data import batch_of, streams, weights_of

METHODS = {"l1-arda": L1Arda, "ada-fobos": AdaFobos}
LOSSES = ("squared-hinge", "hinge", "logistic", "squared")
methods, losses = st.sampled_from(sorted(METHODS)), st.sampled_from(LOSSES)


@given(streams(), methods, losses, st.sampled_from([1e-3, 0.1, 1.0]), st.sampled_from([0.0, 1e-3, 0.05]))
@settings(deadline=None, max_examples=120)
def test_whole_runs(data, method, loss, eta, lam):
    rows, targets = data
    oracle = METHODS[method](rows.shape[1], eta, lam, loss=loss)
    kernel = _native.l1_ladder(method, loss=loss, rungs=[lam], eta=eta)
    scores = kernel.update(batch_of(rows, targets))
    expected = [oracle.step(x, y) for x, y in zip(rows, targets, strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights_of(kernel, oracle.d), oracle.w, rtol=1e-4, atol=1e-7)


@given(streams(), methods, losses, st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_a_ladder_is_its_rungs_side_by_side(data, method, loss, k):
    rows, targets = data
    rungs = [0.3, 0.05, 0.01, 1e-3, 0.0]
    ladder = _native.l1_ladder(method, loss=loss, rungs=rungs, k=k, eta=0.1, intercept=True)
    ladder.update(batch_of(rows, targets))
    alone = []
    for lam in rungs:
        kernel = _native.l1_ladder(method, loss=loss, rungs=[lam], eta=0.1, intercept=True)
        kernel.update(batch_of(rows, targets))
        alone.append(kernel)
    weights = [weights_of(kernel, rows.shape[1]) for kernel in alone]
    counts = [int(np.count_nonzero(w)) for w in weights]
    assert ladder.counts() == counts
    enough = [i for i, count in enumerate(counts) if count >= k]
    best = min(enough, key=lambda i: counts[i]) if enough else len(rungs) - 1
    assert ladder.best_rung == best
    # A row that only other rungs learn from shrinks this one at once instead of later: rounding differs.
    np.testing.assert_allclose(weights_of(ladder, rows.shape[1]), weights[best], rtol=1e-6)
    assert ladder.intercept == pytest.approx(alone[best].intercept, rel=1e-9)


@given(streams(counts=True), methods, st.integers(0, 60))
@settings(deadline=None, max_examples=40)
def test_batches_and_restored_state_change_nothing(data, method, cut):
    rows, targets = data
    options = {"loss": "logistic", "rungs": [0.1, 0.01, 0.0], "k": 3, "eta": 0.1, "intercept": True}
    whole, first, second = (_native.l1_ladder(method, **options) for _ in range(3))
    scores = whole.update(batch_of(rows, targets))
    first.update(batch_of(rows[:cut], targets[:cut]))
    second.restore(first.state())
    np.testing.assert_array_equal(scores[cut:], second.update(batch_of(rows[cut:], targets[cut:])))
    one, two = whole.state(), second.state()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("method", METHODS)
def test_a_state_of_another_ladder_is_refused(method):
    two = _native.l1_ladder(method, loss="hinge", rungs=[0.1, 0.0], eta=0.1)
    three = _native.l1_ladder(method, loss="hinge", rungs=[0.1, 0.05, 0.0], eta=0.1)
    two.update(batch_of(np.ones((3, 4)), np.ones(3)))
    with pytest.raises(RuntimeError, match="state"):
        three.restore(two.state())
