"""Standard streams that came closed or are full: what can be done is done, the rest is told."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import PROGRAM, ROOT

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"1 a:1 b:2\n0 c:1 b:1\n" * 20
COMMON = ["select", "--k", "2", "--format", "pairs"]


def run(words: list[str], redirections: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """As a shell starts it."""
    (folder / "rows").write_bytes(ROWS)
    script = f'exec "$@" {redirections}'
    return subprocess.run(
        ["bash", "-c", script, "bash", *PROGRAM, *words],
        cwd=folder, capture_output=True, check=False, timeout=100, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize("redirections", ["2>&-", "2>/dev/full"])
def test_messages_that_nobody_gets_do_not_end_a_run(redirections: str, tmp_path: Path) -> None:
    done = run([*COMMON, "rows"], redirections, tmp_path)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 2)


@pytest.mark.parametrize("words", [[*COMMON, "rows"], ["algos"]])
def test_a_closed_standard_output_is_told(words: list[str], tmp_path: Path) -> None:
    done = run(words, ">&-", tmp_path)
    assert done.returncode == 1
    assert b"standard output is closed" in done.stderr


@pytest.mark.parametrize("words", [COMMON, [*COMMON, "-"]])
def test_a_closed_standard_input_is_told(words: list[str], tmp_path: Path) -> None:
    done = run(words, "<&-", tmp_path)
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


def test_files_need_no_standard_stream(tmp_path: Path) -> None:
    done = run([*COMMON, "--output", "found", "--model", "model", "rows"], "<&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "found").read_bytes().count(b"\n") == 2
    assert (tmp_path / "model").exists()
