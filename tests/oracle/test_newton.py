"""The adaptive kernel against its slow twin, and what its rule promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.merging.newton import in_scale
from fsstream.algorithms.merging.shards import Shards
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters, numbers_of_part
from fsstream.errors import CorruptError, UsageError
from tests.oracle.newton_oracle import NewtonOracle, flow, follow
from tests.oracle.test_mission import LOSSES, as_rows, batch_of, draw_rows, selected


def made(k: int, loss: str, common: dict | None = None, **parameters) -> Mission:
    chosen = MissionParameters(**{"sketch_width": 64, **parameters})
    return Mission(Common(**{"k": k, **(common or {})}), chosen, Task(loss))


def learner(k: int, loss: str, common: dict | None = None, **parameters) -> Mission:
    """What the pass says; the refit of short streams is in test_final_refit.py."""
    return made(k, loss, common, refit="no", **parameters)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("u", [-3.0, -0.5, 0.0, 0.7, 2.0])
@pytest.mark.parametrize("a", [1e-3, 0.3, 2.0])
def test_the_closed_form_follows_the_loss(loss, u, a):
    assert flow(loss, u, 1.0, a) == pytest.approx(follow(loss, u, 1.0, a), rel=1e-3, abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    depth=st.sampled_from((1, 3, 5)),
    k=st.integers(1, 12),
    intercept=st.booleans(),
    forget=st.sampled_from((1.0, 0.97)),
    silent=st.sampled_from((0.0, 0.2)),
    passes=st.integers(1, 2),
)
def test_equals_the_oracle(seed, loss, depth, k, intercept, forget, silent, passes):
    data = draw_rows(seed, 60, 40, loss)
    data[-1][np.random.default_rng(seed).random(60) < silent] = 0  # rows that are scored, not learned from
    data[2][::17] *= 100  # values far beyond their units
    ours = learner(k, loss, {"intercept": intercept}, sketch_depth=depth, forget=forget)
    twin = NewtonOracle(loss, k, depth, 64, 0, intercept, forget)
    starts, keys, values, targets, importance = data
    for number in range(passes):
        if number > 0:
            ours.kernel.repeat_rows()
            twin.repeats = True
        scores = ours.update(batch_of(data))
        expected = [
            twin.learn(row_keys, row_values, float(y), float(h))
            for (row_keys, row_values), y, h in zip(
                as_rows(starts, keys, values), targets, importance, strict=True
            )
        ]
        np.testing.assert_allclose(scores, expected, rtol=2e-3, atol=2e-4)
    assert selected(ours) == pytest.approx(twin.selected(), rel=2e-3, abs=1e-5)
    assert ours.kernel.intercept == pytest.approx(twin.calibrated_intercept(), rel=2e-3, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), loss=st.sampled_from(LOSSES), cut=st.integers(1, 59))
def test_batches_and_a_saved_state_change_nothing(seed, loss, cut):
    data = draw_rows(seed, 60, 40, loss)
    whole, before, after = (learner(4, loss) for _ in range(3))
    whole.update(batch_of(data))
    before.update(batch_of(data, 0, cut))
    after.restore(before.state())
    after.update(batch_of(data, cut, 60))
    assert selected(after) == selected(whole)
    assert after.kernel.intercept == whole.kernel.intercept
    first, second = whole.state(), after.state()
    assert all(np.array_equal(first[name], second[name]) for name in ("sketch", "newton"))


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
def test_scores_that_are_too_large_make_weights_smaller(loss):
    """Labels that the features say nothing of: what is written is nearly nothing, whatever was learned."""
    starts, keys, values, targets, _ = draw_rows(5, 300, 30, loss)
    noise = np.random.default_rng(5).permutation(targets)
    ours = learner(30, loss, sketch_width=1 << 12)
    ours.update(batch_of((starts, keys, values, noise, np.ones_like(noise))))
    shares = written_shares(ours).values()
    assert max(shares) < 0.5
    assert min(shares) > 0


def test_what_was_hardly_let_in_is_trusted_less():
    """Ten features that say something and 3,000 that do not, for 100 places."""
    rng = np.random.default_rng(4)
    count, size = 4_000, 20
    drawn = [
        (rng.choice(10, 5, replace=False), rng.choice(3_000, size - 5, replace=False)) for _ in range(count)
    ]
    keys = np.array([np.concatenate([told, 10 + noise]) for told, noise in drawn])
    sides = np.where(np.arange(3_010) < 10, np.where(np.arange(3_010) % 2 == 0, 1.5, -1.5), 0.0)
    targets = np.where(rng.random(count) < 1 / (1 + np.exp(-sides[keys].sum(axis=1))), 1.0, -1.0)
    starts = np.arange(0, count * size + 1, size, dtype=np.uint64)
    values, ones = np.ones(keys.size, np.float32), np.ones(count, np.float32)
    ours = learner(100, "logistic", sketch_width=1 << 14)
    ours.update(batch_of((starts, keys.ravel().astype(np.uint64), values, targets.astype(np.float32), ones)))
    shares = written_shares(ours)
    assert min(shares[key] for key in range(10)) > 2 * np.median([shares[key] for key in shares if key >= 10])


def written_shares(ours: Mission) -> dict[int, float]:
    """What is written of each weight that was learned."""
    state = ours.state()
    learned = dict(zip(state["active_keys"].tolist(), state["active_weights"].tolist(), strict=True))
    return {key: float(weight) / (scale_of(ours) * learned[key]) for key, weight in selected(ours).items()}


def test_rows_that_come_again_say_nothing_of_rows_to_come():
    data = draw_rows(6, 200, 30, "logistic")
    ours = learner(10, "logistic", {"passes": 2})
    ours.update(batch_of(data))
    ours.end_pass()
    scale, trust = scale_of(ours), ours.state()["trust"]
    assert scale != 1
    ours.update(batch_of(data))
    state = ours.state()
    assert scale_of(ours) == scale
    assert np.array_equal(state["trust"], trust)
    assert ours.kernel.intercept == state["newton"][0]  # no slope, no offset


def test_a_saved_state_knows_that_rows_come_again():
    data = draw_rows(6, 200, 30, "logistic")
    whole, before, after = (made(10, "logistic", {"passes": 2}) for _ in range(3))
    for ours in (whole, before):
        ours.update(batch_of(data))
        ours.end_pass()
    after.restore(before.state())
    for ours in (whole, after):
        ours.update(batch_of(data))
    first, second = whole.state(), after.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert len(first["0/waiting_targets"]) == 200
    assert selected(after) == selected(whole)


def test_of_shards_the_rows_of_one_came_again():
    data = draw_rows(6, 200, 30, "logistic")
    once, twice = (learner(10, "logistic", {"passes": 2}) for _ in range(2))
    once.update(batch_of(data, 0, 100))
    twice.update(batch_of(data, 100, 200))
    twice.end_pass()
    whole = learner(10, "logistic")
    whole.merge(Shards([once.state(), twice.state()], [100, 100]))
    scale, trust = scale_of(whole), whole.state()["trust"]
    whole.update(batch_of(data))
    state = whole.state()
    assert scale_of(whole) == scale
    assert np.array_equal(state["trust"], trust)
    assert whole.kernel.intercept == state["newton"][0]


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_common_scale_is_learned_where_scores_have_one(loss):
    """Many features that say the same: each is too small while it waits for its rows."""
    rng = np.random.default_rng(9)
    size = 20
    keys = np.concatenate([rng.choice(2_000, size, replace=False) for _ in range(2_000)]).astype(np.uint64)
    sides = np.where(np.arange(2_000) % 2 == 0, 1.0, -1.0)
    targets = np.sign(sides[keys.astype(np.int64)].reshape(-1, size).sum(axis=1) + 0.5).astype(np.float32)
    starts = np.arange(0, 2_000 * size + 1, size, dtype=np.uint64)
    rows = batch_of((starts, keys, np.ones(len(keys), np.float32), targets, np.ones(2_000, np.float32)))
    ours = learner(2_000, loss, sketch_width=1 << 14)
    ours.update(rows)
    assert scale_of(ours) == 1 if loss == "squared" else scale_of(ours) > 1.01


@pytest.mark.parametrize("scale", [0.25, 3.0])
def test_a_state_in_another_scale_says_the_same(scale):
    data = draw_rows(7, 300, 40, "logistic")
    ours, other = learner(60, "logistic"), learner(60, "logistic")
    ours.update(batch_of(data))
    other.restore(in_scale(ours.state(), scale, numbers_of_part(ours.depth)))
    assert scale_of(other) == scale
    assert selected(other) == pytest.approx(selected(ours), rel=1e-2)  # the prior has no scale
    assert other.kernel.intercept == ours.kernel.intercept
    own, changed = ours.state()["sketch"].reshape(-1, 16), other.state()["sketch"].reshape(-1, 16)
    part = numbers_of_part(ours.depth)
    np.testing.assert_allclose(changed[:, :-part] * scale, own[:, :-part] * scale_of(ours), rtol=1e-5)


@pytest.mark.parametrize(("name", "size"), [("newton", 11), ("trust", 23)])
def test_a_state_of_another_version_is_refused(name, size):
    ours = learner(5, "logistic")
    ours.update(batch_of(draw_rows(7, 50, 20, "logistic")))
    state = {**ours.state(), name: np.resize(ours.state()[name], size)}
    with pytest.raises(CorruptError, match=name):
        learner(5, "logistic").restore(state)
    with pytest.raises(CorruptError, match=name):
        ours.merged(Shards([state, state], [50, 50]))


def scale_of(ours: Mission) -> float:
    return float(ours.state()["newton"][11])


def test_a_huge_value_in_a_small_column_does_not_throw_the_score():
    """Columns of about 1 whose thousandth row has a value of 10,000."""
    rng = np.random.default_rng(8)
    values = rng.uniform(0.5, 1.5, size=(1_000, 3)).astype(np.float32)
    targets = values.sum(axis=1)
    values[-1, 0] = 10_000
    starts = np.arange(0, 3_001, 3, dtype=np.uint64)
    keys = np.tile(np.arange(3, dtype=np.uint64), 1_000)
    data = starts, keys, values.ravel(), targets, np.ones(1_000, np.float32)
    scores = learner(3, "squared", sketch_width=1 << 12).update(batch_of(data))
    assert abs(scores[-1]) < 20


@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_of_a_column_does_not_matter(loss):
    starts, keys, values, targets, importance = draw_rows(3, 300, 30, loss)
    importance = np.ones_like(importance)
    unit = {key: 2.0 ** ((i % 15) - 7) for i, key in enumerate(np.unique(keys).tolist())}
    scaled = np.array([unit[key] for key in keys.tolist()]) * values
    plain = learner(10, loss, sketch_width=1 << 14)
    other = learner(10, loss, sketch_width=1 << 14)
    one = plain.update(batch_of((starts, keys, values, targets, importance)))
    two = other.update(batch_of((starts, keys, scaled.astype(np.float32), targets, importance)))
    assert np.array_equal(one, two)  # powers of two: not even rounding differs
    weights = selected(other)
    assert {key: weights[key] * unit[key] for key in weights} == selected(plain)


def test_a_weight_is_a_row_as_often():
    starts, keys, values, targets, _ = draw_rows(8, 1, 20, "logistic")
    heavy = learner(20, "squared", {"intercept": False}, sketch_width=1 << 12)
    heavy.update(batch_of((starts, keys, values, targets, np.array([1e6], np.float32))))
    weights = selected(heavy)
    reached = sum(
        float(weights[key]) * float(x) for key, x in zip(keys.tolist(), values.tolist(), strict=True)
    )
    assert reached == pytest.approx(float(targets[0]), rel=1e-3)  # arrives, and does not overshoot


@pytest.mark.parametrize(
    ("common", "parameters"),
    [({"learning_rate": 0.1}, {}), ({"l2": 0.1}, {}), ({}, {"gamma": 0.9}), ({}, {"active": "estimated"})],
)
def test_what_adaptive_steps_would_ignore_is_refused(common, parameters):
    with pytest.raises(UsageError, match="adaptive"):
        made(3, "logistic", common, step="adaptive", **parameters)
    assert not made(3, "logistic", common, **parameters).adaptive  # asked for without a word on steps


@pytest.mark.parametrize("rule", [{}, {"step": "constant"}], ids=str)
def test_what_is_forgotten_is_relearned_sooner(rule):
    starts, keys, values, targets, importance = draw_rows(21, 900, 30, "logistic")
    turned = targets.copy()
    turned[600:] *= -1  # the stream changes its mind
    data = starts, keys, values, turned, np.ones_like(importance)
    late = {}
    for forget in (1.0, 0.99):
        scores = made(20, "logistic", forget=forget, sketch_width=1 << 12, **rule).update(batch_of(data))
        late[forget] = np.mean(np.log1p(np.exp(-turned * scores))[650:])
    assert late[0.99] < late[1.0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", [100, 1_000])
def test_of_positive_columns_the_one_that_is_the_label_is_found(loss, rows):
    """A value in its own unit is 1 whatever it is; in that of its column it is large or small."""
    starts = np.arange(0, 8 * rows + 1, 8, dtype=np.uint64)
    keys = np.tile(np.arange(8, dtype=np.uint64), rows)
    for seed in range(8):
        X = np.random.default_rng(seed).random((rows, 8), np.float32)
        targets = np.where(X[:, 2] > 0.5, 1, -1).astype(np.float32)
        ours = made(2, loss, sketch_width=1 << 10)
        ours.update(batch_of((starts, keys, X.ravel(), targets, np.ones(rows, np.float32))))
        assert 2 in selected(ours), seed


def test_the_intercept_does_not_wait_for_long_rows():
    """A tenth of the rows is positive, and nothing tells which: there is only to learn how few they are."""
    rng = np.random.default_rng(1)
    rows, entries = 400, 300
    keys = np.concatenate([rng.choice(2_000, entries, replace=False) for _ in range(rows)]).astype(np.uint64)
    starts = np.arange(0, rows * entries + 1, entries, dtype=np.uint64)
    targets = np.where(rng.random(rows) < 0.1, 1, -1).astype(np.float32)
    ours = made(5, "logistic", sketch_width=1 << 12)
    ones = np.ones(len(keys), np.float32)
    ours.update(batch_of((starts, keys, ones, targets, ones[:rows])))
    assert ours.state()["newton"][0] == pytest.approx(np.log(0.1 / 0.9), abs=0.4)
