"""Runs that are killed go on: a few of the kills of scripts/kill_and_resume.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.command import ROOT


@pytest.mark.parametrize("asked", [["--steps", "2"], ["--kills", "10", "--family", "mission"]])
def test_what_comes_out_is_the_same(asked: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "kill_and_resume.py", *asked],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert results
    assert all(result.get("same", True) and not result.get("not_the_same") for result in results)
