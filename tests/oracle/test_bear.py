"""BEAR against its oracle, and what its pairs are good for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream.algorithms.bear import Bear, BearParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import CorruptError, LimitError
from tests.oracle.bear_oracle import BearOracle, Beside
from tests.oracle.mission_oracle import as_rows
from tests.oracle.sketch_oracle import SketchOracle
from tests.oracle.test_identity_sketch import planted, weights_of
from tests.oracle.test_mission import batch_of, draw_rows


def bear(k: int, loss: str, common: dict | None = None, **settings_) -> Bear:
    options = Common(**{"k": k, "learning_rate": 0.1, **(common or {})})
    return Bear(options, BearParameters(**{"sketch_width": 64, **settings_}), Task(loss))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(("logistic", "squared-hinge", "squared")),
    k=st.integers(1, 12),
    pairs=st.sampled_from((1, 3)),
    batch=st.sampled_from((1, 9, 40)),
    l2=st.sampled_from((0.0, 0.01)),
    intercept=st.booleans(),
)
def test_equals_the_oracle(seed, loss, k, pairs, batch, l2, intercept):
    data = draw_rows(seed, 80, 40, loss)
    ours = bear(
        k,
        loss,
        {"l2": l2, "intercept": intercept, "seed": seed},
        memory_pairs=pairs,
        batch=batch,
    )
    twin = BearOracle(Beside(SketchOracle(3, 64, seed), k), loss, 0.1, pairs, batch, l2, intercept)
    scores = ours.update(batch_of(data))
    expected = [
        twin.learn(keys, values, float(y), float(h))
        for (keys, values), y, h in zip(as_rows(*data[:3]), *data[3:], strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=2e-3, atol=2e-3)
    assert weights_of(ours) == pytest.approx(twin.store.weights(), rel=1e-2, abs=2e-3)
    assert ours.kernel.counts()["pairs"] == len(twin.pairs)
    assert ours.intercepts()[0] == pytest.approx(twin.intercept, rel=1e-3, abs=1e-4)


def test_batches_and_restores_change_nothing():
    data = draw_rows(3, 300, 200, "logistic")
    whole, parts = (bear(8, "logistic", batch=9) for _ in range(2))
    scores = whole.update(batch_of(data))
    given_scores = []
    for begin, end in itertools.pairwise((0, 1, 40, 44, 45, 200, 300)):
        given_scores.append(parts.update(batch_of(data, begin, end)))
        saved = parts.state()
        parts = bear(8, "logistic", batch=9)
        parts.restore(saved)
    assert np.concatenate(given_scores).tobytes() == scores.tobytes()
    for name, array in whole.state().items():
        np.testing.assert_array_equal(parts.state()[name], array)


def test_a_state_with_pairs_that_are_cut_off_is_refused():
    ours = bear(8, "logistic", batch=9)
    ours.update(batch_of(draw_rows(3, 300, 200, "logistic")))
    state = ours.state()
    state["pair_sizes"] = state["pair_sizes"] + 1000
    with pytest.raises(CorruptError, match="pairs are cut off"):
        bear(8, "logistic", batch=9).restore(state)


def distance_after(pairs: int, unit: float, seed: int) -> float:
    """From the truth, after 40 steps, with columns in another unit."""
    batch, truth = planted(seed)
    rows = type(batch).from_arrays(
        *(np.array(part) for part in (batch.row_starts, batch.keys)),
        np.array(batch.values) * np.float32(unit),
        np.array(batch.targets),
    )
    ours = Bear(
        Common(k=5, learning_rate=0.4, intercept=False),
        BearParameters(memory_pairs=pairs, batch=200),
        Task("squared"),
    )
    for _ in range(40):
        ours.update(rows)
    found = np.zeros(len(truth))
    for key, weight in weights_of(ours).items():
        found[key] = weight * unit
    return float(np.linalg.norm(found - truth))


def test_pairs_learn_the_unit_of_the_columns():
    for seed in range(5):
        assert distance_after(5, 0.05, seed) < 0.3
        assert distance_after(0, 0.05, seed) > 1.5


def test_rows_that_wait_are_learned_at_the_end_of_the_pass():
    data = draw_rows(5, 20, 30, "logistic")
    ours = bear(8, "logistic", batch=1000)
    ours.update(batch_of(data))
    assert len(ours.selection()) == 0
    ours.end_pass()
    assert len(ours.selection()) == 8


def test_a_batch_beyond_memory_is_refused():
    with pytest.raises(LimitError, match="--memory"):
        bear(5, "logistic", {"memory": 1 << 16}, batch=100_000).update(
            batch_of(draw_rows(3, 2000, 200_000, "logistic"))
        )
