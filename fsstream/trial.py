"""The command `select` in a process of its own, so that its peak of memory is its alone.

In: options as JSON on standard input. Out: the summary, in the file that they name.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from fsstream.config import SelectOptions, from_mapping
from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from pathlib import Path

    from fsstream.config import InputOptions


def run_apart(options: InputOptions, summary: Path) -> dict[str, Any]:
    """The summary of a run; FsstreamError with the message of one that failed."""
    done = subprocess.run(
        [sys.executable, "-m", "fsstream.trial"],
        input=json.dumps({**dataclasses.asdict(options), "summary": str(summary)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise FsstreamError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it was ended")
    found: dict[str, Any] = json.loads(summary.read_bytes())
    return found


def _main() -> None:
    from fsstream._native import return_freed_memory
    from fsstream.cli.main import cli  # with all that it brings into memory
    from fsstream.cli.select import select

    assert cli
    return_freed_memory()  # as the command does
    try:
        select(from_mapping(SelectOptions, json.load(sys.stdin)))
    except FsstreamError as error:
        sys.exit(error.message)


if __name__ == "__main__":
    _main()
