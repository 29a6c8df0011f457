"""The six online backends as the runner sees them: k out, passes, the search for an l1 weight, state."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import CorruptError, LimitError, UsageError
from fsstream.training import make_learner

from .online_data import batch_of

BUDGETED = ("b-arda", "b-amd", "ofs", "sofs")
L1 = ("l1-arda", "ada-fobos")


def rows_of(seed: int = 0, n: int = 200, d: int = 120):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
    planted = np.zeros(d)
    planted[:5] = 3.0
    return rows, np.where(rows @ planted + 0.1 * rng.normal(size=n) > 0, 1.0, -1.0)


def learner(name: str, common: dict, **parameters):
    kind = backend(name)
    return kind(Common(**{"intercept": False, **common}), kind.Parameters(**parameters), Task("hinge"))


def learn(chosen, rows, targets) -> int:
    scans, wanted = 0, True
    while wanted:
        chosen.update(batch_of(rows, targets))
        wanted = chosen.end_pass()
        scans += 1
    return scans


@pytest.mark.parametrize("name", BUDGETED + L1)
@pytest.mark.parametrize("k", [1, 7, 30])
def test_exactly_k_come_out(name, k):
    chosen = learner(name, {"k": k, "passes": 2})
    learn(chosen, *rows_of())
    assert len(chosen.selection()) == k
    assert np.all(chosen.selection().weights != 0)


@pytest.mark.parametrize("name", BUDGETED + L1)
def test_fewer_only_where_there_are_fewer(name):
    rows, targets = rows_of(d=6)
    chosen = learner(name, {"k": 50})
    learn(chosen, rows, targets)
    assert len(chosen.selection()) == 6


@pytest.mark.parametrize("name", BUDGETED)
def test_passes_are_scans(name):
    assert learn(learner(name, {"k": 5, "passes": 3}), *rows_of()) == 3


@pytest.mark.parametrize("name", L1)
def test_an_l1_weight_is_searched_in_rounds_and_a_given_one_is_used(name):
    assert learn(learner(name, {"k": 5, "passes": 2}, rounds=3), *rows_of()) == 6
    assert learn(learner(name, {"k": 5}, rounds=1), *rows_of()) == 1
    given = learner(name, {"l1": 0.01, "passes": 2})
    assert learn(given, *rows_of()) == 2
    assert given.facts()["l1"] == 0.01
    assert given.facts()["l1_left"] == len(given.selection()) > 0


@pytest.mark.parametrize("name", L1)
def test_more_rounds_leave_less_to_trim(name):
    left = []
    for rounds in (1, 3):
        chosen = learner(name, {"k": 20}, rounds=rounds)
        learn(chosen, *rows_of(n=400))
        left.append(chosen.facts()["l1_left"])
    assert 20 <= left[1] <= left[0]
    alone = learner(name, {"l1": chosen.facts()["l1"]})
    learn(alone, *rows_of(n=400))
    assert len(alone.selection()) == left[1]
    kept = sorted(alone.selection().raw_names[i] for i in alone.selection().order[:20])
    assert kept == sorted(chosen.selection().raw_names)


@pytest.mark.parametrize("name", BUDGETED + L1)
@pytest.mark.parametrize("stop", [1, 2, 3])
def test_a_restored_run_goes_on_bit_for_bit(name, stop):
    rows, targets = rows_of()
    common = {"k": 8, "passes": 2, "intercept": True}
    whole, first, second = (learner(name, common) for _ in range(3))
    learn(whole, rows, targets)
    wanted = True
    for _ in range(stop):
        if wanted:
            first.update(batch_of(rows, targets))
            wanted = first.end_pass()
    second.restore(first.state())
    while wanted:
        second.update(batch_of(rows, targets))
        wanted = second.end_pass()
    one, two = whole.selection(), second.selection()
    assert dict(zip(one.raw_names, one.weights, strict=True)) == dict(
        zip(two.raw_names, two.weights, strict=True)
    )
    np.testing.assert_array_equal(whole.intercepts(), second.intercepts())


@pytest.mark.parametrize("name", BUDGETED + L1)
def test_a_state_of_something_else_is_refused(name):
    with pytest.raises(CorruptError):
        learner(name, {"k": 3}).restore({"keys": np.zeros(3)})


@pytest.mark.parametrize("name", ["b-arda", "b-amd"])
def test_a_sketch_keeps_its_size(name):
    rng = np.random.default_rng(1)
    chosen = learner(name, {"k": 4, "l2": 1e-3}, store="sketch", sketch_width=256)
    sizes = []
    for _ in range(5):
        rows = np.zeros((50, 3000))
        rows[np.arange(50)[:, None], rng.integers(0, 3000, (50, 9))] = 1.0
        chosen.update(batch_of(rows, np.sign(rng.normal(size=50))))
        sizes.append(chosen.facts()["state_bytes"])
    assert sizes[0] == sizes[-1] < 20_000
    assert chosen.facts()["features_kept"] <= 8
    assert len(chosen.selection()) == 4


@pytest.mark.parametrize("name", ["b-arda", "b-amd"])
def test_a_sketch_that_cannot_fit_is_refused_before_any_row(name):
    kind = backend(name)
    parameters = kind.Parameters(store="sketch", sketch_width=1 << 20)
    with pytest.raises(LimitError, match=r"needs .* and --memory is 1\.05 MB"):
        make_learner(kind, Common(k=4, memory=1 << 20), parameters, Task("hinge"), "binary")


# ofs keeps k features only, which is known before.
@pytest.mark.parametrize("name", ["b-arda", "b-amd", "sofs", *L1])
def test_a_table_that_outgrows_the_memory_says_what_helps(name):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3000)) * (rng.random((300, 3000)) < 0.01)
    chosen = learner(name, {"k": 1000, "memory": 20_000})
    with pytest.raises(LimitError, match="19 KB") as error:
        learn(chosen, rows, np.ones(300))
    own = name in ("b-arda", "b-amd")
    assert ("keep the state in a sketch" in error.value.hint) == own
    assert "--set store=sketch" in error.value.hint


def test_a_sketch_finds_planted_features_among_many():
    rows, targets = rows_of(n=1500, d=600)
    chosen = learner("b-arda", {"k": 5}, store="sketch", sketch_width=512)
    learn(chosen, rows, targets)
    found = {int(feature) for feature in chosen.selection().raw_names}
    assert len(found & set(range(5))) >= 4


@pytest.mark.parametrize("name", BUDGETED + L1)
@pytest.mark.parametrize(
    "key_of",
    [lambda i: i << 40, lambda i: i + ((i >= 60) << 40), lambda i: 97 * i],
    ids=["all", "late", "sparse"],
)
def test_keys_may_have_any_size(name, key_of):
    """Small keys are found without hashing, others with it, and one can follow the other."""
    rows, targets = rows_of()
    rows[:100, 60:] = 0
    keys = [key_of(i) for i in range(rows.shape[1])]
    found = []
    for names in (range(rows.shape[1]), keys):
        chosen = learner(name, {"k": 8, "passes": 2})
        wanted = True
        while wanted:
            chosen.update(batch_of(rows, targets, np.array(names, dtype=np.uint64)))
            wanted = chosen.end_pass()
        selected = chosen.selection()
        column = {key: i for i, key in enumerate(names)}
        found.append(
            {column[int(key)]: w for key, w in zip(selected.raw_names, selected.weights, strict=True)}
        )
    assert len(found[0]) == 8
    assert found[0] == found[1]


@pytest.mark.parametrize("name", BUDGETED)
def test_what_makes_no_sense_is_said(name):
    with pytest.raises(UsageError, match="--k"):
        learner(name, {})
    if name in ("b-arda", "b-amd"):
        with pytest.raises(UsageError, match="power of two"):
            learner(name, {"k": 3}, store="sketch", sketch_width=100)


def test_the_untuned_step_follows_the_scale_of_the_rows():
    """Rows a thousand times as long: the same choice, weights a thousandth."""
    rows, targets = rows_of(n=300)
    rows = rows[np.any(rows != 0, axis=1)] * 100
    targets = targets[: len(rows)]
    small, large = learner("b-arda", {"k": 5}, delta=1e-9), learner("b-arda", {"k": 5}, delta=1e-9)
    learn(small, rows, targets)
    learn(large, rows * 1024, targets)
    one, two = small.selection(), large.selection()
    assert set(one.raw_names) == set(two.raw_names)
    weights = dict(zip(two.raw_names, two.weights, strict=True))
    np.testing.assert_allclose(one.weights / 1024, [weights[name] for name in one.raw_names], rtol=1e-2)


@pytest.mark.parametrize("name", BUDGETED + L1)
def test_how_far_the_numbers_of_features_reach_does_not_matter(name):
    rows, targets = rows_of(d=200)
    near = np.arange(200, dtype=np.uint64)
    far = near * np.uint64(2**56) + np.uint64(7)
    learners = []
    for keys in (near, far):
        ridge = {"l2": 0.01, "learning_rate": 0.1} if name in ("b-arda", "b-amd") else {}
        chosen = learner(name, {"k": 20, "passes": 2, **ridge})
        wanted = True
        while wanted:
            chosen.update(batch_of(rows, targets, keys))
            wanted = chosen.end_pass()
        learners.append(chosen)
    selections = [one.selection() for one in learners]
    spread = {str(key): str(other) for key, other in zip(near, far, strict=True)}
    assert [spread[name.decode()] for name in selections[0].raw_names] == [
        name.decode() for name in selections[1].raw_names
    ]
    assert selections[0].weights.tobytes() == selections[1].weights.tobytes()
    assert learners[1].memory_used < 1 << 17  # of the 2^64 there could be
