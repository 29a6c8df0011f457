"""`fsstream resume` after signals and kills, and the inputs that it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from fsstream.archive import pack, unpack
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 97, i * i % 89, i % 2) for i in range(50_000))
OPTIONS = ["--k", "4", "--format", "pairs", "--block-size", "50KB"]
SAVING = ["--checkpoint", "saved", "--checkpoint-every", "50KB"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rows").write_bytes(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def whole() -> bytes:
    done = fsstream("select", *OPTIONS, stdin=ROWS)
    assert done.returncode == 0
    return done.stdout


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def stopped_half_way(folder: Path, number: int, *more: str) -> subprocess.CompletedProcess[bytes]:
    """A run on a pipe that has given half of the rows and nothing more when the signal comes."""
    process = started("select", *OPTIONS, *SAVING, *more)
    assert process.stdin is not None
    process.stdin.write(ROWS[: len(ROWS) // 2])
    process.stdin.flush()
    until = time.monotonic() + 60
    while not (folder / "saved").exists() or (folder / "saved").stat().st_size < 10_000:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_is_saved_and_goes_on(number: int, folder: Path, whole: bytes) -> None:
    done = stopped_half_way(folder, number)
    assert (done.returncode, done.stdout) == (128 + number, b"")
    assert b"`fsstream resume saved` goes on" in done.stderr
    again = fsstream("resume", "saved", stdin=ROWS)
    assert (again.returncode, again.stdout, again.stderr) == (0, whole, b"")
    assert sorted(path.name for path in folder.iterdir()) == ["rows", "saved"]


@pytest.mark.parametrize("algo", ["b-arda", "sofs"])
def test_a_run_that_ended_for_want_of_memory_goes_on_with_more(algo: str, folder: Path) -> None:
    """The message said that `resume` goes on, which had no way to be given more, and ended alike."""
    lines = (
        b"%d %b\n" % (i % 2, b" ".join(b"name%d:1" % (7 * i + j) for j in range(7))) for i in range(9000)
    )
    (folder / "rows").write_bytes(b"".join(lines))
    command = ("select", "--algo", algo, "--k", "4", "--format", "pairs", "rows", "--memory")
    ended = fsstream(*command, "3MB", "--checkpoint", "saved")
    assert (ended.returncode, ended.stdout) == (4, b"")
    assert b"`fsstream resume saved --memory SIZE` goes on" in ended.stderr
    assert fsstream("resume", "saved").returncode == 4
    done = fsstream("resume", "saved", "--memory", "100MB")
    assert done.returncode == 0, done.stderr
    assert done.stdout == fsstream(*command, "100MB").stdout


def test_a_state_that_memory_has_sized_needs_the_same(folder: Path) -> None:
    stopped_half_way(folder, signal.SIGTERM, "--memory", "60MB")
    done = fsstream("resume", "saved", "--memory", "400KB", stdin=ROWS)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--memory: what this backend keeps has the size that 60 MB gave it" in done.stderr
    assert fsstream("resume", "saved", stdin=ROWS).returncode == 0


def test_inspect_says_where_a_run_stands(folder: Path) -> None:
    stopped_half_way(folder, signal.SIGTERM)
    facts = json.loads(fsstream("inspect", "saved").stdout)
    assert (facts["checkpoint_of"], facts["labels"], facts["passes"]) == ("mission", ["0", "1"], 0)
    assert 0 < facts["rows"] < 50_000
    assert 0 < facts["position"]["offset"] < len(ROWS)
    damaged = bytearray((folder / "saved").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (folder / "saved").write_bytes(damaged)
    assert fsstream("inspect", "saved").returncode == 5


def test_a_killed_run_goes_on_from_its_last_checkpoint(folder: Path, whole: bytes) -> None:
    assert stopped_half_way(folder, signal.SIGKILL).returncode == -signal.SIGKILL
    assert fsstream("resume", "saved", "rows").stdout == whole
    assert fsstream("resume", "saved", stdin=ROWS).stdout == whole


@pytest.mark.parametrize(
    "stream",
    [ROWS.replace(b"w1:1", b"w1:3", 1), ROWS[:1000], ROWS[1000:], ROWS[:-1000].replace(b"w5:", b"w6:")],
)
def test_another_stream_is_refused(stream: bytes, folder: Path) -> None:
    stopped_half_way(folder, signal.SIGTERM)
    before = (folder / "saved").read_bytes()
    done = fsstream("resume", "saved", stdin=stream)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"not the input that the run has learned from" in done.stderr
    assert (folder / "saved").read_bytes() == before


def test_a_file_that_has_changed_is_refused(folder: Path, whole: bytes) -> None:
    assert fsstream("select", *OPTIONS, *SAVING, "rows").stdout == whole
    os.utime(folder / "rows", (1, 1))
    done = fsstream("resume", "saved")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"rows: the file has been written since" in done.stderr
    assert fsstream("resume", "saved", "rows").stdout == whole, "named, its content counts"
    (folder / "rows").write_bytes(ROWS + b"1 w1:1\n")
    done = fsstream("resume", "saved", "rows")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"the file has 7 " not in done.stderr
    assert f"the file has {len(ROWS) + 7} bytes, and had {len(ROWS)}".encode() in done.stderr


def test_files_beside_the_input_must_be_the_same(folder: Path) -> None:
    (folder / "valid").write_bytes(b"0 w1:1\n1 w2:1\n")
    assert fsstream("select", *OPTIONS, *SAVING, "--valid", "valid", "rows").returncode == 0
    assert fsstream("resume", "saved").returncode == 0
    (folder / "valid").write_bytes(b"0 w1:1\n1 w2:2\n")
    done = fsstream("resume", "saved")
    assert done.returncode == 3
    assert b"--valid is not the file" in done.stderr


def test_the_model_of_init_counts_until_something_was_learned_from_it(folder: Path) -> None:
    """Here a run has replaced it by its own, as a nightly job does."""
    assert fsstream("select", *OPTIONS, "--model", "model", "rows").returncode == 0
    first = (folder / "model").read_bytes()
    nightly = ["select", *OPTIONS, "--init", "model", "--model", "model", "rows"]
    done = fsstream(*nightly, "--checkpoint", "saved")  # too short to be saved amid
    assert done.returncode == 0
    second = (folder / "model").read_bytes()
    again = fsstream("resume", "saved")
    assert (again.returncode, again.stdout) == (3, b"")
    assert b"--init is not the file that the run began with" in again.stderr
    assert (folder / "model").read_bytes() == second
    (folder / "model").write_bytes(first)
    assert fsstream("resume", "saved").stdout == done.stdout
    (folder / "model").write_bytes(first)
    assert fsstream(*nightly, *SAVING).stdout == done.stdout
    (folder / "model").unlink()
    assert fsstream("resume", "saved").stdout == done.stdout, "its weights are in the checkpoint"


def test_it_goes_on_from_another_folder_and_publishes_where_it_was_told(folder: Path, whole: bytes) -> None:
    told = ["--output", "words", "--model", "model"]
    assert fsstream("select", *OPTIONS, *SAVING, *told, "rows").returncode == 0
    model = (folder / "model").read_bytes()
    for name in ("words", "model"):
        (folder / name).unlink()
    (folder / "elsewhere").mkdir()
    os.chdir(folder / "elsewhere")
    done = fsstream("resume", "../saved")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert ((folder / "words").read_bytes(), (folder / "model").read_bytes()) == (whole, model)
    assert fsstream("resume", "../saved", "--output", "mine").returncode == 0
    assert (folder / "elsewhere" / "mine").read_bytes() == whole


def test_what_was_told_in_a_folder_holds_in_another(folder: Path) -> None:
    """Also the model that a run started from, if it had learned nothing yet, and `-`."""
    assert fsstream("select", *OPTIONS, "--model", "yesterday", "rows").returncode == 0
    process = started("select", *OPTIONS, *SAVING, "--init", "yesterday", "--output", "-")
    until = time.monotonic() + 60
    while not (folder / "saved").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.communicate()
    whole = fsstream("select", *OPTIONS, "--init", "yesterday", "rows").stdout
    (folder / "elsewhere").mkdir()
    os.chdir(folder / "elsewhere")
    done = fsstream("resume", "../saved", stdin=ROWS)
    assert (done.returncode, done.stdout, done.stderr) == (0, whole, b"")
    assert {path.name for path in folder.iterdir()} == {"elsewhere", "rows", "saved", "yesterday"}


def test_a_new_run_does_not_leave_the_checkpoint_of_an_old_one(folder: Path) -> None:
    assert fsstream("select", *OPTIONS, *SAVING, "rows").returncode == 0
    before = (folder / "saved").read_bytes()
    process = started("select", "--format", "pairs", "--k", "3", *SAVING)
    until = time.monotonic() + 60
    while (folder / "saved").read_bytes() == before:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert fsstream("resume", "saved", stdin=ROWS).stdout == fsstream("select", "--k", "3", "rows").stdout


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_damaged_checkpoint_is_refused(place: int, folder: Path) -> None:
    fsstream("select", *OPTIONS, *SAVING, "rows")
    data = bytearray((folder / "saved").read_bytes())
    data[place] ^= 1
    (folder / "saved").write_bytes(data)
    done = fsstream("resume", "saved")
    assert (done.returncode, done.stdout) == (5, b"")


def test_a_model_is_no_checkpoint(folder: Path) -> None:
    fsstream("select", *OPTIONS, "--model", "model", "--output", "words", "rows")
    done = fsstream("resume", "model")
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"not a checkpoint but a model" in done.stderr


@pytest.mark.parametrize(("command", "file"), [("resume", "saved"), ("predict", "model")])
def test_a_file_of_another_version_is_refused(command: str, file: str, folder: Path) -> None:
    assert fsstream("select", *OPTIONS, *SAVING, "--model", "model", "rows").returncode == 0
    meta, members = unpack((folder / file).read_bytes(), file)
    for version in (meta["version"] - 1, meta["version"] + 1, str(meta["version"]), None):
        other = pack({**meta, "version": version}, members)
        (folder / file).write_bytes(other)
        done = fsstream(command, file, "rows")
        assert (done.returncode, done.stdout) == (5, b"")
        assert f"version {version}, expected {meta['version']}".encode() in done.stderr
        assert b"hint: use the fsstream that wrote it, or begin anew" in done.stderr
        assert (folder / file).read_bytes() == other


def test_a_second_signal_ends_the_program_at_once() -> None:
    script = (
        "import os, signal, sys, threading\n"
        "from fsstream.signals import StopSignals\n"
        "with StopSignals() as signals:\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('one', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('two', flush=True)\n"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", script],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, b"one\n")


def test_the_course_of_a_run_that_went_on_is_whole(folder: Path) -> None:
    """Its points, and how far the selections agree, are those of a run that was never stopped."""
    summaries = []
    assert fsstream("select", *OPTIONS, "--summary", "whole.json", stdin=ROWS).returncode == 0
    stopped = stopped_half_way(folder, signal.SIGTERM, "--summary", "went-on.json")
    assert stopped.returncode == 143, stopped.stderr
    assert fsstream("resume", "saved", stdin=ROWS).returncode == 0
    for name in ("whole.json", "went-on.json"):
        course = json.loads((folder / name).read_bytes())["course"]
        assert all(a["seconds"] <= b["seconds"] and a["memory"] <= b["memory"] for a, b in pairwise(course))
        summaries.append([(point["rows"], point["overlap"]) for point in course])
    whole, went_on = (dict(points) for points in summaries)
    assert len(whole) > 4
    assert went_on.keys() == whole.keys()
    assert went_on == whole
