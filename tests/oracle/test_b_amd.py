"""The B-AMD kernel against Algorithm 2 over all d coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native

from .b_amd_oracle import BAmd
from .online_data import batch_of, check_whole_run, streams, weights_of

settings_of = st.fixed_dictionaries(
    {
        "budget": st.integers(1, 8),
        "eta": st.sampled_from([1e-3, 0.1, 1.0]),
        "lam": st.sampled_from([0.0, 1e-4, 0.1]),
        "delta": st.sampled_from([0.01, 1.0]),
        "loss": st.sampled_from(["squared-hinge", "hinge", "logistic", "squared"]),
    }
)


def kernel_of(options: dict, **more) -> _native.OnlineLearner:
    return _native.budgeted("b-amd", **options, **more)


def take_state(oracle: BAmd, kernel: _native.OnlineLearner) -> None:
    """The oracle goes on from where the kernel is."""
    state = kernel.state()
    keys = state["keys"].astype(int)
    oracle.w[:] = oracle.squares[:] = oracle.scores[:] = 0.0
    oracle.squares[keys] = state["squares"]
    members = keys[: len(state["weights"])]
    oracle.w[members], oracle.scores[members] = state["weights"], state["scores"]


@given(streams(rows=40), settings_of)
@settings(deadline=None, max_examples=80)
def test_whole_runs(data, options):
    rows, targets = data
    check_whole_run(BAmd(rows.shape[1], **options), kernel_of(options), rows, targets, options["budget"])


@given(streams(counts=True), settings_of.filter(lambda options: options["loss"] != "logistic"))
@settings(deadline=None, max_examples=60)
def test_whole_runs_of_equal_columns_to_the_last_bit(data, options):
    """Every other column of counts twice: which twin leads decides the course, and both sum in one order."""
    rows, targets = data
    rows = np.hstack([rows, rows[:, ::2]])
    oracle, kernel = BAmd(rows.shape[1], **options), kernel_of(options)
    for x, y in zip(rows, targets, strict=True):
        score = kernel.update(batch_of(x[None], np.array([y])))[0]
        assert score == np.float32(oracle.step(x, y))
        np.testing.assert_array_equal(weights_of(kernel, oracle.d), oracle.w.astype(np.float32))


@given(streams(counts=True, rows=30), settings_of)
@settings(deadline=None, max_examples=60)
def test_every_step_from_the_same_state_with_ties(data, options):
    rows, targets = data
    oracle, kernel = BAmd(rows.shape[1], **options), kernel_of(options)
    for x, y in zip(rows, targets, strict=True):
        take_state(oracle, kernel)
        kernel.update(batch_of(x[None], np.array([y])))
        oracle.step(x, y)
        after = BAmd(rows.shape[1], **options)
        take_state(after, kernel)
        assert np.count_nonzero(after.w) <= options["budget"]
        np.testing.assert_allclose(after.squares, oracle.squares, rtol=1e-9, atol=1e-12)
        differ = np.flatnonzero((after.w != 0) != (oracle.w != 0))
        scores = oracle.scores[differ]
        assert len(differ) == 0 or scores.max() <= scores.min() * (1 + 1e-12)
        same = np.setdiff1d(np.arange(oracle.d), differ)
        np.testing.assert_allclose(after.w[same], oracle.w[same], rtol=1e-9, atol=1e-12)


def test_equal_sub_gradients_tie_by_the_smaller_key():
    """Features seen at different times have different H, and still tie: H |z| is eta |g| for them all."""
    kernel = kernel_of({"budget": 2, "eta": 0.1, "loss": "hinge"})
    early = np.zeros((2, 6))
    early[:, 4:] = 0.3
    kernel.update(batch_of(early, np.array([1.0, -1.0])))
    kernel.update(batch_of(np.full((1, 6), 0.5), np.ones(1)))
    names, _ = kernel.chosen()
    fresh = kernel_of({"budget": 2, "eta": 0.1, "loss": "hinge"})
    fresh.update(batch_of(np.full((1, 6), 0.5), np.ones(1)))
    assert sorted(fresh.chosen()[0]) == [b"0", b"1"]
    assert len(names) == 2


@given(streams(counts=True), settings_of, st.integers(0, 60), st.sampled_from([0, 64]))
@settings(deadline=None, max_examples=60)
def test_batches_and_restored_state_change_nothing(data, options, cut, width):
    rows, targets = data
    whole, first, second = (kernel_of(options, intercept=True, sketch_width=width) for _ in range(3))
    whole.update(batch_of(rows, targets))
    first.update(batch_of(rows[:cut], targets[:cut]))
    second.restore(first.state())
    second.update(batch_of(rows[cut:], targets[cut:]))
    assert whole.intercept == second.intercept
    one, two = whole.state(), second.state()
    for name in ("bias", "weights", "scores", "cells"):
        np.testing.assert_array_equal(one[name], two[name])
    squares = [dict(zip(state["keys"].tolist(), state["squares"], strict=True)) for state in (one, two)]
    assert squares[0] == squares[1]
    np.testing.assert_array_equal(weights_of(whole, rows.shape[1]), weights_of(second, rows.shape[1]))


@given(streams(), settings_of)
@settings(deadline=None, max_examples=30)
def test_a_wide_sketch_learns_what_the_table_learns(data, options):
    """Without collisions the count-min holds the sums themselves, rounded to float32."""
    rows, targets = data
    exact, sketched = kernel_of(options), kernel_of(options, sketch_width=1 << 16)
    exact.update(batch_of(rows, targets))
    sketched.update(batch_of(rows, targets))
    expected = weights_of(exact, rows.shape[1])
    found = weights_of(sketched, rows.shape[1])
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
