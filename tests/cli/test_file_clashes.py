"""A file that is read is not written by the same command, and none is written twice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fsstream import run
from fsstream.apply_options import TransformOptions
from fsstream.config import SelectOptions
from fsstream.errors import UsageError
from fsstream.file_clashes import check_file_clashes
from fsstream.option_fields import names_of_kind
from tests.cli.command import PROGRAM, ROOT, fsstream

ROWS = b"1 a:1 b:2\n0 c:1 b:1\n" * 20
COMMON = ["select", "--quiet", "--k", "2", "--format", "pairs"]


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that everything is in holds them, and a hard link to them."""
    monkeypatch.chdir(tmp_path)
    Path("rows").write_bytes(ROWS)
    os.link("rows", "also")
    Path("link").symlink_to("rows")
    return tmp_path / "rows"


@pytest.mark.parametrize(
    "words",
    [
        ["--output", "rows", "rows"],
        ["--model", "./also", "rows"],
        ["--summary", "link", "rows"],
        ["--checkpoint", "rows", "rows"],
        ["--on-bad-line", "skip", "--bad-lines", "rows", "rows"],
        ["--valid", "also", "--output", "rows", "-"],
        ["--output", "new", "--model", "../{folder}/new", "rows"],
        ["--model", "new", "--checkpoint", "new", "rows"],
        ["--lock", "new", "--output", "new", "rows"],
    ],
)
def test_what_would_be_lost_is_refused(words: list[str], rows: Path) -> None:
    words = [word.format(folder=rows.parent.name) for word in words]
    done = fsstream(*COMMON, *words)
    assert done.returncode == 2, done.stderr
    assert b"written over by" in done.stderr
    assert rows.read_bytes() == ROWS
    assert sorted(os.listdir()) == ["also", "link", "rows"]


def test_an_input_on_standard_input_is_known(rows: Path) -> None:
    with rows.open("rb") as file:
        done = subprocess.run(
            [*PROGRAM, *COMMON, "--output", "rows"], stdin=file, capture_output=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=100,
        )  # fmt: skip
    assert done.returncode == 2
    assert rows.read_bytes() == ROWS


def test_a_model_is_not_replaced_by_what_it_predicts(rows: Path) -> None:
    assert fsstream(*COMMON, "--model", "model", "rows").returncode == 0
    before = Path("model").read_bytes()
    for command in ("predict", "evaluate", "transform"):
        assert fsstream(command, "model", "rows", "--output", "model").returncode == 2
        assert Path("model").read_bytes() == before


def test_a_model_may_be_kept_up_to_date(rows: Path) -> None:
    for more in ([], ["--init", "model"]):
        done = fsstream(*COMMON, "--model", "model", *more, "rows")
        assert done.returncode == 0, done.stderr


def test_pipes_and_devices_are_not_files(rows: Path) -> None:
    done = fsstream(*COMMON, "--output", "/dev/null", "--model", "/dev/null", "/dev/stdin", stdin=ROWS)
    assert done.returncode == 0, done.stderr


def test_the_library_refuses_too(rows: Path) -> None:
    with pytest.raises(UsageError, match="written over"):
        run.select(SelectOptions(inputs=("rows",), format="pairs", k=2, checkpoint="rows"))
    assert rows.read_bytes() == ROWS


@pytest.mark.parametrize("command", ["merge", "report"])
@pytest.mark.parametrize("output", ["model", "linked"])
def test_a_model_that_is_read_is_not_written_over(command: str, output: str, rows: Path) -> None:
    for name in ("model", "other"):
        assert fsstream(*COMMON, "--model", name, str(rows)).returncode == 0
    Path("linked").symlink_to("model")
    before = Path("model").read_bytes()
    done = fsstream(command, "--output", output, "other", "model")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(
        b"fsstream: error: model would be read, and written over by --output\nhint: "
    )
    assert Path("model").read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in (SelectOptions, TransformOptions)
        for name in names_of_kind(kind, "path", "table")
        if name != "spool_dir"
    ],
)
def test_every_option_that_names_a_file_is_compared(kind: type, name: str) -> None:
    other = "bad_lines" if name == "output" else "output"
    with pytest.raises(UsageError, match=r"would be (read|written), and written over by"):
        check_file_clashes(kind(inputs=("rows",), **{name: "one", other: "one"}))
