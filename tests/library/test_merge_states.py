"""Learners of shards with their whole state: going on exactly, and becoming one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsstream
from fsstream.algorithms import BACKENDS, backend
from fsstream.errors import UsageError
from fsstream.merging import merge
from fsstream.model_file import parse_model

if TYPE_CHECKING:
    from pathlib import Path

    from fsstream.model import Model

# Backend, its options, and the labels it is given.
LEARNERS: dict[str, tuple[dict[str, Any], str]] = {
    "mission": ({}, "binary"),
    "mission names": ({"k": 3, "set": ("sketch_width=64",)}, "binary"),
    "mission exact": ({"set": ("step=constant", "sketch_width=64")}, "binary"),
    "mission ridge": ({"set": ("step=constant",), "l2": 0.01, "learning_rate": 0.01}, "numbers"),
    "mission paper": ({"set": ("rule=paper",)}, "binary"),
    "mission forget": ({"set": ("forget=0.99",)}, "binary"),
    "mission stability": ({"set": ("stability=3",)}, "binary"),
    "mission softmax": ({"k": 3}, "classes"),
    "mission softmax narrow": ({"k": 2, "set": ("sketch_width=32",)}, "classes"),
    "mission softmax paper": ({"set": ("rule=paper",)}, "classes"),
    "awm": ({"set": ("sketch_width=64",)}, "binary"),
    "iht": ({}, "binary"),
    "iht softmax": ({}, "classes"),
    "batch-iht": ({"set": ("table=12",)}, "binary"),
    "batch-iht softmax": ({"set": ("table=12",)}, "classes"),
    "hashing": ({"k": None, "set": ("bits=6",)}, "binary"),
    "hashing softmax": ({"k": None, "set": ("bits=6",)}, "classes"),
    "b-arda": ({}, "binary"),
    "b-arda sketch": ({"set": ("store=sketch", "sketch_width=32")}, "binary"),
    "b-arda ridge": ({"l2": 0.01, "intercept": True}, "binary"),
    "b-amd": ({}, "binary"),
    "b-amd sketch": ({"set": ("store=sketch", "sketch_width=32")}, "binary"),
    "ofs": ({"l2": 0.01}, "binary"),
    "sofs": ({}, "binary"),
    "b-arda classes": ({}, "classes"),
    "awm classes": ({}, "classes"),
}

# Those that go on from a state, and cannot be merged.
GOING_ON: dict[str, tuple[dict[str, Any], str]] = {
    "l1-arda": ({"l1": 0.02}, "binary"),
    "l1-arda search": ({"set": ("rounds=1",)}, "binary"),
    "l1-arda classes": ({"l1": 0.01}, "classes"),
    "ada-fobos": ({"l1": 0.001, "intercept": True}, "binary"),
    "ada-fobos search": ({"set": ("rounds=1",)}, "binary"),
}


def algo_of(name: str) -> str:
    return name.partition(" ")[0]


def rows_of(seed: int, count: int, kind: str, first: str = "") -> list[bytes]:
    """Rows of 40 words, of which the first few decide."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(count):
        words = rng.permutation(40)[:9]
        score = sum((-1.0) ** w * (8 - w) for w in words.tolist() if w < 8) + rng.normal()
        label = f"{score:.4f}" if kind == "numbers" else "ny"[int(score > 0)]
        if kind == "classes":
            label = first if first and i == 0 else "abc"[int(score > -3) + int(score > 3)]
        lines.append(
            " ".join([label, *(f"w{w}:{rng.integers(1, 4)}" for w in words.tolist())]).encode() + b"\n"
        )
    return lines


def learned(name: str, lines: list[bytes], **more: Any) -> Model:
    options, kind = {**LEARNERS, **GOING_ON}[name]
    loss = "squared" if kind == "numbers" else "auto"
    given = {"k": 5, "format": "pairs", "with_state": True, "loss": loss, **options, **more}
    return fsstream.select(b"".join(lines), algo=algo_of(name), **given).model


@pytest.mark.parametrize("name", [*LEARNERS, *GOING_ON])
def test_a_state_goes_on_as_if_the_rows_were_one_stream(name: str, tmp_path: Path) -> None:
    if "init" not in backend(algo_of(name)).uses:
        pytest.skip("starts from nothing")
    lines = rows_of(1, 400, {**LEARNERS, **GOING_ON}[name][1])
    whole = learned(name, lines)
    path = tmp_path / "first"
    learned(name, lines[:300]).save(path)
    both = learned(name, lines[300:], init=str(path))
    assert both.rows == whole.rows == 400
    assert both.selection.to_jsonl() == whole.selection.to_jsonl()
    assert both.intercepts.tolist() == whole.intercepts.tolist()
    assert whole.state is not None
    assert both.state is not None
    for array in (name for name in whole.state if not name.endswith("pass_losses")):
        np.testing.assert_array_equal(both.state[array], whole.state[array], err_msg=array)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_order_of_shards_does_not_matter(name: str) -> None:
    kind = LEARNERS[name][1]
    shards = [learned(name, rows_of(seed, 60 * seed, kind)) for seed in (1, 2, 3)]
    merged = merge(shards, ["a", "b", "c"])
    assert merged.rows == 360
    assert merge(shards[::-1], ["c", "b", "a"]).to_bytes() == merged.to_bytes()
    again = parse_model(merged.to_bytes(), "again")
    assert again.to_bytes() == merged.to_bytes()
    if LEARNERS[name][0].get("k", 5) is not None:
        classes = merged.selection.classes or [None] * len(merged.selection)
        assert {classes.count(c) for c in set(classes)} <= {2, 3, 5}
    assert merge([merged, shards[0]], ["m", "a"]).rows == 420  # what is merged can be merged


# The evidence of two shards is twice that of one, but not the prior: weights are trusted a little otherwise.
# So are the rows of two short ones, but not the ridge of their last fit.
LEAN_ON_A_PRIOR = {"mission": 0.15, "mission names": 0.15, "mission forget": 0.03}
FITTED_AGAIN = ("mission", "mission names")
AVERAGED = [name for name in LEARNERS if not name.startswith(("b-arda", "hashing", "mission stability"))]


@pytest.mark.parametrize("name", AVERAGED)
def test_a_learner_merged_with_itself_selects_what_it_selected(name: str) -> None:
    one = learned(name, rows_of(4, 300, LEARNERS[name][1]))
    two = merge([one, one], ["a", "b"])
    flat = [np.concatenate([list(part.values()) if isinstance(part, dict) else [part]
            for part in model.selection.to_dict().values()]) for model in (one, two)]  # fmt: skip
    assert two.selection.names == one.selection.names
    np.testing.assert_allclose(flat[1], flat[0], rtol=LEAN_ON_A_PRIOR.get(name, 1e-4))
    np.testing.assert_allclose(two.intercepts, one.intercepts, rtol=0.15 if name in FITTED_AGAIN else 1e-6)


@pytest.mark.parametrize(("name", "array", "scale"), [
    ("mission paper", "sketch", "scales"), ("hashing", "table", "scale"),
    ("mission softmax paper", "sketch", None),
])  # fmt: skip
def test_sketches_and_tables_are_linear(name: str, array: str, scale: str | None) -> None:
    shards = [learned(name, rows_of(seed, 50 * seed, LEARNERS[name][1])) for seed in (1, 3)]
    states = [model.state or {} for model in shards]
    factors = [1.0 if scale is None else state[scale][0] for state in states]
    wanted = 0.25 * factors[0] * states[0][array] + 0.75 * factors[1] * states[1][array]
    merged = merge(shards, ["a", "b"]).state
    assert merged is not None
    np.testing.assert_allclose(merged[array], wanted, rtol=1e-6, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=4, unique=True), st.booleans())
def test_sums_of_gradients_are_added_and_the_weights_follow(seeds: list[int], ridge: bool) -> None:
    name = "b-arda ridge" if ridge else "b-arda"
    shards = [learned(name, rows_of(seed, 40 + seed % 50, "binary")) for seed in seeds]
    sums: dict[int, list[float]] = {}
    for model in shards:
        assert model.state is not None
        columns = (model.state["keys"], model.state["sums"][1:], model.state["squares"][1:])
        for key, total, square in zip(*(column.tolist() for column in columns), strict=True):
            before = sums.get(key, [0.0, 0.0])
            sums[key] = [before[0] + total, before[1] + square]
    merged = merge(shards, [str(seed) for seed in seeds])
    assert merged.state is not None
    logs, rows, tau = np.sum([model.state["rate"] for model in shards if model.state], axis=0)
    eta = 0.5 * np.exp(-0.5 * logs / rows)
    steepness = {key: 0.01 + square**0.5 for key, (_, square) in sums.items()}
    weights = {key: -eta * total / (tau + steepness[key]) for key, (total, _) in sums.items()}
    best = sorted(sums, key=lambda key: (-steepness[key] * weights[key] ** 2, key))[:5]
    found = dict(zip(merged.keys().tolist(), merged.selection.weights.tolist(), strict=True))
    assert set(found) == {key for key in best if weights[key]}
    assert [found[key] for key in sorted(found)] == pytest.approx(
        [weights[key] for key in sorted(found)], rel=1e-6
    )


@pytest.mark.parametrize("name", ["mission softmax", "iht softmax", "batch-iht softmax", "hashing softmax",
                                  "b-arda classes", "awm classes"])  # fmt: skip
def test_classes_are_matched_by_label(name: str) -> None:
    lines = rows_of(5, 900, "classes")
    one = learned(name, lines)
    other = learned(name, sorted(lines[:150], key=lambda line: line[:1] != b"c") + lines[150:])
    merged = merge([one, other], ["a", "b"])
    assert set(merged.labels) == set("abc")
    if "hashing" in name:
        return
    for label in "abc":
        assert len(set(merged.selection.to_dict()[label]) & set(one.selection.to_dict()[label])) >= 2


def test_a_class_that_one_shard_never_met_is_learned_from_the_others() -> None:
    lines = rows_of(6, 600, "classes")
    for name in ("mission softmax", "iht softmax", "b-arda classes"):
        two = learned(
            name, [line for line in lines[:300] if line[:1] != b"c"] + [b"d w39:1\n"], loss=LOSSES[name]
        )
        three = learned(name, lines[300:], loss=LOSSES[name])
        merged = merge([two, three], ["a", "b"])
        assert set(merged.selection.to_dict()["c"]) & set(three.selection.to_dict()["c"])


LOSSES = {"mission softmax": "softmax", "iht softmax": "softmax", "b-arda classes": "squared-hinge"}


def test_whole_learners_find_more_than_their_selections() -> None:
    """Shards too small to select well by themselves; what they did not select counts, too."""
    planted = {f"w{i}" for i in range(8)}
    found = {True: 0, False: 0}
    for seed in range(6):
        for with_state in found:
            shards = [
                learned("mission", rows_of(100 * seed + i, 40, "binary"), k=8, with_state=with_state)
                for i in range(6)
            ]
            found[with_state] += len(planted & set(merge(shards, list("abcdef")).selection.names))
    assert found[True] >= found[False] > 0


def test_every_backend_merges_its_state_or_says_why_not() -> None:
    refusals = {name: backend(name).state_refusal for name in BACKENDS}
    tested = {algo_of(name) for name in LEARNERS}
    assert {name for name, why in refusals.items() if why is None} == tested
    assert {name for name in BACKENDS if backend(name).goes_on} == {algo_of(name) for name in GOING_ON}
    for name, why in refusals.items():
        if why is not None and not backend(name).goes_on:
            with pytest.raises(UsageError, match="--with-state has no use with --algo " + name):
                fsstream.select(b"0 1:1\n1 2:1\n", algo=name, k=1, with_state=True)


@pytest.mark.parametrize("name", GOING_ON)
def test_states_that_only_go_on_are_not_merged(name: str) -> None:
    one = learned(name, rows_of(1, 60, GOING_ON[name][1]))
    with pytest.raises(UsageError, match=f"models of {algo_of(name)} cannot be merged"):
        merge([one, one], ["a", "b"])


def test_a_search_that_goes_on_keeps_its_ladder(tmp_path: Path) -> None:
    """Weights, sums and steps are those before, no round begins anew; the last rung leaves enough."""
    lines, path = rows_of(1, 400, "binary"), tmp_path / "first"
    first = learned("l1-arda", lines[:300], l1=None)
    first.save(path)
    both = learned("l1-arda", lines[300:], l1=None, init=str(path))
    assert first.state is not None
    assert both.state is not None
    np.testing.assert_array_equal(both.state["rungs"], [*first.state["rungs"][:-1], 0])
    assert int(both.state["counters"][0]) == int(first.state["counters"][0]) + 100
    assert len(both.selection.names) == 5


def test_unlike_states_are_refused(tmp_path: Path) -> None:
    lines = rows_of(7, 60, "binary")
    one = learned("mission", lines)
    bare = fsstream.select(b"".join(lines), k=5, format="pairs").model
    with pytest.raises(UsageError, match="a holds its learner's state, and b does not"):
        merge([one, bare], ["a", "b"])
    with pytest.raises(UsageError, match="differ in --seed"):
        merge([one, learned("mission", lines, seed=1)], ["a", "b"])
    turned = learned("mission", [*[line for line in lines if line[:1] == b"y"], *lines], class_weight=())
    assert merge([one, turned], ["a", "b"]).rows > 60  # both labels were seen beforehand
    one.save(tmp_path / "one")
    with pytest.raises(UsageError, match="its state was learned with --k 5, not 6"):
        learned("mission", lines, k=6, init=str(tmp_path / "one"))
