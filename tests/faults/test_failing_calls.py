"""The n-th call fails: a share of the runs of scripts/fail_calls.py, which tries each n."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.cli.command import ROOT

SHARES = {"read": 3, "write": 3, "fsync": 3, "rename": 2, "open": 4, "fchmod": 2, "preadv": 1, "malloc": 60}


@pytest.mark.parametrize(("call", "every"), SHARES.items())
def test_a_call_that_fails_ends_the_run_as_documented(call: str, every: int) -> None:
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "fail_calls.py", "--call", call, "--every", str(every)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert sum(json.loads(line)["runs"] for line in done.stdout.splitlines()) > 0
