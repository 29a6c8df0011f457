"""The B-ARDA kernel against Algorithm 1 over all d coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import _native
from fsstream.errors import FsstreamError, LimitError

from .b_arda_oracle import BArda
from .online_data import batch_of, check_whole_run, streams, weights_of

LOSSES = ("squared-hinge", "hinge", "logistic", "squared")
settings_of = st.fixed_dictionaries(
    {
        "budget": st.integers(1, 8),
        "eta": st.sampled_from([1e-3, 0.1, 1.0]),
        "lam": st.sampled_from([0.0, 1e-4, 0.1, 3.0]),
        "delta": st.sampled_from([0.01, 1.0]),
        "loss": st.sampled_from(LOSSES),
    }
)


def kernel_of(options: dict, **more) -> _native.OnlineLearner:
    return _native.budgeted("b-arda", **options, **more)


def take_state(oracle: BArda, kernel: _native.OnlineLearner) -> None:
    """The oracle goes on from where the kernel is."""
    state = kernel.state()
    keys = state["keys"].astype(int)
    oracle.t = int(state["steps"][0])
    oracle.sum[:] = oracle.squares[:] = 0.0
    oracle.sum[keys], oracle.squares[keys] = state["sums"][1:], state["squares"][1:]
    oracle.solve()


def assert_same_choice(oracle: BArda, kernel: _native.OnlineLearner) -> bool:
    """The same weights; features may differ where their scores agree to rounding and the sums do not.

    Returns whether none does: else the next row is scored by other weights.
    """
    weights = weights_of(kernel, oracle.d)
    assert np.count_nonzero(weights) <= oracle.budget
    differ = np.flatnonzero((weights != 0) != (oracle.w != 0))
    if len(differ):
        scores = oracle.scores[differ]
        assert scores.max() <= scores.min() * (1 + 1e-12)
        pairs = {(oracle.sum[i], oracle.squares[i]) for i in differ}
        assert len(pairs) > 1, "identical features are told apart by the smaller key"
    same = np.setdiff1d(np.arange(oracle.d), differ)
    np.testing.assert_allclose(weights[same], oracle.w[same], rtol=1e-6, atol=1e-30)
    return len(differ) == 0


@given(streams(), settings_of)
@settings(deadline=None, max_examples=80)
def test_whole_runs(data, options):
    rows, targets = data
    check_whole_run(BArda(rows.shape[1], **options), kernel_of(options), rows, targets, options["budget"])


@given(streams(counts=True), settings_of.filter(lambda options: options["loss"] != "logistic"))
@settings(deadline=None, max_examples=40)
def test_whole_runs_of_equal_columns_to_the_last_bit(data, options):
    """Every other column of counts twice: the smaller key of two twins has the weight, to the end."""
    rows, targets = data
    rows = np.hstack([rows, rows[:, ::2]])
    oracle, kernel = BArda(rows.shape[1], **options), kernel_of(options)
    scores = kernel.update(batch_of(rows, targets))
    expected = [oracle.step(x, y) for x, y in zip(rows, targets, strict=True)]
    np.testing.assert_array_equal(scores, np.array(expected, np.float32))
    np.testing.assert_array_equal(weights_of(kernel, oracle.d), oracle.w.astype(np.float32))


@given(streams(counts=True), settings_of)
@settings(deadline=None, max_examples=40)
def test_every_step_from_the_same_state_with_ties(data, options):
    rows, targets = data
    oracle, kernel = BArda(rows.shape[1], **options), kernel_of(options)
    for x, y in zip(rows, targets, strict=True):
        take_state(oracle, kernel)
        same = assert_same_choice(oracle, kernel)
        kernel.update(batch_of(x[None], np.array([y])))
        oracle.step(x, y)
        if not same:
            continue
        sums = dict(zip(kernel.state()["keys"].tolist(), kernel.state()["sums"][1:], strict=True))
        np.testing.assert_allclose(
            [sums.get(i, 0.0) for i in range(oracle.d)], oracle.sum, rtol=1e-9, atol=1e-9
        )
    take_state(oracle, kernel)
    assert_same_choice(oracle, kernel)


@given(streams(rows=40), st.sampled_from([1e-3, 0.1, 10.0]), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_time_alone_changes_the_choice_as_it_should(data, lam, budget):
    """Rows of one feature while tau runs on: the others cross, untouched."""
    rows, targets = data
    single = np.zeros((120, rows.shape[1]))
    single[:, 0] = 1e-3
    rows, targets = np.vstack([rows, single]), np.append(targets, np.ones(120))
    options = {"budget": budget, "eta": 0.5, "lam": lam, "delta": 0.01, "loss": "logistic"}
    oracle, kernel = BArda(rows.shape[1], **options), kernel_of(options)
    for x, y in zip(rows, targets, strict=True):
        kernel.update(batch_of(x[None], np.array([y])))
        take_state(oracle, kernel)
        assert_same_choice(oracle, kernel)


@given(streams(counts=True), settings_of, st.integers(0, 60))
@settings(deadline=None, max_examples=60)
def test_batches_and_restored_state_change_nothing(data, options, cut):
    rows, targets = data
    whole, first, second = (kernel_of(options, intercept=True) for _ in range(3))
    whole.update(batch_of(rows, targets))
    first.update(batch_of(rows[:cut], targets[:cut]))
    second.restore(first.state())
    second.update(batch_of(rows[cut:], targets[cut:]))
    assert whole.intercept == second.intercept
    one, two = whole.state(), second.state()
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    np.testing.assert_array_equal(weights_of(whole, rows.shape[1]), weights_of(second, rows.shape[1]))


@given(streams())
@settings(deadline=None, max_examples=30)
def test_intercept_is_a_feature_of_every_row_outside_the_budget(data):
    rows, targets = data
    options = {"budget": 3, "eta": 0.1, "lam": 0.0, "delta": 0.01, "loss": "squared-hinge"}
    d = rows.shape[1]
    kernel = kernel_of({**options, "budget": d}, intercept=True)
    kernel.update(batch_of(rows, targets))
    oracle = BArda(d + 1, **{**options, "budget": d + 1})
    for x, y in zip(rows, targets, strict=True):
        oracle.step(np.append(x, 1.0), y)
    np.testing.assert_allclose(kernel.intercept, oracle.w[d], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(weights_of(kernel, d), oracle.w[:d], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("memory", [2_000, 20_000])
def test_the_exact_state_ends_at_the_memory_limit(memory):
    rng = np.random.default_rng(0)
    kernel = kernel_of({"budget": 2, "eta": 0.1, "loss": "squared-hinge"}, memory=memory)
    with pytest.raises(LimitError) as error:
        kernel.update(batch_of(rng.normal(size=(400, 1500)) * (rng.random((400, 1500)) < 0.01), np.ones(400)))
    assert "store=sketch" in error.value.hint
    assert kernel.memory_used <= memory


def test_numbers_out_of_range_are_said_to_diverge():
    kernel = kernel_of({"budget": 2, "eta": 1e200, "loss": "squared"})
    rows = np.full((50, 2), 1e30)
    with pytest.raises(FsstreamError, match="range"):
        kernel.update(batch_of(rows, np.ones(50)))


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("share", [0.03, 0.9])
def test_scores_over_many_powers_of_two_in_sparse_and_in_dense_rows(share, lam):
    """Features of very unlike sizes, forgotten for long and met again."""
    rng = np.random.default_rng(5)
    options = {"budget": 6, "eta": 0.3, "lam": lam, "loss": "squared-hinge"}
    d, n = 150, 500
    rows = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 1, d) * (rng.random((n, d)) < share)
    rows[: n // 2, : d // 2] = 0.0
    oracle, kernel = BArda(d, **options), kernel_of(options)
    rows = rows.astype(np.float32).astype(float)
    for x, y in zip(rows, np.sign(rng.normal(size=n)), strict=True):
        take_state(oracle, kernel)
        assert_same_choice(oracle, kernel)
        kernel.update(batch_of(x[None], np.array([y])))


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
@settings(deadline=None, max_examples=40)
def test_any_keys_any_table_growth(seed, budget):
    """Wide keys, many features, rows that touch few: the table and the tournaments grow on the way."""
    rng = np.random.default_rng(seed)
    d, n = 300, 80
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.03)
    targets = np.sign(rng.normal(size=n))
    keys = np.sort(rng.integers(0, 2**64, d, dtype=np.uint64))
    options = {"budget": budget, "eta": 0.3, "lam": 0.2, "delta": 0.01, "loss": "squared-hinge"}
    rows = rows.astype(np.float32).astype(np.float64)
    kernel, oracle = kernel_of(options), BArda(d, **options)
    kernel.update(batch_of(rows, targets, keys))
    for x, y in zip(rows, targets, strict=True):
        oracle.step(x, y)
    names, weights = kernel.chosen()
    found = dict(zip((int(name) for name in names), weights, strict=True))
    expected = {int(keys[i]): oracle.w[i] for i in np.flatnonzero(oracle.w)}
    assert found.keys() == expected.keys()
    for key, weight in expected.items():
        assert found[key] == pytest.approx(weight, rel=1e-4)
