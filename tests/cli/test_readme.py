"""Every command that README shows gives the output it shows."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def shown_commands() -> list[tuple[list[str], str]]:
    """The indented `$ fsstream ...` lines and the indented lines that follow each."""
    shown: list[tuple[list[str], str]] = []
    inside = False
    for line in (ROOT / "README.md").read_text().splitlines():
        if line.startswith("    $ fsstream "):
            shown.append((shlex.split(line)[2:], ""))
            inside = True
        elif inside and line.startswith("    "):
            shown[-1] = (shown[-1][0], shown[-1][1] + line[4:] + "\n")
        else:
            inside = False
    return shown


def test_readme_shows_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    shown = shown_commands()
    assert len(shown) >= 3
    for arguments, output in shown:
        done = fsstream(*arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode() == output, arguments
