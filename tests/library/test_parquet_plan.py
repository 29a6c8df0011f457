"""`fsstream plan` of Parquet: a beginning is looked at and tried, and the index says how long all is."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fsstream.config import SelectOptions
from fsstream.planning import beginning, estimate
from fsstream.planning.estimate import plan_run
from fsstream.planning.trial import run_in_own_process

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 50_000


def table(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(4)
    x = rng.normal(size=rows)
    tags = pa.FixedSizeListArray.from_arrays(pa.array(rng.integers(0, 10**6, rows * 4).astype(str)), 4)
    return pa.table({"label": (x > 0).astype(int), "x": x, "z": rng.normal(size=rows), "tags": tags})


@pytest.mark.parametrize("algo", ["mission", "b-amd"])
@pytest.mark.parametrize("group", [5_000, ROWS])
def test_what_was_not_seen_is_reckoned(
    algo: str, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(table(), path, row_group_size=group)
    size = path.stat().st_size
    monkeypatch.setattr(beginning, "LARGEST", size // 2)
    monkeypatch.setattr(estimate, "FIRST_TRIAL", size // 8)
    options = SelectOptions(inputs=(str(path),), algo=algo, k=5, quiet=True)
    plan = plan_run(options)
    assert 0.4 < plan["looked_at"] < 0.8
    summary = run_in_own_process(options, tmp_path / "summary")
    assert plan["memory"] == pytest.approx(summary["peak_memory"], rel=0.1)
    assert plan["rows"] == summary["input"]["rows"] == ROWS
    assert plan["entries"] == pytest.approx(summary["input"]["entries"], rel=0.01)
    assert plan["passes"] == summary["passes"]


def test_files_seen_whole_are_measured(tmp_path: Path) -> None:
    """Several of them, packed too: what was looked at goes by rows."""
    one, two = tmp_path / "one.parquet", tmp_path / "two.gz"
    parquet.write_table(table(3_000), one)
    two.write_bytes(gzip.compress(one.read_bytes()))
    plan = plan_run(SelectOptions(inputs=(str(one), str(two)), k=5, quiet=True))
    assert (plan["rows"], plan["looked_at"], plan["timed_on"]) == (6_000, 1.0, 1.0)


def test_a_trial_reads_the_first_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(table(), path, row_group_size=4_000)
    options = SelectOptions(inputs=(str(path),), k=5, quiet=True)
    assert run_in_own_process(options, tmp_path / "summary", 6_000)["input"]["rows"] == 8_000


def test_a_pipe_of_parquet_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)
    plan = plan_run(SelectOptions(inputs=(str(pipe),), k=5, quiet=True))
    assert "no file is not read" in plan["note"]
    assert plan["rows"] is None
