"""The mission kernel against its oracle, and what it promises of rows, batches and state."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import Batch
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters
from fsstream.errors import FsstreamError
from fsstream.model import Model
from tests.oracle.mission_oracle import MissionOracle, as_rows, store_of

LOSSES = ("logistic", "hinge", "squared-hinge", "squared")


def draw_rows(seed: int, rows: int, features: int, loss: str):
    """Sparse rows with a planted signal, importance weights, and an empty row now and then."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, min(features, 12) + 1, rows)
    names = rng.integers(0, 2**64, features, dtype=np.uint64)
    names[:2] = (0, 2**64 - 1)
    planted = rng.normal(size=features) * (rng.random(features) < 0.3)
    chosen = [rng.choice(features, size, replace=False) for size in sizes]
    values = rng.normal(size=sizes.sum()).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    flat = np.concatenate([*chosen, np.empty(0, int)]).astype(int)
    sums = np.add.reduceat(np.append(planted[flat] * values, 0), starts[:-1].astype(int)) * (sizes > 0)
    targets = sums if loss == "squared" else np.where(sums + 0.1 * rng.normal(size=rows) > 0, 1, -1)
    importance = rng.choice([0.5, 1, 2], rows).astype(np.float32)
    return starts, names[flat], values, targets.astype(np.float32), importance


def batch_of(data, begin: int = 0, end: int | None = None) -> Batch:
    starts, keys, values, targets, importance = data
    end = len(targets) if end is None else end
    first, last = int(starts[begin]), int(starts[end])
    cut = slice(first, last)
    return Batch.from_arrays(
        starts[begin : end + 1] - np.uint64(first),
        keys[cut],
        values[cut],
        targets[begin:end],
        importance[begin:end],
    )


def learner(k: int, loss: str, common: dict | None = None, **parameters) -> Mission:
    chosen = MissionParameters(**{"step": "constant", "sketch_width": 64, **parameters})
    return Mission(Common(**{"k": k, "learning_rate": 0.1, **(common or {})}), chosen, Task(loss))


def selected(mission: Mission) -> dict[int, np.float32]:
    chosen = mission.selection()
    return {int(name): weight for name, weight in zip(chosen.raw_names, chosen.weights, strict=True)}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    active=st.sampled_from(("exact", "estimated")),
    depth=st.sampled_from((1, 3, 5, 7)),
    k=st.integers(1, 12),
    l2=st.sampled_from((0.0, 0.01)),
    gamma=st.sampled_from((1.0, 0.97)),
    intercept=st.booleans(),
)
def test_equals_the_oracle(seed, loss, active, depth, k, l2, gamma, intercept):
    data = draw_rows(seed, 80, 40, loss)
    mission = learner(
        k,
        loss,
        {"l2": l2, "intercept": intercept, "seed": seed},
        active=active,
        sketch_depth=depth,
        gamma=gamma,
    )
    twin = MissionOracle(store_of(active, depth, 64, seed, k), loss, 0.1, l2, gamma, intercept)
    scores = mission.update(batch_of(data))
    expected = [
        twin.learn(keys, values, float(y), float(h))
        for (keys, values), y, h in zip(as_rows(*data[:3]), *data[3:], strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    found, wanted = selected(mission), twin.selected()
    # Rounding may order two weights of nearly one size either way: then the sets differ by those.
    for key in found.keys() ^ wanted.keys():
        weight = found.get(key, wanted.get(key))
        assert abs(abs(weight) - min(map(abs, found.values()))) < 1e-4
    for key in found.keys() & wanted.keys():
        assert found[key] == pytest.approx(wanted[key], rel=1e-3, abs=1e-5)
    assert mission.intercepts()[0] == pytest.approx(twin.intercept, rel=1e-4, abs=1e-5)
    assert mission.kernel.take_progress()[0] == pytest.approx(twin.progressive, rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    active=st.sampled_from(("exact", "estimated")),
    gamma=st.sampled_from((1.0, 0.99)),
    cuts=st.lists(st.integers(0, 300), max_size=12),
)
def test_batches_and_restores_change_nothing(seed, active, gamma, cuts):
    data = draw_rows(seed, 300, 200, "logistic")
    whole = learner(8, "logistic", {"l2": 0.001}, active=active, gamma=gamma)
    scores = whole.update(batch_of(data))
    parts = learner(8, "logistic", {"l2": 0.001}, active=active, gamma=gamma)
    given_scores = []
    edges = sorted({0, 300, *cuts})
    for begin, end in itertools.pairwise(edges):
        given_scores.append(parts.update(batch_of(data, begin, end)))
        saved = parts.state()
        parts = learner(8, "logistic", {"l2": 0.001}, active=active, gamma=gamma)
        parts.restore(saved)
    assert np.concatenate(given_scores).tobytes() == scores.tobytes()
    assert selected(parts) == selected(whole)
    assert sorted(parts.state()) == sorted(whole.state())
    for name, array in whole.state().items():
        if not name.startswith("active"):
            np.testing.assert_array_equal(parts.state()[name], array)


@pytest.mark.parametrize("active", ["exact", "estimated"])
def test_exactly_k_come_out_and_ties_go_by_name(active):
    keys = np.array([7, 10, 9, 100], dtype=np.uint64)
    batch = Batch.from_arrays(
        np.array([0, 4], dtype=np.uint64), keys, np.ones(4, np.float32), np.ones(1, np.float32)
    )
    mission = learner(2, "logistic", active=active, sketch_width=1 << 16)
    mission.update(batch)
    assert len(mission.selection()) == 2
    many = learner(3, "logistic", active=active, sketch_width=1 << 16)
    many.update(batch)
    assert sorted(many.selection().raw_names) == [b"10", b"100", b"7"]


@pytest.mark.parametrize("active", ["exact", "estimated"])
@pytest.mark.parametrize("loss", ["squared", "squared-hinge"])
def test_diverging_steps_are_named(active, loss):
    data = draw_rows(3, 400, 10, loss)
    mission = learner(5, loss, {"learning_rate": 50.0}, active=active)
    with pytest.raises(FsstreamError, match="diverged") as caught:
        all(mission.update(batch_of(data)) is not None for _ in range(20))
    assert "--learning-rate" in caught.value.hint


@pytest.mark.parametrize("active", ["exact", "estimated"])
def test_a_key_met_under_another_name_is_counted(active):
    starts = np.array([0, 1, 2, 3], dtype=np.uint64)
    batch = Batch.from_arrays(
        starts,
        np.full(3, 5, dtype=np.uint64),
        np.ones(3, np.float32),
        np.ones(3, np.float32),
        names=[b"first", b"other", b"first"],
    )
    mission = learner(2, "logistic", active=active)
    mission.update(batch)
    assert mission.selection().raw_names == [b"first"]
    facts = mission.facts()
    assert facts["collisions"] == 1
    assert facts["collided"] == [("first", "other")]


@pytest.mark.parametrize("active", ["exact", "estimated"])
def test_a_warm_start_scores_as_the_model_it_came_from(active):
    data = draw_rows(11, 300, 100, "logistic")
    old = learner(20, "logistic", active=active, sketch_width=1 << 14)
    old.update(batch_of(data))
    chosen = old.selection()
    keys = np.array([int(name) for name in chosen.raw_names], dtype=np.uint64)
    new = learner(20, "logistic", active=active, sketch_width=1 << 14)
    new.start_from(Model(chosen, old.intercepts(), "binary", "logistic", ("-1", "1")))
    assert selected(new) == pytest.approx(selected(old), rel=1e-5)
    weights = dict(zip(keys.tolist(), chosen.weights.tolist(), strict=True))
    expected = [
        old.intercepts()[0] + sum(weights.get(key, 0.0) * x for key, x in zip(keys_, values, strict=True))
        for keys_, values in as_rows(*data[:3])
    ]
    np.testing.assert_allclose(new.kernel.predict(batch_of(data)), expected, rtol=1e-4, atol=1e-5)


def test_names_are_bounded_by_the_active_set():
    mission = learner(10, "logistic", sketch_width=1 << 12)
    bytes_before = None
    for part in range(40):
        names = [b"a rather long name of feature %08d" % i for i in range(part * 500, part * 500 + 500)]
        batch = Batch.from_arrays(
            np.arange(501, dtype=np.uint64),
            np.arange(part * 500, part * 500 + 500, dtype=np.uint64) * 7919 + 1,
            np.ones(500, np.float32),
            np.where(np.arange(500) % 3 == 0, 1, -1).astype(np.float32),
            names=names,
        )
        mission.update(batch)
        if part == 2:
            bytes_before = mission.kernel.memory_used
    assert mission.kernel.memory_used <= bytes_before


def named(batch: Batch) -> Batch:
    return Batch.from_arrays(
        batch.row_starts,
        batch.keys,
        batch.values,
        batch.targets,
        batch.importance,
        names=[b"name of %d" % key for key in batch.keys.tolist()],
    )


@pytest.mark.parametrize("active", ["exact", "estimated"])
def test_a_step_over_rows_ends_where_names_change_their_kind_and_the_run_goes_on(active):
    data = draw_rows(5, 60, 40, "logistic")

    def scores(ends: list[int]) -> bytes:
        mission = learner(8, "logistic", active=active, batch=5)
        parts = [mission.update(batch_of(data, 0, 7))]
        parts += [mission.update(named(batch_of(data, *part))) for part in itertools.pairwise([7, *ends])]
        return np.concatenate(parts).tobytes()

    assert scores([60]) == scores(list(range(8, 61)))
