"""The adaptive kernel on tables, whose values count from the means of their columns."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.algorithms.merging.shards import Shards
from fsstream.errors import CorruptError
from tests.oracle.newton_oracle import NewtonOracle
from tests.oracle.test_mission import LOSSES, as_rows, batch_of, draw_rows, selected
from tests.oracle.test_newton import learner, made


def draw_table(seed: int, rows: int, columns: int, holes: float):
    """Positive columns of unlike units, the first three of which make the label; some cells are 0."""
    rng = np.random.default_rng(seed)
    cells = rng.random((rows, columns)) + rng.random(columns)
    signal = (cells[:, :3] - cells[:, :3].mean(axis=0)).sum(axis=1)
    empty = np.where(np.arange(columns) % 9 == 8, min(1, 3 * holes), holes)
    cells *= np.exp(rng.normal(0, 2, columns)) * (rng.random(cells.shape) >= empty)
    present = cells != 0
    present[rng.random(cells.shape) < holes / 2] = True  # zeros that are written down
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(np.uint64)
    keys = np.tile(np.arange(columns, dtype=np.uint64), (rows, 1))[present]
    importance = rng.choice([0.0, 0.5, 1, 2], rows).astype(np.float32)
    targets = np.where(signal > 0, 1, -1).astype(np.float32)
    return starts, keys, cells[present].astype(np.float32), targets, importance


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("holes", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_a_table_equals_the_oracle_and_so_does_what_is_none_after_all(seed, holes, loss):
    k, forget = (1, 4, 12)[seed % 3], (1.0, 0.97)[seed % 2]
    ours, twin = learner(k, loss, forget=forget), NewtonOracle(loss, k, 3, 64, 0, True, forget)
    for data in (draw_table(seed, 40, 20, holes), draw_rows(seed, 60, 40, loss)):
        starts, keys, values, targets, importance = data
        assert twin.means.on
        expected = [
            twin.learn(row_keys, row_values, float(y), float(h))
            for (row_keys, row_values), y, h in zip(
                as_rows(starts, keys, values), targets, importance, strict=True
            )
        ]
        np.testing.assert_allclose(ours.update(batch_of(data)), expected, rtol=2e-3, atol=2e-4)
        assert selected(ours) == pytest.approx(twin.selected(), rel=2e-3, abs=1e-5)
        assert ours.kernel.intercept == pytest.approx(twin.calibrated_intercept(), rel=2e-3, abs=1e-4)
    assert not twin.means.on
    assert ours.state()["table"][0] == 0


@pytest.mark.parametrize("cut", [1, 2, 9, 30])
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_of_a_table_batches_and_a_saved_state_change_nothing(holes, cut):
    data = draw_table(3, 40, 20, holes)
    whole, before, after = (made(4, "logistic") for _ in range(3))
    whole.update(batch_of(data))
    before.update(batch_of(data, 0, cut))
    after.restore(before.state())
    after.update(batch_of(data, cut, 40))
    assert after.kernel.intercept == whole.kernel.intercept
    assert selected(after) == selected(whole)


def wide_table(rows: int, columns: int) -> tuple[Batch, np.ndarray, np.ndarray, np.ndarray]:
    """Uniform columns of unlike units, five of which make the label."""
    rng = np.random.default_rng(5)
    cells = rng.random((rows, columns))
    targets = np.where(cells[:, :5].sum(axis=1) > 2.5, 1, -1).astype(np.float32)
    cells = (cells * np.exp(rng.normal(0, 3, columns))).astype(np.float32)
    starts = np.arange(0, rows * columns + 1, columns, dtype=np.uint64)
    names = rng.integers(0, 2**63, columns, dtype=np.uint64)  # some of which share a pair of evidence
    return Batch.from_arrays(starts, np.tile(names, rows), cells.ravel(), targets), cells, targets, names


@pytest.mark.parametrize("columns", [1_000, 4_000])
def test_of_thousands_of_positive_columns_those_that_make_the_label_are_found(columns):
    batch, cells, targets, names = wide_table(1_500, columns)
    ours = made(10, "logistic", sketch_width=0)
    ours.update(batch)
    chosen = selected(ours)
    assert set(names[:5].tolist()) <= set(chosen)
    weights = np.array([chosen.get(name, 0.0) for name in names.tolist()])
    scores = cells @ weights + ours.kernel.intercept
    assert np.mean((scores > 0) == (targets > 0)) > 0.85


@pytest.mark.parametrize(("memory", "is_table"), [(900_000, True), (800_000, False)])
def test_columns_that_take_more_than_a_quarter_of_the_memory_are_none(memory, is_table):
    batch, *_ = wide_table(5, 2_000)  # of 104 bytes each
    ours = learner(1, "logistic", {"memory": memory})
    ours.update(batch)
    assert bool(ours.state()["table"][0]) == is_table


def test_columns_that_have_gone_take_no_room_from_a_run_that_was_not_interrupted():
    whole, after = (learner(1, "logistic", {"memory": 900_000}) for _ in range(2))  # room for 2,163
    for keys in [range(2_000)] * 20 + [range(1_100)] * 100:
        whole.update(one_row(keys))
    after.restore(whole.state())
    for ours in (whole, after):
        ours.update(one_row([*range(1_100), *range(5_000, 5_300)]))
        assert ours.state()["table"][0] == 1
    assert whole.kernel.intercept == after.kernel.intercept


def one_row(keys) -> Batch:
    values = np.linspace(1, 2, len(keys), dtype=np.float32)
    starts = np.array([0, len(keys)], dtype=np.uint64)
    return Batch.from_arrays(starts, np.array(keys, np.uint64), values, np.ones(1, np.float32))


def test_a_table_whose_shards_are_merged_scores_as_they_did():
    data = draw_table(4, 200, 6, 0.2)
    shards = [learner(6, "logistic") for _ in range(2)]
    for i, shard in enumerate(shards):
        shard.update(batch_of(data, 100 * i, 100 * i + 100))
    states = [shard.state() for shard in shards]
    both = learner(6, "logistic")
    both.merge(Shards(states, [100, 100]))
    merged = both.state()
    totals = [state["table_weight"][0] for state in states]
    means = [state["table_means"][np.argsort(state["table_keys"])] for state in (*states, merged)]
    np.testing.assert_allclose(means[2], np.average(means[:2], axis=0, weights=totals))
    raw = [state["newton"][0] - at_means(state) for state in states]
    assert merged["newton"][0] - at_means(merged) == pytest.approx(np.mean(raw))


@pytest.mark.parametrize("others", ["columns", "words", "row"])
def test_a_merge_takes_columns_out_of_the_table_or_in_with_their_units(others):
    cells, targets = far_from_zero(1_000)
    table, other, both = (learner(5, "squared") for _ in range(3))
    table.update(rows_of_all(cells, targets))
    rows = {"columns": [[0, 1]] * 20, "words": [range(100, 130), range(200, 230)], "row": [range(5)]}[others]
    for row in rows:
        values = np.full(len(row), 10_000, np.float32)
        starts, keys = np.array([0, len(row)], np.uint64), np.array(row, np.uint64)
        other.update(Batch.from_arrays(starts, keys, values, np.zeros(1, np.float32)))
    both.merge(Shards([table.state(), other.state()], [1_000, len(rows)]))
    scores = both.update(rows_of_all(cells[:50], targets[:50]))
    assert np.mean((scores - targets[:50]) ** 2) < 0.1 * targets.var()


def at_means(state) -> float:
    """What the active features add where each column is at its mean."""
    means = dict(zip(state["table_keys"].tolist(), state["table_means"].tolist(), strict=True))
    weights = zip(state["active_keys"].tolist(), state["active_weights"].tolist(), strict=True)
    return float(state["newton"][11]) * sum(weight * means[key] for key, weight in weights)


def test_of_a_few_rows_none_is_as_far_from_a_mean_as_a_huge_value_is():
    rng = np.random.default_rng(2)
    cells = np.exp(2.5 * rng.normal(size=(40, 8))).astype(np.float32)
    targets = (20 + 5 * rng.normal(size=40)).astype(np.float32)
    starts, keys = np.arange(0, 321, 8, dtype=np.uint64), np.tile(np.arange(8, dtype=np.uint64), 40)
    scores = learner(8, "squared").update(Batch.from_arrays(starts, keys, cells.ravel(), targets))
    assert np.abs(scores).max() < 500  # 1,715 with sixteen units from the first row on


def far_from_zero(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Five columns of 10,000 and some, and what three of them make."""
    rng = np.random.default_rng(3)
    cells = (10_000 + rng.normal(size=(rows, 5))).astype(np.float32)
    signal = (cells - 10_000) @ [1, 2, -1.5, 0, 0] + 0.1 * rng.normal(size=rows)
    return cells, signal.astype(np.float32)


def rows_of_all(cells: np.ndarray, targets: np.ndarray) -> Batch:
    starts = np.arange(0, cells.size + 1, cells.shape[1], dtype=np.uint64)
    keys = np.tile(np.arange(cells.shape[1], dtype=np.uint64), len(cells))
    return Batch.from_arrays(starts, keys, cells.ravel(), targets)


@pytest.mark.parametrize("seeded", [False, True])
def test_columns_that_are_active_from_the_first_row_on_have_the_unit_of_what_is_left(seeded):
    cells, targets = far_from_zero(1_000)
    cells[:3] = cells[0]
    ours = learner(5, "squared")
    if seeded:
        ours.kernel.seed(b"0", 0, 1.0)
        ours.kernel.intercept = -10_000.0
    scores = ours.update(rows_of_all(cells, targets))
    assert np.mean((scores[500:] - targets[500:]) ** 2) < 0.05 * targets.var()


def test_a_table_whose_first_rows_are_of_zeros_is_one():
    cells, targets = far_from_zero(1_000)
    cells[[0, 2, 3]] = 0
    ours, twin = learner(2, "squared"), NewtonOracle("squared", 2, 3, 64, 0, True)
    scores = ours.update(rows_of_all(cells, targets))
    assert ours.state()["table"][:2].tolist() == [1, 997]
    expected = [twin.learn(range(5), row, y, 1.0) for row, y in zip(cells, targets.tolist(), strict=True)]
    np.testing.assert_allclose(scores, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("mean", [0, 1_000])
def test_the_weights_of_an_earlier_model_outlast_the_first_rows_of_a_table(mean):
    losses = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        cells = (mean + rng.normal(size=(50, 8))).astype(np.float32)
        targets = (cells[:, :3] - mean) @ np.array([1, 2, -1.5], np.float32)
        ours, again = (learner(3, "squared") for _ in range(2))
        for key, weight in enumerate((1.0, 2.0, -1.5)):
            ours.kernel.seed(str(key).encode(), key, weight)
        ours.kernel.intercept = -1.5 * mean
        scores = [*ours.update(rows_of_all(cells[:5], targets[:5]))]
        again.restore(ours.state())
        scores += [*again.update(rows_of_all(cells[5:], targets[5:]))]
        losses.append(np.mean((np.array(scores) - targets) ** 2) / targets.var())
    assert np.mean(losses) < 0.03  # .13 where a value was at most as far away as it can be in so few rows


def test_where_a_table_ceases_to_be_one_its_rows_score_as_before():
    cells, targets = far_from_zero(1_000)
    ours = learner(5, "squared")
    ours.update(rows_of_all(cells[:999], targets[:999]))
    keys = np.arange(6_000, dtype=np.uint64)  # mostly words
    values = np.concatenate([cells[999], np.full(5_995, 1e-6)]).astype(np.float32)
    starts = np.array([0, 6_000], dtype=np.uint64)
    score = ours.update(Batch.from_arrays(starts, keys, values, targets[999:]))[0]
    assert score == pytest.approx(targets[999], abs=0.5)
    assert ours.state()["table"][0] == 0


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("table_means", np.inf),
        ("table_means", -1e40),
        ("table_variances", np.inf),
        ("table_variances", -1e-9),
        ("table_weight", np.inf),
        ("table_missing", 40),
        ("table_keys", 7),
        ("table", 0),
    ],
)
def test_columns_that_no_stream_could_have_are_refused(name, number):
    ours = learner(5, "logistic")
    ours.update(batch_of(draw_table(3, 40, 12, 0.1)))
    numbers = ours.state()[name].copy()
    numbers[0] = number
    with pytest.raises(CorruptError):
        learner(5, "logistic").restore({**ours.state(), name: numbers})
