"""What a log is told while a run goes on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import fsstream
from fsstream import progress

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def told(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **options: object
) -> list[str]:
    """The lines of a run that says something after each batch."""
    monkeypatch.setattr(progress, "_LOG_SECONDS", 0.0)
    fsstream.select(str(data), quiet=False, progress=True, **options)
    return [line for line in capsys.readouterr().err.splitlines() if " rows" in line or " features" in line]


def rows_of(path: Path, rows: int, features: int) -> Path:
    draw = random.Random(0)
    lines = [
        f"{row % 2} " + " ".join(f"{draw.randrange(features)}:{draw.random():.3f}" for _ in range(50))
        for row in range(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_that_are_transposed_are_counted_and_what_goes_to_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rows_of(tmp_path / "rows", 6000, 100_000)
    lines = told(data, capsys, monkeypatch, algo="os", k=2, passes=1, memory="8MB")
    turned = [line for line in lines if line.startswith("fsstream: transposing: ")]
    assert " 6000 rows, " in turned[-1]
    assert "MB on disk" in turned[-1]
    passed = [line for line in lines if line.startswith("fsstream: pass 1: ")]
    assert passed
    assert all(line.endswith(" features") for line in passed)


def test_rows_of_a_pass_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = told(rows_of(tmp_path / "rows", 50, 100), capsys, monkeypatch, algo="mission", k=2)
    assert lines
    assert all(line.startswith("fsstream: pass 1: ") for line in lines)
    assert "50 rows, " in lines[-1]
    assert "progressive loss" in lines[-1]
