"""MISSION with the identity sketch, steps over many rows, and the gamma that falls: oracle and theory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import Batch
from fsstream.algorithms.iht import Iht, IhtParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters
from fsstream.errors import LimitError, UsageError
from tests.oracle.iht_oracle import Batched, Remembering, Thresholded
from tests.oracle.mission_oracle import MissionOracle, as_rows
from tests.oracle.test_mission import LOSSES, batch_of, draw_rows


def identity(k: int, loss: str, common: dict | None = None, **settings_) -> Mission:
    options = Common(**{"k": k, "learning_rate": 0.1, "memory": 1 << 24, **(common or {})})
    return Mission(options, MissionParameters(sketch="identity", **settings_), Task(loss))


def weights_of(learner) -> dict[int, float]:
    chosen = learner.selection()
    return dict(zip([int(name) for name in chosen.raw_names], chosen.weights, strict=True))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    k=st.integers(1, 12),
    l2=st.sampled_from((0.0, 0.01)),
    gamma=st.sampled_from(((1.0, 0.0), (0.97, 0.0), (0.999, 6.0))),
    batch=st.sampled_from((1, 7, 80)),
    intercept=st.booleans(),
)
def test_equals_the_oracle(seed, loss, k, l2, gamma, batch, intercept):
    data = draw_rows(seed, 80, 40, loss)
    ours = identity(
        k,
        loss,
        {"l2": l2, "intercept": intercept},
        gamma=gamma[0],
        gamma_doubling=gamma[1],
        batch=batch,
    )
    store = Remembering(k)
    twin = MissionOracle(
        store if batch == 1 else Batched(store, batch), loss, 0.1, l2, gamma[0], intercept, gamma[1]
    )
    for _ in range(2):
        scores = ours.update(batch_of(data))
        expected = [
            twin.learn(keys, values, float(y), float(h))
            for (keys, values), y, h in zip(as_rows(*data[:3]), *data[3:], strict=True)
        ]
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-4)
    assert weights_of(ours) == pytest.approx(twin.selected(), rel=1e-3, abs=1e-4)
    assert ours.intercepts()[0] == pytest.approx(twin.intercept, rel=1e-4, abs=1e-5)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES), batch=st.sampled_from((3, 80, 81)))
def test_batched_thresholding_equals_the_oracle(seed, loss, batch):
    data = draw_rows(seed, 80, 40, loss)
    ours = Iht(Common(k=6, learning_rate=0.1), IhtParameters(batch=batch), Task(loss))
    store = Batched(Thresholded(6), batch)
    twin = MissionOracle(store, loss, 0.1)
    for _ in range(3):
        ours.update(batch_of(data))
        ours.end_pass()
        for (keys, values), y, h in zip(as_rows(*data[:3]), *data[3:], strict=True):
            twin.learn(keys, values, float(y), float(h))
        if store.rows:
            store.step()
    assert weights_of(ours) == pytest.approx(twin.selected(), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("batch", [1, 9])
@pytest.mark.parametrize("named", [False, True])
def test_batches_and_restores_change_nothing(batch, named):
    data = draw_rows(3, 300, 200, "logistic")
    names = [b"name of %d" % key for key in data[1].tolist()]

    def part(begin, end):
        if not named:
            return batch_of(data, begin, end)
        first, last = int(data[0][begin]), int(data[0][end])
        return Batch.from_arrays(
            data[0][begin : end + 1] - data[0][begin],
            data[1][first:last],
            data[2][first:last],
            data[3][begin:end],
            data[4][begin:end],
            names=names[first:last],
        )

    def fresh():
        return identity(8, "logistic", {"l2": 0.001}, gamma=0.99, gamma_doubling=50, batch=batch)

    whole, parts = fresh(), fresh()
    scores = whole.update(part(0, 300))
    given_scores = []
    for begin, end in itertools.pairwise((0, 1, 40, 44, 45, 200, 300)):
        given_scores.append(parts.update(part(begin, end)))
        saved = parts.state()
        parts = fresh()
        parts.restore(saved)
    assert np.concatenate(given_scores).tobytes() == scores.tobytes()
    assert parts.selection().raw_names == whole.selection().raw_names
    assert parts.selection().weights.tobytes() == whole.selection().weights.tobytes()
    assert all(name.startswith(b"name of") for name in whole.selection().raw_names) == named


def planted(seed: int, n: int = 200, p: int = 400, k: int = 5) -> tuple[Batch, np.ndarray]:
    """Gaussian rows, a binary vector on k of the columns, and what it gives without noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)).astype(np.float32)
    truth = np.zeros(p)
    truth[rng.choice(p, k, replace=False)] = 1
    batch = Batch.from_arrays(
        np.arange(0, n * p + 1, p).astype(np.uint64),
        np.tile(np.arange(p, dtype=np.uint64), n),
        rows.ravel(),
        (rows @ truth).astype(np.float32),
    )
    return batch, truth


@pytest.mark.parametrize("sketch", ["identity", "count"])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_full_gradients_with_a_clean_up_contract(sketch, seed):
    """Theorem 1: the distance to the truth shrinks by a factor a step; without noise, to nothing."""
    batch, truth = planted(seed)
    common = Common(k=5, learning_rate=0.5, intercept=False, memory=1 << 24)
    width = 0 if sketch == "identity" else 1 << 14
    parameters = MissionParameters(sketch=sketch, sketch_width=width, batch=200, gamma=0.5)
    mission = Mission(common, parameters, Task("squared"))
    distances = [float(np.linalg.norm(truth))]
    for _ in range(30):
        mission.update(batch)
        found = np.zeros(len(truth))
        for key, weight in weights_of(mission).items():
            found[key] = weight
        distances.append(float(np.linalg.norm(found - truth)))
    assert distances[30] < 1e-3
    for before, after in itertools.pairwise(distances[::5]):
        assert after < 0.5 * before + 1e-6


def test_cells_beyond_memory_are_refused():
    data = draw_rows(3, 2000, 200_000, "logistic")
    small = identity(5, "logistic", {"memory": 1 << 16})
    with pytest.raises(LimitError, match="--memory"):
        small.update(batch_of(data))


def test_what_needs_constant_steps_or_one_output_says_so():
    with pytest.raises(UsageError, match="sketch=identity has no use with adaptive steps"):
        Mission(Common(k=2), MissionParameters(sketch="identity", step="adaptive"), Task("logistic"))
    for settings_ in ({"gamma": 0.9}, {"batch": 5}, {"sketch": "identity"}):
        with pytest.raises(UsageError, match="no use with the softmax loss"):
            Mission(Common(k=2), MissionParameters(**settings_), Task("softmax", ("a", "b", "c")))
