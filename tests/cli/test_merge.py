"""`fsstream merge`: the average of shards, or a refusal."""

from __future__ import annotations

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
from tests.cli.command import fsstream

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
