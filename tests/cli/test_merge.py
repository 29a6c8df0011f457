"""`fsstream merge`: the average of shards, or a refusal."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream import load_model
from fsstream.algorithms import BACKENDS, backend
from fsstream.errors import UsageError
from fsstream.merging import merge
from fsstream.model import Model
from fsstream.selection import Selection
from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path


def model(names: list[bytes], weights: list[float], rows: int, **more: object) -> Model:
    settings = {"labels": ("no", "yes"), "kind": "binary", "options": {"algo": "mission", "k": 2}, **more}
    selection = more.pop("selection", None) or Selection(names, np.array(weights, np.float32))
    settings.pop("selection", None)
    return Model(
        selection, np.array(settings.pop("bias", [1.0]), np.float32), loss="logistic", rows=rows, **settings
    )


def test_weights_are_averaged_by_rows_and_k_are_left() -> None:
    merged = merge(
        [model([b"a", b"b"], [1, -4], 30), model([b"a", b"c"], [3, 2], 10, bias=[5.0])], ["x", "y"]
    )
    assert merged.selection.to_dict() == {"b": -3, "a": 1.5}
    assert (merged.rows, merged.intercepts.tolist()) == (40, [2.0])


def test_classes_are_matched_by_their_labels() -> None:
    def part(labels: tuple[str, ...], weights: list[float]) -> Model:
        chosen = Selection([b"w"] * len(labels), np.array(weights, np.float32), list(labels))
        bias = [float(len(label)) for label in labels]
        return model([], [], 10, selection=chosen, labels=labels, kind="classes", bias=bias)

    merged = merge([part(("a", "bb"), [2, 4]), part(("bb", "ccc"), [6, 8])], ["x", "y"])
    assert merged.labels == ("a", "bb", "ccc")
    assert merged.selection.to_dict() == {"a": {"w": 1}, "bb": {"w": 5}, "ccc": {"w": 4}}
    assert merged.intercepts.tolist() == [0.5, 2, 1.5]


def test_the_order_of_the_selections_does_not_matter() -> None:
    """Classes stood in the order in which the shards had them, and sums were rounded as they came."""
    rng = np.random.default_rng(1)
    shards = []
    for labels, rows in ((("a", "b", "c"), 7), (("c", "a"), 11), (("b", "c", "a"), 13)):
        names = [b"w%d" % i for i in range(40) for _ in labels]
        chosen = Selection(names, rng.normal(size=len(names)).astype(np.float32), [*labels] * 40)
        bias = rng.normal(size=len(labels)).tolist()
        options = {"algo": "mission", "k": 30}
        shards.append(
            model([], [], rows, selection=chosen, labels=labels, kind="classes", bias=bias, options=options)
        )
    orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0]]
    merged = {merge([shards[i] for i in order], list("xyz")).to_bytes() for order in orders}
    assert len(merged) == 1


def test_shards_become_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("one", "two")):
        rng = np.random.default_rng(seed)
        lines = []
        for x in rng.integers(0, 2, (200, 6)):
            lines.append(f"{x[0] | x[1]} " + " ".join(f"w{i}:{v}" for i, v in enumerate(x) if v) + "\n")
        done = fsstream(
            "select", "--k", "3", "--format", "pairs", "--model", name, "-q", stdin="".join(lines).encode()
        )
        assert done.returncode == 0, done.stderr
    done = fsstream("merge", "-o", "both", "one", "two")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert json.loads(fsstream("inspect", "both").stdout)["rows"] == 400
    assert {"w0", "w1"} <= set(load_model("both").selection.names)


def test_whole_learners_are_merged_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = gzip.decompress((ROOT / "data" / "spam_sample.tsv.gz").read_bytes()).splitlines(keepends=True)
    common = ("select", "--k", "20", "--format", "tokens", "-q", "--with-state")
    for name, part in (("one", rows[:500]), ("two", rows[500:1000])):
        done = fsstream(*common, "--model", name, "-o", f"{name}.jsonl", stdin=b"".join(part))
        assert done.returncode == 0, done.stderr
    for order in (("one", "two"), ("two", "one")):
        assert fsstream("merge", "-o", "-".join(order), *order).returncode == 0
    assert (tmp_path / "one-two").read_bytes() == (tmp_path / "two-one").read_bytes()
    facts = json.loads(fsstream("inspect", "one-two").stdout)
    assert (facts["rows"], facts["features"]) == (1000, 20)
    assert facts["state_bytes"] > 1 << 18
    # The daily pattern: yesterday's model, today's rows, the bytes of one run over both.
    done = fsstream(
        *common, "--init", "one", "--model", "both", "-o", "both.jsonl", stdin=b"".join(rows[500:1000])
    )
    assert done.returncode == 0, done.stderr
    whole = fsstream(*common[:-1], stdin=b"".join(rows[:1000]))
    assert (tmp_path / "both.jsonl").read_bytes() == whole.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), b"puts the state into --model"),
        (("--algo", "os", "--model", "m"), b"has no use with --algo os"),
    ],
)
def test_a_state_needs_a_model_and_a_learner_that_goes_on(
    options: tuple[str, ...], words: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fsstream("select", "--k", "1", "--with-state", *options, stdin=b"1 1:1\n0 2:1\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_weights_alone_do_not_start_a_learner_of_sums(tmp_path: Path) -> None:
    lines = b"0 a:1\n1 b:1\n" * 20
    fsstream("select", "--algo", "b-arda", "--k", "1", "--model", str(tmp_path / "m"), stdin=lines)
    done = fsstream("select", "--algo", "b-arda", "--k", "1", "--init", str(tmp_path / "m"), stdin=lines)
    assert done.returncode == 2
    assert b"hint: train it with --with-state" in done.stderr


def test_every_backend_averages_or_says_why_not() -> None:
    refusals = {name: backend(name).merge_refusal for name in BACKENDS}
    assert {name for name, why in refusals.items() if why is None} >= {
        "mission",
        "b-arda",
        "b-amd",
        "ofs",
        "sofs",
    }
    assert all(len(why) > 20 for why in refusals.values() if why is not None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"options": {"algo": "mission", "k": 3}}, "x and y differ in --k: 2 and 3"),
        ({"labels": ("a", "b")}, "differ in labels"),
        ({"reading": {"kmer": 4}}, "differ in --kmer"),
        ({"rows": 0}, "does not say how many rows"),
    ],
)
def test_unlike_models_are_refused(more: dict[str, object], message: str, tmp_path: Path) -> None:
    rows = int(str(more.pop("rows", 5)))
    with pytest.raises(UsageError, match=message):
        merge([model([b"a"], [1], 5), model([b"a"], [1], rows, **more)], ["x", "y"])
    refused = {"options": {"algo": "os", "k": 2}}
    with pytest.raises(UsageError, match="models of os cannot be merged"):
        merge([model([b"a"], [1], 5, **refused), model([b"a"], [1], 5, **refused)], ["x", "y"])


def test_a_checkpoint_is_refused_with_the_way_to_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands in the middle of its shard; ended by `resume`, what it comes to is merged."""
    monkeypatch.chdir(tmp_path)
    text = gzip.decompress((ROOT / "data" / "spam_sample.tsv.gz").read_bytes())
    common = ("select", "--k", "20", "--format", "tokens", "-q")
    done = fsstream(
        *common, "--checkpoint", "half", "--checkpoint-every", "100KB", "--model", "one", stdin=text
    )
    assert done.returncode == 0, done.stderr
    done = fsstream("merge", "-o", "both", "one", "half")
    assert done.returncode == 5
    assert done.stderr.decode().splitlines() == [
        "fsstream: error: half: not a model but a checkpoint",
        "hint: a run amid its input: `fsstream resume CHECKPOINT --model FILE` ends it",
    ]
    assert not (tmp_path / "both").exists()
    done = fsstream("resume", "half", "--model", "two", stdin=text)
    assert done.returncode == 0, done.stderr
    assert fsstream("merge", "-o", "both", "one", "two").returncode == 0


def test_the_reference_says_what_each_backend_merges() -> None:
    text = (ROOT / "docs" / "reference.md").read_text().partition("## `merge`")[2]
    table = [
        line.split("|")[1:-1]
        for line in text.partition("- Models of")[0].splitlines()
        if line.startswith("| `")
    ]
    said = {
        name: ("refused" in selections, "refused" in states)
        for names, selections, states in table
        for name in names.replace("`", "").replace(" ", "").split(",")
    }
    assert said == {
        name: (bool(backend(name).merge_refusal) and name != "hashing", bool(backend(name).state_refusal))
        for name in BACKENDS
    }
