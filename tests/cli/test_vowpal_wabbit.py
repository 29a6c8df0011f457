"""`fsstream transform sel.jsonl big.svm --to vw | vw`: the pipe into Vowpal Wabbit, where it is installed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import PROGRAM, fsstream

if TYPE_CHECKING:
    from pathlib import Path

VW = """
from vowpalwabbit import pyvw
pyvw.Workspace("-d /dev/stdin --loss_function logistic --binary").finish()
"""
ROWS = b"".join(b"%d %d:1 3:1 %d:1\n" % ((-1, 1)[i % 2], 1 + i % 2, 10 + i % 7) for i in range(200))


@pytest.mark.timeout(300)
def test_a_reduced_stream_is_learned_by_vowpal_wabbit(tmp_path: Path) -> None:
    pytest.importorskip("vowpalwabbit")
    selection, rows = tmp_path / "sel.jsonl", tmp_path / "rows.svm"
    rows.write_bytes(ROWS)
    selection.write_bytes(fsstream("select", "--k", "2", str(rows)).stdout)
    reduce = [*PROGRAM, "transform", str(selection), str(rows), "--to", "vw"]
    with subprocess.Popen(reduce, stdout=subprocess.PIPE) as reduced:
        learned = subprocess.run(
            [sys.executable, "-c", VW], stdin=reduced.stdout, capture_output=True, check=True
        )
    told = learned.stderr.decode()
    assert "number of examples = 200" in told
    assert "total feature number = 400" in told  # one of the two selected features, and a constant
    loss = float(told.partition("average loss = ")[2].split()[0])
    assert loss < 0.2
