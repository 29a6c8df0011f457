"""Rows of many names: the peak within --memory and 64 MB, or refused; one model, however they are read."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

EXITS = {"hashing": 0, "iht": 0, "ofs": 0, "mission": 4, "bear": 4, "sofs": 4, "sparse-rf": 4}


@pytest.mark.parametrize(("algo", "status"), EXITS.items())
def test_rows_of_a_million_names_keep_the_promise(algo: str, status: int) -> None:
    words = ["--stream", "wide", "--count", "3000000", "--memory", "64MB", "--k", "100", "--algo", algo]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.measure_memory", *words], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"exit {status} ".encode() in done.stdout


def test_a_refused_row_says_where_it_is_and_what_would_do(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1 a b\n0 c\n" + b"1 " + b" ".join(b"n%d" % at for at in range(400_000)) + b"\n")
    words = ["select", "--algo", "mission", "--k", "5", "--format", "tokens", "--memory", "8MB", str(path)]
    done = fsstream(*words, "--threads", "1")
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"rows:3: a record of " in done.stderr
    assert b"400,001 features needs" in done.stderr
    assert b"hint: raise --memory by " in done.stderr
    assert fsstream(*words, "--memory", "100MB").returncode == 0


@pytest.mark.parametrize(("algo", "memory"), [("mission", "200MB"), ("awm", "200MB"), ("os", "24MB")])
def test_the_model_does_not_depend_on_how_long_rows_are_read(algo: str, memory: str, tmp_path: Path) -> None:
    """Several, with short ones between them; `os` has them on disk, in runs shorter than one of them."""
    rng = random.Random(2)
    path = tmp_path / "rows"
    with path.open("wb") as file:
        for row in range(12):
            names = 250_000 if row % 4 == 1 else 5
            known = b" ".join(b"w%d" % word for word in rng.sample(range(30), 5))
            others = b" ".join(b"n%d" % (at * 7 + row) for at in range(names))
            file.write(b"%d %b %b\n" % (row % 2, known, others))
    words = ["select", "--algo", algo, "--k", "5", "--format", "tokens", "--memory", memory, "--quiet"]
    outputs = set()
    for how in (["--threads", "1"], ["--threads", "2"], ["--threads", "3", "--block-size", "8MB"]):
        done = fsstream(*words, *how, str(path))
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    outputs.add(fsstream(*words, stdin=path.read_bytes()).stdout)
    assert len(outputs) == 1


def test_fgm_refuses_more_rows_than_it_can_keep_numbers_of(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1 a b\n0 a c\n" * 100_000)
    words = ["select", "--algo", "fgm", "--k", "1", "--format", "tokens", "-q", str(path), "--memory"]
    done = fsstream(*words, "4MB")
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"fgm keeps 120 bytes of each row" in done.stderr
    assert fsstream(*words, "64MB").returncode == 0


def test_classes_that_are_met_before_the_first_pass_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"".join(b"c%d a b%d\n" % (at, at % 5) for at in range(40_000)))
    words = ["select", "--algo", "fgm", "--k", "1", "--format", "tokens", "-q", "--max-classes", "1000000"]
    done = fsstream(*words, "--memory", "16MB", str(path))
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"classes do not fit into --memory 16 MB" in done.stderr


def with_late_classes(path: Path, rows: int, names: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A run that has three classes for so many rows, and then a new one with each row, and with new names."""
    others = (b" ".join(b"n%d_%d" % (at, name) for name in range(names)) for at in range(200))
    late = b"".join(b"late%d a b%d %b\n" % (at, at % 5, more) for at, more in enumerate(others))
    path.write_bytes(b"".join(b"c%d a b%d\n" % (at % 3, at % 3) for at in range(rows)) + late)
    options = ["select", "--k", "10", "--format", "tokens", "-q", "--memory", "32MB", str(path)]
    return fsstream(*options, *words)


def refused_with_late_classes(path: Path, rows: int, names: int, *words: str) -> str:
    """What it says when that is too much."""
    done = with_late_classes(path, rows, names, *words)
    assert (done.returncode, done.stdout) == (4, b""), done.stderr
    assert b"--max-classes" in done.stderr
    return done.stderr.decode()


def test_classes_that_come_late_share_the_memory_with_the_first_ones(tmp_path: Path) -> None:
    assert "bear needs" in refused_with_late_classes(
        tmp_path / "rows", 20_000, 0, "--algo", "bear", "--loss", "logistic"
    )


def test_a_table_of_a_late_class_counts_what_is_in_it(tmp_path: Path) -> None:
    """It does not matter at which row the class came."""
    words = ["--algo", "batch-iht", "--loss", "softmax", "--set", "table=50000"]
    said = {refused_with_late_classes(tmp_path / "rows", rows, 300, *words) for rows in (20_000, 20_003)}
    assert len(said) == 1
    assert "classes do not fit into --memory" in said.pop()
    assert with_late_classes(tmp_path / "rows", 20_000, 0, *words).returncode == 0


def test_random_features_of_many_inputs_keep_the_promise() -> None:
    """Directions to find the reach of perceptrons took a kilobyte an input: 393 MB of 264."""
    words = ["--stream", "rare", "--count", "300000", "--memory", "200MB", "--k", "10", "--algo", "boosting"]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.measure_memory", *words], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


LONG = {
    "libsvm": b"1 " + b"77:1 " * (13 << 20),
    "tokens": b"1 " + b"word " * (13 << 20),
    "jsonl": b'{"label":1,"a":"' + b"x" * (65 << 20) + b'"}',
}
SHORT = {
    "libsvm": b"1 1:1\n0 2:1\n",
    "tokens": b"1 a\n0 b\n",
    "jsonl": b'{"label":1,"a":"b"}\n{"label":0,"a":"c"}\n',
}


@pytest.mark.parametrize("form", list(LONG))
def test_a_record_beyond_the_limit_is_skipped_where_bad_ones_are(form: str, tmp_path: Path) -> None:
    """It ended the run whatever was said, with half of the stream unread."""
    path, copies, summary = tmp_path / "rows", tmp_path / "bad", tmp_path / "summary"
    command = ("select", "--k", "2", "--format", form)
    expected = fsstream(*command, stdin=2 * SHORT[form])
    path.write_bytes(SHORT[form] + LONG[form] + b"\n" + SHORT[form])
    stopped = fsstream(*command, str(path))
    assert (stopped.returncode, stopped.stdout) == (3, b"")
    assert b"rows:3: a record is longer than 64 MB" in stopped.stderr
    skip = (
        "--on-bad-line",
        "skip",
        "--bad-lines",
        str(copies),
        "--summary",
        str(summary),
        "--memory",
        "64MB",
    )
    for more in (["--threads", "1", "--block-size", "1KB"], ["--passes", "2", "--threads", "3"]):
        done = fsstream(*command, *skip, *more, str(path))
        assert done.returncode == 0, done.stderr
        facts = json.loads(summary.read_bytes())["input"]
        assert (facts["rows"], facts["bad_records"]) == (4, 1)
        assert facts["first_bad_records"] == [f"{path}:3: a record is longer than 64 MB"]
        assert copies.read_bytes() == LONG[form][: (64 << 20) - 2] + b"\n"
        if "--passes" not in more:
            assert done.stdout == expected.stdout


def test_a_run_goes_on_behind_a_record_beyond_the_limit(tmp_path: Path) -> None:
    rows = b"".join(b"%d w%d:1 s%d:0.5\n" % (i % 2, i % 97, i % 2) for i in range(20_000))
    path, saved = tmp_path / "rows", str(tmp_path / "saved")
    path.write_bytes(rows + b"1 " + b"word:1 " * (10 << 20) + b"\n" + rows)
    command = (
        "select",
        "--k",
        "3",
        "--format",
        "pairs",
        "--on-bad-line",
        "skip",
        "--algo",
        "sofs",
        str(path),
    )
    (tmp_path / "bad").write_bytes(b"2 a:1\n")  # a third label: the run ends behind the long record
    ended = fsstream(*command, str(tmp_path / "bad"), "--checkpoint", saved, "--checkpoint-every", "100KB")
    assert ended.returncode == 3
    (tmp_path / "bad").write_bytes(b"1 a:1\n")
    again = fsstream("resume", saved, str(path), str(tmp_path / "bad"))
    assert again.returncode == 0, again.stderr
    assert again.stdout == fsstream(*command, str(tmp_path / "bad")).stdout
