"""Pairs made on the fly against pairs written out, and the bootstrap against learners of weighted rows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fsstream import run
from fsstream._native import Batch, pair_key
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters
from fsstream.algorithms.stability import poisson_draws
from fsstream.config import SelectOptions
from fsstream.errors import LimitError
from fsstream.model import Model
from fsstream.model_file import load_model
from fsstream.pairs import pair_name, single_name
from fsstream.selection import Selection
from tests.oracle.test_mission import batch_of, draw_rows

NAMES = [b"a", b"b*", b"c\\d", b"10", b"9"]


def named_rows(rows: int) -> tuple[list[list[tuple[bytes, float]]], list[float]]:
    """Rows of named features; the label is the sign of a product."""
    rng = np.random.default_rng(3)
    table, labels = [], []
    for _ in range(rows):
        values = rng.choice([-1.0, 1.0], len(NAMES))
        table.append(list(zip(NAMES, values.tolist(), strict=True)))
        labels.append(float(values[0] * values[1]))
    return table, labels


def with_pairs(row: list[tuple[bytes, float]]) -> list[tuple[bytes, float]]:
    products = [(pair_name(a, b), x * y) for (a, x), (b, y) in itertools.combinations(row, 2)]
    return [(single_name(name), x) for name, x in row] + products


def as_batch(table, labels) -> Batch:
    names = [name for row in table for name, _ in row]
    keys = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return Batch.from_arrays(
        np.cumsum([0, *map(len, table)]).astype(np.uint64),
        np.array([keys[name] for name in names], np.uint64),
        np.array([x for row in table for _, x in row], np.float32),
        np.array(labels, np.float32),
        names=names,
    )


def test_pairs_are_named_and_multiplied_as_written_out():
    table, labels = named_rows(50)
    rows = as_batch(table, labels)
    made, left = rows.with_pairs(0, 1 << 20, 100, 1)
    expected = [entry for row in table for entry in with_pairs(row)]
    assert left == 50
    assert made.names() == [name for name, _ in expected]
    np.testing.assert_array_equal(made.values, np.array([x for _, x in expected], np.float32))
    assert made.keys[len(NAMES)] == pair_key(int(rows.keys[0]), int(rows.keys[1]))
    assert pair_key(1, 2) == pair_key(2, 1)
    assert len({pair_key(a, b) for a in range(40) for b in range(a)}) == 40 * 39 // 2


def test_a_product_is_found_and_predicts(tmp_path):
    table, labels = named_rows(300)
    text = "".join(
        f"{y:g} " + " ".join(f"{name.decode()}:{x:g}" for name, x in row) + "\n"
        for row, y in zip(table, labels, strict=True)
    )
    path = tmp_path / "rows"
    path.write_text(text)
    options = {"inputs": (str(path),), "k": 1, "format": "pairs", "quiet": True, "algo": "mission"}
    outcome = run.select(SelectOptions(**options, set=("interactions=2",)))
    assert outcome.names == ["a*b\\*"]
    saved = tmp_path / "model"
    outcome.model.save(saved)
    assert load_model(saved).predict(str(path)).tolist() == [f"{y:g}" for y in labels]
    for size in (1, 100, 5000):
        again = run.select(SelectOptions(**options, set=("interactions=2",), block_size=size, threads=2))
        assert again.model.to_bytes() == outcome.model.to_bytes()
    onward = run.select(SelectOptions(**options, set=("interactions=2",), init=str(saved)))
    assert onward.names == ["a*b\\*"]


def test_a_row_with_too_many_pairs_is_named():
    parameters = MissionParameters(interactions=2, pairs_per_row=9)
    mission = Mission(Common(k=2), parameters, Task("logistic"))
    with pytest.raises(LimitError, match="row 1 has 5 features, which make 10 pairs") as caught:
        mission.update(as_batch(*named_rows(3)))
    assert "pairs_per_row" in caught.value.hint


def test_draws_are_poisson_and_hang_on_nothing_but_the_row():
    whole = poisson_draws(5, 2, 0, 200_000)
    assert np.array_equal(
        np.concatenate([poisson_draws(5, 2, 0, 77), poisson_draws(5, 2, 77, 199_923)]), whole
    )
    expected = [math.exp(-1) / math.factorial(times) for times in range(5)]
    np.testing.assert_allclose([np.mean(whole == times) for times in range(5)], expected, atol=0.004)
    assert not np.array_equal(whole, poisson_draws(5, 3, 0, 200_000))
    assert not np.array_equal(whole, poisson_draws(6, 2, 0, 200_000))


@pytest.mark.parametrize("rule", [{}, {"step": "constant"}], ids=str)
def test_stability_counts_replicates_of_weighted_rows(rule):
    starts, keys, values, targets, importance = data = draw_rows(7, 300, 60, "logistic")
    common, shape = Common(k=6, seed=4), {"sketch_width": 256, **rule}
    stable = Mission(common, MissionParameters(stability=5, **shape), Task("logistic"))
    for begin, end in ((0, 100), (100, 101), (101, 300)):
        stable.update(batch_of(data, begin, end))
    chosen = stable.selection()
    counts = dict.fromkeys(chosen.raw_names, 0)
    for replicate in range(5):
        weights = importance * poisson_draws(4, replicate, 0, 300)
        alone = Mission(common, MissionParameters(**shape), Task("logistic"))
        alone.update(batch_of((starts, keys, values, targets, weights)))
        for name in alone.selection().raw_names:
            if name in counts:
                counts[name] += 1
    assert chosen.extra["stability"].tolist() == pytest.approx(
        [counts[name] / 5 for name in chosen.raw_names]
    )
    assert min(chosen.extra["stability"].max(), 1) > 0
    plain = Mission(common, MissionParameters(**shape), Task("logistic"))
    plain.update(batch_of(data))
    assert plain.selection().raw_names == chosen.raw_names
    again = Mission(common, MissionParameters(stability=5, **shape), Task("logistic"))
    again.restore(stable.state())
    assert again.selection().extra["stability"].tolist() == chosen.extra["stability"].tolist()


@pytest.mark.parametrize("rule", [{}, {"step": "constant"}, {"batch": 7}], ids=str)
def test_replicates_start_and_pass_as_the_learner_does(rule):
    starts, keys, values, targets, importance = draw_rows(7, 300, 60, "logistic")
    yesterday = Selection([b"3", b"500"], np.array([1, -2], np.float32))
    model = Model(yesterday, np.array([0.5], np.float32), "binary", "logistic", ("-1", "1"))
    common, shape = Common(k=6, seed=4, passes=2), {"sketch_width": 256, **rule}
    stable = Mission(common, MissionParameters(stability=2, **shape), Task("logistic"))
    alone = [Mission(common, MissionParameters(**shape), Task("logistic")) for _ in range(2)]
    for learner in (stable, *alone):
        learner.start_from(model)
    for first in (0, 300):
        stable.update(batch_of((starts, keys, values, targets, importance)))
        stable.end_pass()
        for replicate, learner in enumerate(alone):
            weights = importance * poisson_draws(4, replicate, first, 300)
            learner.update(batch_of((starts, keys, values, targets, weights)))
            learner.end_pass()
    for kernel, learner in zip(stable.bootstrap.kernels, alone, strict=True):
        for ours, theirs in zip(kernel.top(), learner.kernel.top(), strict=True):
            assert list(ours) == list(theirs)
