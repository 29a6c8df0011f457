"""`fsstream synth`: what is planted is there, and is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream.cli.synth import KINDS as SHOWN
from fsstream.errors import UsageError
from fsstream.synthesis import KINDS, Planted, Problem
from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path


def parsed(text: bytes) -> tuple[np.ndarray, list[dict[int, float]]]:
    rows = [line.split() for line in text.splitlines()]
    values = [{int(i): float(v) for i, v in (w.split(b":") for w in row[1:])} for row in rows]
    return np.array([float(row[0]) for row in rows]), values


def test_help_knows_every_kind() -> None:
    assert tuple(KINDS) == SHOWN


@pytest.mark.parametrize("kind", ["mission", "fgm", "fgm-groups", "b-arda"])
def test_labels_follow_from_the_planted_features(kind: str) -> None:
    planted = Planted(Problem(kind, rows=300, features=200, relevant=4, seed=3))
    y, rows = parsed(b"".join(planted.texts()))
    truth = {int(name): weight for name, weight in planted.truth().to_dict().items()}
    assert len(rows) == 300
    score = np.array([sum(w * row.get(i, 0.0) for i, w in truth.items()) for row in rows])
    if kind == "mission":
        assert np.allclose(score, y, atol=1e-5)
    else:
        clear = np.abs(score) > 1e-3
        assert clear.sum() > 100
        assert (np.sign(score[clear]) == y[clear]).all()


def test_columns_add_up_to_the_targets() -> None:
    planted = Planted(Problem("os", features=60, relevant=5, noise=0.0))
    X = np.array(
        [
            [float(cell.split(b":")[1]) for cell in line.split()[1:]]
            for line in b"".join(planted.texts()).splitlines()
        ]
    )
    y = np.array([float(line) for line in planted.targets().splitlines()])
    assert X.shape == (60, int(1.2 * 5 * np.log2(60)))
    weights = np.zeros(60)
    for name, weight in planted.truth().to_dict().items():
        weights[int(name) - 1] = weight
    assert np.allclose(weights @ X, y, atol=1e-5)


def test_attenuation_divides_only_what_is_planted() -> None:
    plain, weak = (Planted(Problem("mission", rows=20, features=30, attenuation=a)) for a in (None, 2.0))
    (y, rows), (weak_y, weak_rows) = (parsed(b"".join(p.texts())) for p in (plain, weak))
    chosen = {int(name) for name in plain.truth().names}
    assert (y == weak_y).all()
    for row, other in zip(rows, weak_rows, strict=True):
        for feature, value in row.items():
            expected = value / 2 if feature in chosen else value
            assert other.get(feature, 0.0) == pytest.approx(expected, abs=1e-4)


def test_a_draw_is_another_sample_of_the_same_truth() -> None:
    first, second, other = (
        Planted(Problem("fgm", 50, 40, 5, seed=s, draw=d)) for s, d in ((0, 0), (0, 1), (1, 0))
    )
    assert first.truth().to_dict() == second.truth().to_dict() != other.truth().to_dict()
    assert b"".join(first.texts()) != b"".join(second.texts())
    assert b"".join(first.texts()) == b"".join(Planted(Problem("fgm", 50, 40, 5)).texts())


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Problem("fgm", noise=0.1), "--noise has no use with fgm"),
        (Problem("os", features=3), "--relevant 100 of 3"),
    ],
)
def test_problems_that_cannot_be(problem: Problem, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Planted(problem)


def test_what_is_planted_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert fsstream("synth", "os", "--features", "200", "--relevant", "4", "-o", "x").returncode == 0
    done = fsstream("select", "--algo", "os", "--k", "4", "--targets", "x.targets", "--loss", "squared", "x")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line)["feature"] for line in done.stdout.splitlines()]
    truth = [json.loads(line)["feature"] for line in (tmp_path / "x.truth").read_bytes().splitlines()]
    assert len(truth) == 4
    assert set(truth[:2]) <= set(found)


def test_the_stream_goes_to_standard_output(tmp_path: Path) -> None:
    done = fsstream("synth", "sparse-rf", "--rows", "5", "--truth", str(tmp_path / "truth"))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 5)
    assert len((tmp_path / "truth").read_bytes().splitlines()) == 3
    assert fsstream("synth", "os").returncode == 2
    assert fsstream("synth", "fgm", "--targets", "x").returncode == 2
