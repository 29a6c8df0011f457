"""The softmax kernel on tables, whose values count from the means of their columns."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.algorithms.merging.shards import Shards
from fsstream.errors import CorruptError
from fsstream.model import Model, name_classes
from tests.oracle.softmax_oracle import AdaptiveOracle
from tests.oracle.test_mission import batch_of
from tests.oracle.test_softmax import draw_classes, learned_by, learner, same_scores, selected
from tests.oracle.test_tables import draw_table


def draw_class_table(seed: int, rows: int, columns: int, holes: float, classes: int = 4):
    """One class comes first: of two rows all columns are as far from their means, and all claims tie."""
    starts, keys, values, _, importance = draw_table(seed, rows, columns, holes)
    rng = np.random.default_rng(seed)
    targets = np.concatenate([np.zeros(5), np.arange(classes), rng.integers(0, classes, rows - classes - 5)])
    return starts, keys, values, targets.astype(np.float32), importance


@pytest.mark.parametrize("holes", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_a_table_equals_the_oracle_and_so_does_what_is_none_after_all(seed, holes):
    k, forget = (1, 4, 12)[seed % 3], (1.0, 0.97)[seed % 2]
    ours = learner(k, forget=forget, sketch_depth=3)
    twin = AdaptiveOracle(k, 3, 64, 0, True, forget=forget)
    for data in (draw_class_table(seed, 40, 20, holes), draw_classes(seed, 60, 40, 4)):
        assert twin.means.on
        same_scores(ours.update(batch_of(data)), learned_by(twin, data))
        assert selected(ours) == pytest.approx(twin.selected(), rel=2e-3, abs=1e-4)
        assert ours.intercepts() == pytest.approx(twin.written_intercepts(), rel=2e-3, abs=1e-4)
    assert not twin.means.on
    assert ours.state()["table"][0] == 0


def far_from_zero(rows: int, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Columns of 10,000 and some; each class is higher in one of them."""
    rng = np.random.default_rng(3)
    targets = rng.integers(0, classes, rows)
    cells = 10_000 + rng.normal(size=(rows, 6))
    cells[np.arange(rows), targets] += 3
    return cells.astype(np.float32), targets.astype(np.float32)


def rows_of_all(cells: np.ndarray, targets: np.ndarray) -> Batch:
    starts = np.arange(0, cells.size + 1, cells.shape[1], dtype=np.uint64)
    keys = np.tile(np.arange(cells.shape[1], dtype=np.uint64), len(cells))
    return Batch.from_arrays(starts, keys, cells.ravel(), targets)


@pytest.mark.parametrize("k", [2, 6])
def test_columns_far_from_zero_tell_classes_apart(k):
    """They were one long common direction: .33 right of these three classes."""
    cells, targets = far_from_zero(1_500)
    ours = learner(k, sketch_width=0)
    ours.update(rows_of_all(cells[:1_000], targets[:1_000]))
    scores = model_of(ours).predictor().predict(rows_of_all(cells[1_000:], targets[1_000:]))
    assert np.mean(scores.argmax(axis=1) == targets[1_000:]) > 0.9


def model_of(ours) -> Model:
    labels = tuple("abc")
    chosen = name_classes(ours.selection(), labels)
    return Model(chosen, ours.intercepts(), "classes", "softmax", labels, {"algo": "mission"})


@pytest.mark.parametrize("cut", [1, 2, 9, 30])
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_of_a_table_batches_and_a_saved_state_change_nothing(holes, cut):
    data = draw_class_table(3, 40, 20, holes)
    whole, before, after = (learner(4) for _ in range(3))
    whole.update(batch_of(data))
    before.update(batch_of(data, 0, cut))
    after.restore(before.state())
    after.update(batch_of(data, cut, 40))
    assert np.array_equal(after.intercepts(), whole.intercepts())
    assert selected(after) == selected(whole)


def test_a_model_without_state_begins_with_values_as_they_are():
    cells, targets = far_from_zero(1_000)
    old, new = learner(6), learner(6, labels=tuple("abc"))
    old.update(rows_of_all(cells, targets))
    new.start_from(model_of(old))
    one = rows_of_all(cells[:1], targets[:1])
    np.testing.assert_allclose(new.update(one), model_of(old).predictor().predict(one), rtol=1e-3, atol=1e-2)
    assert new.state()["table"][0] == 0


def test_a_table_whose_shards_are_merged_scores_as_they_did():
    cells, targets = far_from_zero(1_000)
    shards = [learner(6, labels=tuple("abc")) for _ in range(2)]
    for i, shard in enumerate(shards):
        shard.update(rows_of_all(cells[400 * i : 400 * i + 400], targets[400 * i : 400 * i + 400]))
    both = learner(6, labels=tuple("abc"))
    both.merge(Shards([shard.state() for shard in shards], [400, 400], [[0, 1, 2]] * 2))
    assert both.state()["table"][0] == 1
    scores = both.update(rows_of_all(cells[800:], targets[800:]))
    assert np.mean(scores.argmax(axis=1) == targets[800:]) > 0.9


@pytest.mark.parametrize(("name", "number"), [("table_means", np.inf), ("table_weight", -1.0), ("table", 0)])
def test_columns_that_no_stream_could_have_are_refused(name, number):
    ours = learner(5)
    ours.update(batch_of(draw_class_table(3, 40, 12, 0.1)))
    numbers = ours.state()[name].copy()
    numbers[0] = number
    with pytest.raises(CorruptError):
        learner(5).restore({**ours.state(), name: numbers})
