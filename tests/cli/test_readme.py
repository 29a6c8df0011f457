"""Every command that README and docs show after a `$` gives the output they show."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ["README.md", "docs/reference.md"]


def shown_commands(page: str) -> list[tuple[str, str]]:
    """The indented `$ ...` lines and the indented lines that follow each."""
    shown: list[tuple[str, str]] = []
    inside = False
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("    $ "):
            shown.append((line[6:], ""))
            inside = True
        elif inside and line.startswith("    "):
            shown[-1] = (shown[-1][0], shown[-1][1] + line[4:] + "\n")
        else:
            inside = False
    return shown


@pytest.mark.parametrize("page", PAGES)
def test_what_is_shown_happens(page: str, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "fsstream"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fsstream "$@"\n')
    program.chmod(0o755)
    (tmp_path / "data").symlink_to(ROOT / "data")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    shown = shown_commands(page)
    assert len(shown) >= 3
    for command, output in shown:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, env=environment,
            capture_output=True, check=False, timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout.decode() == output, command


def test_the_reference_knows_every_command() -> None:
    from fsstream.cli.main import COMMANDS

    text = (ROOT / "docs" / "reference.md").read_text()
    assert [name for name in COMMANDS if f"`fsstream {name}" not in text] == []
