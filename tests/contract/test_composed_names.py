"""Names that are composed take more than their text: of a column and a cell, of a namespace, of words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = 64 << 20


def vw_rows() -> bytes:
    """2 MB of text, 130 MB of names."""
    numbers = [b" ".join(b"%d" % ((row * 7 + at) % 97) for at in range(1000)) for row in range(97)]
    return b"".join(b"%d |%b %b\n" % (row % 2, b"n" * 200, numbers[row % 97]) for row in range(700))


def csv_rows() -> bytes:
    """3 MB of text, 300 MB of names."""
    names = b",".join(b"%b%d" % (b"c" * 300, at) for at in range(50))
    cells = [b",".join(b"v%d" % ((row + at) % 7) for at in range(50)) for row in range(7)]
    return (
        b"label," + names + b"\n" + b"".join(b"%d,%b\n" % (row % 2, cells[row % 7]) for row in range(20_000))
    )


@pytest.mark.parametrize(
    ("words", "rows"),
    [(["--format", "vw"], vw_rows()), (["--format", "csv", "--label-column", "label"], csv_rows())],
    ids=["vw", "csv"],
)
def test_they_count_towards_the_memory(words: list[str], rows: bytes, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(rows)
    run = ["select", *words, "--k", "10", "--quiet", "--memory", str(MEMORY), str(tmp_path / "rows")]
    done = fsstream(*run, "--block-size", "2MB")
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"the composed names of one block take " in done.stderr
    assert b"hint: raise --memory, lower --block-size" in done.stderr
    summary = tmp_path / "summary"
    smaller = fsstream(*run, "--block-size", "100KB", "--summary", str(summary))
    assert smaller.returncode == 0, smaller.stderr
    assert json.loads(summary.read_text())["peak_memory"] < MEMORY + (64 << 20)
    more = fsstream(*run, "--memory", "1GB", "--set", "sketch_width=65536")
    assert more.returncode == 0, more.stderr
