"""Golden cases: a command line, what goes in, and all that comes out, as data in cases.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import fsstream

CASES = tomllib.loads((Path(__file__).parent / "cases.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in case.get("files", {}).items():
        Path(name).write_text(text)
    done = fsstream(*case["command"], stdin=case.get("stdin", "").encode())
    seen = {"exit": done.returncode, "stdout": done.stdout.decode(), "stderr": done.stderr.decode()}
    expected = {"exit": 0, "stdout": "", "stderr": ""} | {key: case[key] for key in case if key in seen}
    assert seen == expected
