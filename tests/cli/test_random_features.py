"""`sparse-rf`, `rf`, `boosting` in a shell: models that predict, limits, what is refused."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream import api
from fsstream.algorithms.random_features.machine import Machine
from fsstream.archive import load, pack
from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path


def rings(count: int, seed: int, classes: int = 2) -> bytes:
    """Rings inside rings: no line parts them. `far` is noise."""
    rng = random.Random(seed)
    lines = []
    for i in range(count):
        radius, turn = 1 + i % classes + rng.gauss(0, 0.15), rng.uniform(0, 2 * math.pi)
        x, y, far = radius * math.cos(turn), radius * math.sin(turn), rng.gauss(0, 1)
        lines.append(f"{'abc'[i % classes]} x:{x:.4f} y:{y:.4f} far:{far:.4f}\n")
    return "".join(lines).encode()


@pytest.mark.parametrize(
    ("algo", "classes"), [("sparse-rf", 2), ("sparse-rf", 3), ("rf", 2), ("boosting", 3)]
)
def test_a_model_predicts_what_no_line_parts(algo: str, classes: int, tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    more = ["--format", "pairs", "--model", path, "-q"]
    k = 200 if algo == "rf" else 40  # nothing is selected there
    done = fsstream("select", "--algo", algo, "--k", str(k), *more, stdin=rings(600, 1, classes))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == k * (classes if classes > 2 else 1)
    measured = json.loads(fsstream("evaluate", path, stdin=rings(300, 2, classes)).stdout)
    assert measured["accuracy"] > 0.85
    reordered = b"".join(
        b" ".join([line.split()[0], *line.split()[:0:-1]]) + b" unknown:9\n"
        for line in rings(300, 2, classes).splitlines()
    )
    assert json.loads(fsstream("evaluate", path, stdin=reordered).stdout)["accuracy"] == measured["accuracy"]


@pytest.mark.parametrize("thresholds", ["data", "uniform"])
def test_perceptrons_part_rings_beside_an_outlier(thresholds: str) -> None:
    """One row far away widens the range of thresholds; planes that go by rows do not follow it."""
    drawing = {"kernel": "perceptron", "thresholds": thresholds, "scale": "none"}
    far = b"a x:4000 y:4000 far:4000\n"
    asked = {"algo": "sparse-rf", "k": 60, "format": "pairs", "seed": 1, "set": drawing}
    model = api.select(rings(600, 1) + far, **asked).model
    found = model.predict(rings(300, 2), format="pairs")
    truth = [line[:1].decode() for line in rings(300, 2).splitlines()]
    accuracy = np.mean([a == b for a, b in zip(found, truth, strict=True)])
    assert accuracy > 0.85 if thresholds == "data" else accuracy < 0.7


def test_inspect_tells_which_inputs_matter(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    fsstream(
        "select",
        "--algo",
        "sparse-rf",
        "--k",
        "40",
        "--format",
        "pairs",
        "--model",
        path,
        stdin=rings(600, 1),
    )
    facts = json.loads(fsstream("inspect", path).stdout)
    assert facts["basis"]["kernel"] == "gaussian"
    assert list(facts["inputs"])[2] == "far"
    assert facts["inputs"]["far"] < 0.5 * facts["inputs"]["x"]
    done = fsstream("transform", path, stdin=rings(10, 1))
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", "9", "--set", "draw=2", "--set", "rounds=4"], b"--k 9 is more than the 8 features"),
        (["--l1", "0"], b"--l1 must be above 0"),
        (["--k", "9", "--passes", "3"], b"--passes has no use with --algo sparse-rf"),
        (["--k", "9", "--set", "kernel=cosine"], b"expected gaussian or laplacian or perceptron"),
    ],
)
def test_what_cannot_be_is_refused(options: list[str], message: bytes) -> None:
    done = fsstream("select", "--algo", "sparse-rf", "--format", "pairs", *options, stdin=rings(60, 1))
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr


@pytest.mark.parametrize("algo", ["sparse-rf", "rf", "boosting"])
def test_memory_that_cannot_hold_the_features_ends_with_4(algo: str) -> None:
    options = ["--format", "pairs", "--k", "400", "--memory", "1MB"]
    done = fsstream("select", "--algo", algo, *options, stdin=rings(2000, 1))
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"hint: raise --memory" in done.stderr


def test_a_stream_beyond_the_memory_is_spooled_and_gives_the_same_features(tmp_path: Path) -> None:
    noise = random.Random(5)
    rows = rings(2000, 1).splitlines()
    text = b"".join(
        line + "".join(f" n{j}:{noise.random():.3f}" for j in range(20)).encode() + b"\n" for line in rows
    )
    config = tmp_path / "config.toml"
    config.write_text(
        'algo = "sparse-rf"\nformat = "pairs"\nl1 = 0.05\n'
        '[set]\ndraw = 10\nrounds = 4\nwidth = 4\nscale = "none"\n'
    )
    more = ["--config", str(config), "--spool-dir", str(tmp_path), "--summary", str(tmp_path / "summary")]
    small = fsstream("select", *more, "--memory", "700KB", stdin=text)
    assert small.returncode == 0, small.stderr
    facts = json.loads((tmp_path / "summary").read_bytes())
    assert facts["backend"]["rows_in_memory"] is False
    assert facts["passes"] == 5
    assert small.stdout == fsstream("select", *more, stdin=text).stdout
    assert len(small.stdout.splitlines()) > 3


def test_a_model_without_features_predicts_its_intercept(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    done = fsstream(
        "select",
        "--algo",
        "sparse-rf",
        "--l1",
        "100",
        "--format",
        "pairs",
        "--model",
        path,
        stdin=rings(60, 1),
    )
    assert (done.returncode, done.stdout) == (0, b"")
    scores = fsstream("predict", path, stdin=rings(5, 2)).stdout.splitlines()
    assert len(set(scores)) == 1
    assert len(scores) == 5


def test_a_damaged_basis_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    fsstream(
        "select",
        "--algo",
        "boosting",
        "--k",
        "4",
        "--format",
        "pairs",
        "--model",
        str(path),
        stdin=rings(200, 1),
    )
    meta, members = load(path)
    for change in (
        {"basis_keys": members["basis_keys"][:-1]},
        {"basis_learned_directions": members["basis_learned_directions"][:, :-1]},
        {"basis_learned_numbers": members["basis_learned_numbers"] + 100},
        {"basis_keys": np.zeros(3, np.uint64)},
    ):
        path.write_bytes(pack(meta, members | change))
        done = fsstream("predict", str(path), stdin=rings(5, 2))
        assert (done.returncode, done.stdout) == (5, b""), change
    more = ["--set", "kernel=perceptron", "--format", "pairs", "--model", str(path)]
    fsstream("select", "--algo", "sparse-rf", "--k", "4", *more, stdin=rings(200, 1))
    drawn_meta, drawn = load(path)
    anchors = drawn["basis_anchors"]
    for kept in (anchors[:, :-1], anchors[:0], anchors[0], np.full_like(anchors, np.nan)):
        path.write_bytes(pack(drawn_meta, drawn | {"basis_anchors": np.ascontiguousarray(kept)}))
        assert fsstream("predict", str(path), stdin=rings(5, 2)).returncode == 5
    for facts in ({"kernel": "cosine"}, {"width": float("nan")}, {"width": "wide"}):
        path.write_bytes(pack(meta | {"basis": meta["basis"] | facts}, members))
        assert fsstream("predict", str(path), stdin=rings(5, 2)).returncode == 5


@pytest.mark.parametrize("algo", ["rf", "sparse-rf"])
def test_many_inputs_are_projected_within_the_memory(algo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million inputs took half as much again as --memory: all directions were drawn at once."""
    options = {"algo": algo, "k": 4, "format": "pairs", "seed": 3}
    whole = api.select(rings(200, 1), **options)
    made: list[int] = []
    map_of = Machine.map_of
    monkeypatch.setattr(
        Machine, "map_of", lambda self, numbers: made.append(len(numbers)) or map_of(self, numbers)
    )
    monkeypatch.setattr(Machine, "mapped_at_once", lambda self, columns: 3)
    parts = api.select(rings(200, 1), **options)
    assert max(made) == 3
    assert parts.to_dict() == whole.to_dict()
    assert whole.model.basis.effects is not None
    assert parts.model.basis.effects is None


def test_more_inputs_than_memory_holds_are_told_with_what_would_do() -> None:
    rng = random.Random(2)
    rows = "".join(
        f"{'abcdefgh'[i % 8]} " + " ".join(f"w{rng.randrange(10**9)}:1" for _ in range(40)) + "\n"
        for i in range(4_000)
    )
    done = fsstream(
        "select",
        "--algo",
        "rf",
        "--k",
        "2",
        "--memory",
        "8MB",
        "--format",
        "pairs",
        "-q",
        stdin=rows.encode(),
    )
    assert done.returncode == 4, done.stderr
    assert b"\nhint: raise --memory; or " in done.stderr
