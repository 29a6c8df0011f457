"""A program may end with a stream half read, or right behind an error: nothing is in its way."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = {
    "an error that is caught": """
try:
    fsstream.select("bad", k=1, format="libsvm", threads=3)
except fsstream.FsstreamError as error:
    print(error.exit_code)
""",
    "an error that ends the program": """
import sys
sys.excepthook = lambda kind, error, _: print(error.exit_code)
fsstream.select("bad", k=1, format="libsvm", threads=3)
""",
    "rows that diverge": """
import sys
sys.excepthook = lambda kind, error, _: print(3)
fsstream.select("good", k=1, algo="iht", loss="squared", learning_rate=1e9, threads=3)
""",
    "a stream that is held half read": """
rows = iter(fsstream.read("good", threads=3, block_size=1000))
next(rows)
print(3)
""",
    "a stream that is dropped half read": """
for rows in fsstream.read("good", threads=3, block_size=1000):
    break
print(3)
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_ends_as_it_would(program: str, tmp_path: Path) -> None:
    """Threads that were left in the core aborted it: SIGABRT, nearly always."""
    (tmp_path / "bad").write_text("1 1:1\n0 2:1\n0 a:x\n")
    (tmp_path / "good").write_text("1 1:1\n0 2:1\n" * 20_000)
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", "import fsstream\n" + PROGRAMS[program]],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=100,
        )
        status = 1 if "excepthook" in PROGRAMS[program] else 0
        assert (done.returncode, done.stdout, done.stderr) == (status, b"3\n", b"")


def test_a_plan_of_bad_data_tells_which(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("1 1:1\n0 2:1\n0 a:x\n")
    for _ in range(3):
        done = fsstream("plan", "--k", "1", "--format", "libsvm", str(tmp_path / "bad"))
        assert (done.returncode, done.stdout, done.stderr.count(b"\nhint: ")) == (3, b"", 1)
        assert done.stderr.startswith(f"fsstream: error: {tmp_path}/bad:3:3: expected index:value".encode())
