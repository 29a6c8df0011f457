"""Every step of OFS, SOFS, l1-ARDA and Ada-Fobos from the kernel's own state, against the rule over all d."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .l1_adaptive_oracle import AdaFobos, L1Arda
from .ofs_oracle import Ofs
from .online_data import batch_of, streams, weights_of
from .sofs_oracle import Sofs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .b_arda_oracle import Vector

budgets = st.integers(1, 8)
etas = st.sampled_from([1e-3, 0.1, 1.0])
kinds = st.booleans().flatmap(lambda counts: streams(counts=counts, rows=40))


def dense(d: int, keys: Vector, values: Vector, elsewhere: float = 0.0) -> Vector:
    """A number a feature."""
    out = np.full(d, elsewhere)
    out[keys.astype(int)] = values
    return out


def assert_same_members(kernel: Vector, oracle: Vector, scores: Vector, budget: int) -> None:
    """The same weights, at most `budget`; who has one may differ only where scores agree to rounding."""
    assert np.count_nonzero(kernel) <= budget
    differ = np.flatnonzero((kernel != 0) != (oracle != 0))
    assert len(differ) == 0 or scores[differ].max() <= scores[differ].min() * (1 + 1e-12)
    same = np.setdiff1d(np.arange(len(kernel)), differ)
    np.testing.assert_allclose(kernel[same], oracle[same], rtol=1e-9, atol=1e-14)


def rows_of(data: tuple[Vector, Vector]) -> Iterator[tuple[Vector, float]]:
    return zip(*data, strict=True)


@given(
    kinds, budgets, etas, st.sampled_from([0.0, 1e-4, 0.3, 0.9]), st.sampled_from(["hinge", "squared-hinge"])
)
@settings(deadline=None, max_examples=80)
def test_ofs(data, budget, eta, lam, loss):
    d = data[0].shape[1]
    kernel = _native.budgeted("ofs", loss=loss, budget=budget, eta=eta, lam=lam)
    oracle = Ofs(d, budget, eta, lam, loss)

    def weights() -> Vector:
        state = kernel.state()
        return dense(d, state["keys"], state["numbers"][1] * state["weights"])

    for x, y in rows_of(data):
        oracle.w = weights()
        score = kernel.update(batch_of(x[None], np.array([y])))[0]
        assert score == pytest.approx(oracle.step(x, y), rel=1e-6, abs=1e-9)
        assert_same_members(weights(), oracle.w, np.abs(oracle.moved), budget)


@given(kinds, budgets, st.sampled_from([0.01, 1.0, 100.0]))
@settings(deadline=None, max_examples=80)
def test_sofs(data, budget, gamma):
    d = data[0].shape[1]
    kernel = _native.budgeted("sofs", loss="hinge", budget=budget, eta=1.0, gamma=gamma)
    oracle = Sofs(d, budget, gamma)

    def taken() -> tuple[Vector, Vector]:
        state = kernel.state()
        members = state["keys"][state["members"].astype(int)]
        return (
            dense(d, members, state["weights"][1:]),
            dense(d, state["keys"], state["precisions"][1:], elsewhere=1.0),
        )

    for x, y in rows_of(data):
        oracle.w, oracle.precision = taken()
        score = kernel.update(batch_of(x[None], np.array([y])))[0]
        assert score == pytest.approx(oracle.step(x, y), rel=1e-6, abs=1e-9)
        weights, precision = taken()
        np.testing.assert_array_equal(precision, oracle.precision)
        # Precisions are the same to the bit, so ties are ties; a weight that a step undoes is zero or nearly.
        np.testing.assert_array_equal(np.abs(weights) > 1e-14, np.abs(oracle.w) > 1e-14)
        assert_same_members(weights, oracle.w, precision, budget)


@given(
    kinds,
    st.sampled_from([L1Arda, AdaFobos]),
    st.sampled_from(["squared-hinge", "hinge", "logistic", "squared"]),
    etas,
    st.sampled_from([0.0, 1e-3, 0.05, 0.5]),
)
@settings(deadline=None, max_examples=120)
def test_l1_methods(data, method, loss, eta, lam):
    d = data[0].shape[1]
    name = {L1Arda: "l1-arda", AdaFobos: "ada-fobos"}[method]
    kernel = _native.l1_ladder(name, loss=loss, rungs=[lam], eta=eta)
    oracle = method(d, eta, lam, loss=loss)

    def take_state() -> None:
        state = kernel.state()
        keys, (first, squares) = state["keys"], state["numbers"].reshape(-1, 2).T
        oracle.t = int(state["counters"][0])
        oracle.squares = dense(d, keys, squares)
        if method is L1Arda:
            oracle.sum = dense(d, keys, first)
            oracle.settle()
        else:
            oracle.w = dense(d, keys, first)
            # The kernel makes up for the steps since a feature occurred when it occurs again.
            oracle.rest(dense(d, keys, (state["paths"][0] - state["paths"][3:]) / eta))

    for x, y in rows_of(data):
        take_state()
        score = kernel.update(batch_of(x[None], np.array([y])))[0]
        assert score == pytest.approx(oracle.step(x, y), rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(weights_of(kernel, d), oracle.w, rtol=1e-6, atol=1e-12)
        sums, squares, weights = oracle.sum, oracle.squares, oracle.w
        take_state()
        np.testing.assert_allclose(oracle.squares, squares, rtol=1e-12)
        np.testing.assert_allclose(oracle.w, weights, rtol=1e-9, atol=1e-12)
        if method is L1Arda:
            np.testing.assert_allclose(oracle.sum, sums, rtol=1e-12, atol=1e-12)
