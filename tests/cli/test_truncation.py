"""A compressed input cut at any byte: exit 3, and the output of the run before stays as it was."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fsstream.cli.main import run
from tests.cli.command import PROGRAM, ROOT, fsstream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = b"".join(b"%d 1:1 %d:1 7:0.5\n" % (i % 2, 2 + i % 2) for i in range(8))
SELECT = ["select", "--format", "libsvm", "--k", "2", "--threads", "1", "--quiet"]
KEPT = b'{"from": "yesterday"}\n'


def zst(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


PACKED = {"gz": gzip.compress(ROWS), "bz2": bz2.compress(ROWS), "xz": lzma.compress(ROWS), "zst": zst(ROWS)}


@pytest.fixture
def stdin() -> Iterator[int]:
    """Standard input is put back afterwards."""
    kept = os.dup(0)
    yield kept
    os.dup2(kept, 0)
    os.close(kept)


def pour(data: bytes) -> None:
    """Make a pipe with this content standard input."""
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    os.dup2(read_end, 0)
    os.close(read_end)


@pytest.mark.parametrize("where", ["file", "stdin"])
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_every_cut_is_refused(
    kind: str, where: str, tmp_path: Path, stdin: int, capfd: pytest.CaptureFixture[str]
) -> None:
    packed, path, output = PACKED[kind], tmp_path / "data", tmp_path / "out.jsonl"
    output.write_bytes(KEPT)
    for cut in range(len(packed)):
        if where == "file":
            path.write_bytes(packed[:cut])
            status = run([*SELECT, "--output", str(output), str(path)])
        else:
            pour(packed[:cut])
            status = run([*SELECT, "--output", str(output)])
        message = capfd.readouterr().err
        assert status == 3, cut
        assert "truncated" in message if cut else "no data" in message
        assert output.read_bytes() == KEPT
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "data") == ["out.jsonl"]
    pour(packed)
    assert run([*SELECT, "--output", str(output)]) == 0
    assert output.read_bytes() != KEPT


@pytest.mark.parametrize("kind", sorted(PACKED))
def test_without_programs_on_the_path(kind: str) -> None:
    """Nothing is left to a decompression program, whether there is one or not."""
    half = PACKED[kind][: len(PACKED[kind]) // 2]
    for path in ("/nowhere", os.environ["PATH"]):
        done = fsstream(*SELECT, stdin=half, env={"PATH": path})
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"<stdin>: " + kind.encode() + b" data truncated" in done.stderr
        assert b"hint: " in done.stderr


@pytest.mark.parametrize("kind", sorted(PACKED))
def test_garbage_behind_the_data_is_refused(kind: str) -> None:
    done = fsstream(*SELECT, stdin=PACKED[kind] + b"<html>")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"something else follows the end" in done.stderr


# A process inherits the peak of the one that starts it: this one is small.
MEASURED = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_line_of_10_gb_from_a_file_of_10_mb_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(100 * gzip.compress(b"1" * (100 << 20)))  # 10 GB
    assert path.stat().st_size < 12 << 20
    words = [sys.executable, "-c", MEASURED, *PROGRAM, *SELECT, str(path)]
    done = subprocess.run(words, capture_output=True, check=False, cwd=ROOT, text=True)
    assert done.returncode == 3
    assert "bomb.gz:1: a record is longer than 64 MB" in done.stderr
    assert int(done.stdout) < 300_000  # KB
