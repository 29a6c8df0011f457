"""`fsstream select` in a shell: pipes, files, exits, signals."""

from __future__ import annotations

import csv
import dataclasses
import fcntl
import json
import os
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from fsstream.config import SelectOptions
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"".join(b"%d 1:1 %d:1 7:0.5\n" % (i % 2, 2 + i % 2) for i in range(50))
SELECT = ("select", "--format", "libsvm", "--k", "2")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.svm"
    path.write_bytes(ROWS)
    return path


def test_the_main_job(data: Path) -> None:
    done = fsstream(*SELECT, str(data))
    assert (done.returncode, done.stderr) == (0, b"")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(record["rank"], record["feature"]) for record in records] == [(1, "3"), (2, "2")]
    assert [record["weight"] > 0 for record in records] == [True, False]
    assert list(records[0]) == ["rank", "feature", "weight"]


def test_output_model_and_summary_appear_together(data: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("output", "model", "summary")}
    flags = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    done = fsstream(*SELECT, *flags, str(data))
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(files["output"].read_bytes().splitlines()) == 2
    summary = json.loads(files["summary"].read_bytes())
    assert summary["input"]["rows"] == 50
    assert summary["input"]["bytes"] == len(ROWS)
    assert summary["task"]["labels"] == ["0", "1"]
    assert summary["progressive_validation"]["mean_loss"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.svm", "model", "output", "summary"]


def test_a_stream_that_is_sorted_by_class_is_asked_about() -> None:
    rows = [b"%d 1:%d 2:1\n" % (i // 60, i) for i in range(120)]
    assert b"note: the first rows come class after class" in fsstream(*SELECT, stdin=b"".join(rows)).stderr
    assert fsstream(*SELECT, "--shuffle", stdin=b"".join(rows)).stderr == b""
    assert fsstream(*SELECT, stdin=b"".join(rows[::2] + rows[1::2][::-1])).returncode == 0
    assert fsstream(*SELECT, stdin=b"".join(rows[i * 7 % 120] for i in range(120))).stderr == b""


@pytest.mark.parametrize("algo", ["mission", "iht", "awm", "bear", "b-arda", "ofs", "sofs"])
@pytest.mark.parametrize("labels", ["01", "10"])
def test_a_plain_run_does_not_wait_for_numpy(algo: str, labels: str, tmp_path: Path) -> None:
    rows = "".join(f"{labels[i % 2]} a:1 {'bc'[i % 2]}:1\n" for i in range(50))
    done = fsstream(
        "select", "--algo", algo, "--k", "2", "--summary", str(tmp_path / "summary"), stdin=rows.encode()
    )
    assert len(done.stdout.splitlines()) == 2
    assert json.loads((tmp_path / "summary").read_bytes())["numpy"] is None


@pytest.mark.parametrize(
    ("stdin", "arguments", "status", "message"),
    [
        (b"", SELECT, 3, "no data"),
        (b"1 1:1\n", SELECT, 3, "label '1'"),
        (b"1 1:1\n0 1:x\n", SELECT, 3, "<stdin>:2:5: expected"),
        (b"1 1:1\n0 1:1\n2 3:1\n", SELECT, 2, "--loss"),
        (b"1 1:1\n0 1:1\n", ("select", "--format", "libsvm"), 2, "--k is missing"),
        (b"", (*SELECT, "--k", "0"), 2, "--k"),
        (b"", (*SELECT, "--algo", "misson"), 2, "mission"),
        (b"", (*SELECT, "--l1", "1"), 2, "--l1 has no use"),
        (b"", (*SELECT, "--workers", "2"), 2, "--workers has no use"),
        (b"", (*SELECT, "--set", "widht=3"), 2, "widht"),
        (b"", ("select", "--algo", "hashing", "--k", "3"), 2, "--k has no use"),
        (b"", (*SELECT, "no/such/file"), 2, "no/such/file"),
        (b"", (*SELECT, "--output", "no/such/folder/file"), 1, "no folder"),
        (b"", (*SELECT, "--memory", "1kB"), 4, "--memory"),
        (b"", (*SELECT, "--memory", "many"), 2, "expected a size"),
        (b"1 1:1\n0 1:1\n", (*SELECT, "--learning-rate", "1e30", "--loss", "squared"), 1, "diverge"),
    ],
)
def test_what_goes_wrong_is_said_with_its_exit_status(
    stdin: bytes, arguments: tuple[str, ...], status: int, message: str
) -> None:
    done = fsstream(*arguments, stdin=stdin * (200 if status == 1 else 1))
    assert done.returncode == status, done.stderr
    assert done.stdout == b""
    text = done.stderr.decode()
    assert text.startswith("fsstream: error: ")
    assert message in text
    assert "Traceback" not in text


def test_the_name_of_the_output_decides_its_form(data: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in fsstream(*SELECT, str(data)).stdout.splitlines()]
    assert fsstream(*SELECT, "--output", str(tmp_path / "out.csv"), str(data)).returncode == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["rank"], row["feature"], float(row["weight"])) for row in rows] == [
        (str(line["rank"]), line["feature"], line["weight"]) for line in lines
    ]
    done = fsstream(*SELECT, "--output", str(tmp_path / "out.parquet"), str(data))
    try:
        from pyarrow import parquet
    except ImportError:
        assert done.returncode == 2
        assert b"fsstream[parquet]" in done.stderr
    else:
        assert [row["feature"] for row in parquet.read_table(tmp_path / "out.parquet").to_pylist()] == [
            "3",
            "2",
        ]


def test_a_failed_run_leaves_what_was_there(tmp_path: Path) -> None:
    output = tmp_path / "selection.jsonl"
    output.write_bytes(b"yesterday\n")
    done = fsstream(*SELECT, "--output", str(output), "--model", str(tmp_path / "m"), stdin=ROWS + b"1 x\n")
    assert done.returncode == 3
    assert output.read_bytes() == b"yesterday\n"
    assert [path.name for path in tmp_path.iterdir()] == ["selection.jsonl"]


def test_bad_records_are_skipped_counted_and_copied(tmp_path: Path) -> None:
    bad, summary = tmp_path / "bad", tmp_path / "summary"
    skip = (*SELECT, "--on-bad-line", "skip", "--bad-lines", str(bad), "--summary", str(summary))
    done = fsstream(*skip, stdin=b"0 a:1\n" + ROWS + b"1 5\n")
    assert done.returncode == 0
    assert done.stdout == fsstream(*SELECT, stdin=ROWS).stdout
    assert bad.read_bytes() == b"0 a:1\n1 5\n"
    assert json.loads(summary.read_bytes())["input"]["bad_records"] == 2
    many = fsstream(*skip, "--max-bad", "1", stdin=b"0 a:1\n" + ROWS + b"1 5\n")
    assert many.returncode == 3
    assert b"error: more bad records than --max-bad 1; the last: <stdin>:52:3: expected" in many.stderr
    assert fsstream(*skip, "--max-bad", "2", stdin=b"0 a:1\n" + ROWS + b"1 5\n").returncode == 0


@pytest.mark.parametrize("passes", ["1", "3"])
def test_copies_of_bad_records_are_of_this_run(passes: str, data: Path, tmp_path: Path) -> None:
    """Those of yesterday stayed where today had none."""
    bad = tmp_path / "bad"
    bad.write_bytes(b"yesterday's\n")
    skip = (*SELECT, "--passes", passes, "--on-bad-line", "skip", "--bad-lines", str(bad))
    assert fsstream(*skip, str(data)).returncode == 0
    assert bad.read_bytes() == b""


def test_flags_beat_environment_beat_config_beat_defaults(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('k = 1\nformat = "libsvm"\nseed = 5\n[set]\nsketch_depth = 1\n')

    def seen(*flags: str, env: dict[str, str] | None = None) -> tuple[int, int, int]:
        summary = tmp_path / "summary"
        done = fsstream("select", *flags, "--summary", str(summary), str(data), env=env)
        assert done.returncode == 0, done.stderr
        options = json.loads(summary.read_bytes())["options"]
        return len(done.stdout.splitlines()), options["seed"], options["set"]["sketch_depth"]

    assert seen("--config", str(config)) == (1, 5, 1)
    assert seen("--config", str(config), env={"FSSTREAM_K": "2"}) == (2, 5, 1)
    assert seen("--config", str(config), "--k", "3", env={"FSSTREAM_K": "2"}) == (3, 5, 1)
    assert seen("--config", str(config), "--seed", "6", "--set", "sketch_depth=5") == (1, 6, 5)


def test_the_summary_holds_every_option_as_it_was_in_the_end(data: Path, tmp_path: Path) -> None:
    """What moves bytes, or decides which records count, was left out: --init, --valid, --on-bad-line ..."""
    summary, model = tmp_path / "summary", tmp_path / "model"
    given = ["--k", "2", "--on-bad-line", "skip", "--max-bad", "3", "--valid", str(data), "--threads", "1"]
    assert fsstream("select", "--k", "2", "--model", str(model), str(data)).returncode == 0
    done = fsstream("select", *given, "--init", str(model), "--summary", str(summary), str(data))
    assert done.returncode == 0, done.stderr
    options = json.loads(summary.read_bytes())["options"]
    assert options.keys() == {field.name for field in dataclasses.fields(SelectOptions)} - {"inputs"}
    expected = {
        "k": 2, "on_bad_line": "skip", "max_bad": 3, "valid": str(data), "threads": 1, "init": str(model),
        "summary": str(summary), "format": "libsvm", "loss": "logistic", "passes": 1, "intercept": True,
    }  # fmt: skip
    assert options.items() >= expected.items()
    assert options["memory"] > 0


def test_an_unknown_key_in_a_config_is_answered_with_the_nearest(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text("learning-rat = 1\n")
    done = fsstream("select", "--config", str(config))
    assert done.returncode == 2
    assert b"did you mean 'learning_rate'?" in done.stderr


def test_a_held_lock_is_exit_75(data: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert fsstream(*SELECT, "--lock", str(lock), str(data)).returncode == 75
    assert fsstream(*SELECT, "--lock", str(lock), str(data)).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_that_waits_for_input(number: int, tmp_path: Path) -> None:
    output = tmp_path / "out"
    process = subprocess.Popen(
        [*PROGRAM, *SELECT, "--output", str(output)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin
    process.stdin.write(ROWS * 5000)  # more than a pipe holds: it has begun to read
    process.stdin.flush()
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert errors.decode() == f"fsstream: stopped by {signal.Signals(number).name}\n"
    assert not output.exists()


def test_a_closed_pipe_is_quiet(data: Path) -> None:
    program = shlex.join([*PROGRAM, *SELECT, str(data)])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {program} | true; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == b""
    assert done.stdout == b"0\n"


def test_a_model_starts_the_next_day(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    first = fsstream(*SELECT, "--model", str(model), str(data))
    again = fsstream(*SELECT, "--init", str(model), str(data))
    assert (first.returncode, again.returncode) == (0, 0)
    weights = [json.loads(done.stdout.splitlines()[0])["weight"] for done in (first, again)]
    assert weights[1] > weights[0] > 0
    other = fsstream(*SELECT, "--init", str(model), "--loss", "squared", str(data))
    assert other.returncode == 2


def test_a_state_of_another_memory_is_refused_with_what_would_do(data: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "model")
    assert fsstream(*SELECT, "--memory", "1GB", "--with-state", "--model", model, str(data)).returncode == 0
    done = fsstream(*SELECT, "--memory", "500KB", "--init", model, str(data))
    assert done.returncode == 2
    assert b"its state was learned with --memory 1 GB" in done.stderr
    assert done.stderr.endswith(b"hint: say the same --memory in both runs\n")


@pytest.mark.parametrize(("passes", "exit_code"), [("1", 0), ("2", 2)])
def test_a_pipe_to_validate_on_is_read_once(passes: str, exit_code: int, data: Path, tmp_path: Path) -> None:
    """More passes were learned before it was told, and then as an input without data."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"exec timeout 20 cat {data} > {pipe}"]) as writer:
        done = fsstream("select", "--k", "3", "--passes", passes, "--valid", str(pipe), str(data))
        writer.kill()
    assert done.returncode == exit_code, done.stderr
    assert (b"is read after each pass" in done.stderr) == (exit_code == 2)


def test_validation_is_measured_after_each_pass(data: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    done = fsstream(
        *SELECT,
        "--passes",
        "3",
        "--set",
        "tolerance=0",
        "--valid",
        str(data),
        "--summary",
        str(summary),
        str(data),
    )
    assert done.returncode == 0, done.stderr
    history = json.loads(summary.read_bytes())["validation"]
    assert [entry["pass"] for entry in history] == [1, 2, 3]
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[-1]["accuracy"] == 1
