"""The command as a user runs it: a process of its own, bytes in, bytes and an exit status out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAM = [sys.executable, "-m", "fsstream"]


def fsstream(
    *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `fsstream` with the arguments."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run(
        [*PROGRAM, *arguments], input=stdin, capture_output=True, check=False, env=environment, timeout=100
    )
