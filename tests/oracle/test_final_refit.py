"""Short streams: all rows are kept, and fitting them decides what stays."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.merging.shards import Shards
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters
from fsstream.errors import CorruptError, UsageError
from tests.oracle.final_refit_oracle import refit
from tests.oracle.final_refit_oracle import values as values_of
from tests.oracle.newton_oracle import NewtonOracle
from tests.oracle.test_mission import as_rows, batch_of, draw_rows, selected
from tests.oracle.test_tables import draw_table


def learner(k: int, loss: str = "logistic", common: dict | None = None, **parameters) -> Mission:
    chosen = MissionParameters(**{"sketch_width": 64, **parameters})
    return Mission(Common(**{"k": k, **(common or {})}), chosen, Task(loss))


MADE_UP = 0.8  # of the loss of the kept rows


def rows_kept(ours: Mission) -> int:
    return ours.kernel.counts()["rows_refitted"]


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("k", [1, 4, 9, 40])
def test_equals_the_oracle(k, intercept, loss):
    told = [check(draw_rows(seed, 80, 40, loss), k, intercept=intercept, loss=loss) for seed in range(20)]
    assert sum(told) >= 4


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_of_a_table_it_equals_the_oracle(k, loss):
    tables = [draw_table(seed, 80, 14, 0.2 * (seed % 2)) for seed in range(6)]
    told = [check(table, k, intercept=True, loss=loss) for table in tables]
    assert sum(told) >= 2


def check(data, k: int, *, intercept: bool, loss: str) -> bool:
    """The learner against its twin, then fitted; False: two claims, or ridges, are too near to tell."""
    data[-1][::9] = 0  # rows that are scored, not learned from
    if loss == "squared" and intercept:
        data[3][:] += 1_000  # which no weight is to explain
    ours = learner(k, loss, common={"intercept": intercept})
    ours.update(batch_of(data))
    twin = NewtonOracle(loss, k, ours.depth, 64, 0, intercept)
    starts, keys, values, targets, importance = data
    rows = list(as_rows(starts, keys, values))
    for (row_keys, row_values), y, h in zip(rows, targets, importance, strict=True):
        twin.learn(row_keys, row_values, float(y), float(h))
    pool = sorted({*twin.weights, *twin.left})
    dense = np.zeros((len(targets), len(pool)))
    for row, (row_keys, row_values) in enumerate(rows):
        for key, x in zip(row_keys, row_values, strict=True):
            if key in pool:
                dense[row, pool.index(key)] = x
    counts = importance > 0
    means = np.array([twin.means.mean(key) for key in pool])
    columns, weights, constant, narrowest = refit(
        dense[counts], targets[counts], importance[counts], k, means, intercept=intercept, loss=loss
    )
    if narrowest < 0.02:
        return False
    of_fit = {pool[column]: weight for column, weight in zip(columns, weights, strict=True)}
    of_pass = 0.5 if loss == "logistic" else 0.0
    expected = {
        key: of_pass * float(twin.written(key)) + (1 - of_pass) * weight for key, weight in of_fit.items()
    }
    near = 2e-3 if loss == "logistic" else 2e-2  # a step by conjugate gradients ends a thousandth short
    assert selected(ours) == pytest.approx(expected, rel=5e-3, abs=near)
    of_means = sum(weight * twin.means.mean(key) for key, weight in expected.items())
    means_of_rows = dict(
        zip(pool, np.average(dense[counts], axis=0, weights=importance[counts]), strict=True)
    )
    added = sum(
        float(twin.written(key)) * (means_of_rows[key] - twin.means.mean(key))
        for key in twin.weights
        if key not in of_fit
    )
    scores = dense[counts] @ [expected.get(key, 0.0) for key in pool]
    constants = [
        of_pass * (twin.at_means() + more * intercept) + (1 - of_pass) * constant - of_means
        for more in (0.0, added)
    ]
    losses = [
        importance[counts] @ values_of(loss, scores + constant, targets[counts]) for constant in constants
    ]
    if abs(constants[0] - constants[1]) > near and abs(losses[1] / losses[0] / MADE_UP - 1) < 0.002:
        return False
    written = constants[1 if losses[1] < MADE_UP * losses[0] else 0]
    assert ours.kernel.intercept == pytest.approx(written, rel=5e-3, abs=near)
    return True


def copies() -> Batch:
    """Two columns that say the same, and one that says something else; two labels in three lie between."""
    rng = np.random.default_rng(1)
    one, other = (rng.choice([-1.0, 1.0], 400) for _ in range(2))
    targets = np.sign(one + 0.8 * other + rng.normal(size=400))
    values = np.column_stack([one, one, 0.9 * other]).astype(np.float32)
    starts = np.arange(0, 1_201, 3, dtype=np.uint64)
    keys = np.tile(np.arange(3, dtype=np.uint64), 400)
    return Batch.from_arrays(starts, keys, values.ravel(), targets.astype(np.float32))


def test_one_of_two_that_say_the_same_makes_room():
    ours = learner(2)
    ours.update(copies())
    chosen = selected(ours)
    assert 2 in chosen
    assert len(chosen) == 2
    assert rows_kept(ours) == 400


@pytest.mark.parametrize("seed", [32, 33, 34, 38, 39])
def test_what_the_fit_drops_is_made_up_for_by_the_intercept(seed):
    """A column of 100 had a weight in the pass, on which the intercept counts, and none in the fit."""
    rng = np.random.default_rng(seed)
    targets = np.where(rng.random(170) < 0.75, 1, -1).astype(np.float32)
    starts, keys, values = [0], [], []
    for row, y in enumerate(targets):
        words = 2 if row < 5 else 30  # a table first, and then none
        keys += [*range(21), *range(1000 + 60 * row, 1000 + 60 * row + words)]
        values += [100 - 0.01 * abs(rng.normal()), *(rng.normal(size=20) + 0.8 * y), *[1.0] * words]
        starts.append(len(keys))
    arrays = np.array(starts, np.uint64), np.array(keys, np.uint64), np.array(values, np.float32)
    ours = learner(20, sketch_width=0)
    ours.update(Batch.from_arrays(*arrays, targets))
    weights = selected(ours)
    scores = np.array(
        [sum(weights.get(key, 0) * x for key, x in zip(*row, strict=True)) for row in as_rows(*arrays)]
    )
    losses = np.logaddexp(0, -targets * (scores + ours.kernel.intercept))
    assert losses.mean() < 0.5


def test_a_stream_that_does_not_fit_is_learned_as_without():
    data = draw_rows(2, 3_000, 40, "logistic")
    kept, dropped, without = learner(5), learner(5), learner(5, refit="no")
    long = np.arange(0, 1_400_001, 7_000, dtype=np.uint64)  # 16.8 million bytes and some
    keys = np.tile(np.arange(7_000, dtype=np.uint64), 200)
    rows = Batch.from_arrays(long, keys, np.ones(1_400_000, np.float32), np.ones(200, np.float32))
    for ours in (dropped, without):
        ours.update(rows)
    for ours in (kept, dropped, without):
        ours.update(batch_of(data))
    assert (rows_kept(kept), rows_kept(dropped), rows_kept(without)) == (3_000, 0, 0)
    assert selected(dropped) == selected(without)
    assert dropped.kernel.intercept == without.kernel.intercept
    assert dropped.kernel.memory_used == without.kernel.memory_used
    again = learner(5)
    again.restore(dropped.state())
    assert selected(again) == selected(without)


@pytest.mark.parametrize("cut", [1, 100, 239])
def test_batches_a_saved_state_and_asking_between_change_nothing(cut):
    data = draw_rows(3, 240, 40, "logistic")
    data[-1][5] = 0
    whole, before, after = learner(4), learner(4), learner(4)
    whole.update(batch_of(data))
    before.update(batch_of(data, 0, cut))
    before.selection()
    after.restore(before.state())
    after.update(batch_of(data, cut, 240))
    assert selected(after) == selected(whole)
    assert after.kernel.intercept == whole.kernel.intercept
    first, second = whole.state(), after.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_the_unit_of_a_column_does_not_matter():
    starts, keys, values, targets, importance = draw_rows(3, 300, 30, "logistic")
    unit = {key: 2.0 ** ((i % 15) - 7) for i, key in enumerate(np.unique(keys).tolist())}
    scaled = (np.array([unit[key] for key in keys.tolist()]) * values).astype(np.float32)
    plain, other = learner(10, sketch_width=1 << 14), learner(10, sketch_width=1 << 14)
    plain.update(batch_of((starts, keys, values, targets, importance)))
    other.update(batch_of((starts, keys, scaled, targets, importance)))
    weights = selected(other)
    assert {key: weights[key] * unit[key] for key in weights} == selected(plain)


def test_rows_that_come_again_are_kept_once():
    data = draw_rows(4, 200, 30, "logistic")
    ours = learner(5, common={"passes": 3})
    for _ in range(3):
        ours.update(batch_of(data))
        ours.end_pass()
    assert rows_kept(ours) == 200


def test_a_model_to_start_from_has_rows_that_are_not_here():
    data = draw_rows(5, 100, 30, "logistic")
    ours = learner(5)
    ours.kernel.seed(b"77", 77, 1.5)
    ours.update(batch_of(data))
    assert rows_kept(ours) == 0


@pytest.mark.parametrize(
    ("loss", "common", "parameters"),
    [
        ("squared-hinge", {}, {}),
        ("logistic", {}, {"forget": 0.99}),
        ("logistic", {}, {"refit": "no"}),
        ("logistic", {"memory": 400_000}, {}),
    ],
)
def test_where_nothing_is_kept(loss, common, parameters):
    ours = learner(3, loss, common, **parameters)
    ours.update(batch_of(draw_rows(6, 20_000, 30, loss)))
    assert rows_kept(ours) == 0


def test_what_never_refits_refuses_to_be_told():
    with pytest.raises(UsageError, match="refit"):
        learner(3, refit="no", step="constant")


def merged(shards: list[Mission]) -> Mission:
    whole = learner(4)
    whole.merge(Shards([shard.state() for shard in shards], [100] * len(shards)))
    return whole


def test_rows_of_short_shards_are_those_of_one_stream():
    data = draw_rows(7, 300, 40, "logistic")
    shards = [learner(4) for _ in range(3)]
    for i, shard in enumerate(shards):
        shard.update(batch_of(data, 100 * i, 100 * i + 100))
    both = merged(shards)
    assert rows_kept(both) == 300
    assert len(selected(both)) == 4
    both.update(batch_of(draw_rows(8, 50, 40, "logistic")))
    assert rows_kept(both) == 350
    without_room = learner(4, refit="no")  # as with too little --memory
    without_room.update(batch_of(data, 0, 100))
    assert rows_kept(merged([*shards[:2], without_room])) == 0


def test_more_rows_than_are_kept_are_no_state():
    ours, small = learner(3), learner(3, common={"memory": 500_000})
    ours.update(batch_of(draw_rows(6, 5_000, 30, "logistic")))
    assert small.room > 0
    with pytest.raises(CorruptError, match="rows"):
        small.restore(ours.state())
