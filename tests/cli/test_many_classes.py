"""Rows of a block times classes: their scores are made some at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fsstream import run
from fsstream.config import SelectOptions
from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTES = 1 << 20


def test_scores_of_many_classes_keep_within_the_memory(tmp_path: Path) -> None:
    """20,000 rows of 600 classes in one block would have 48 MB of scores."""
    summary = tmp_path / "summary"
    peaks = []
    for classes in (600, 3):
        rows = b"".join(b"c%d a%d\n" % (number % classes, number % 7) for number in range(60_000))
        done = fsstream(
            "select", "--format", "tokens", "--loss", "softmax", "--k", "5", "--set", "sketch_width=64",
            "--threads", "1", "--quiet", "--summary", str(summary), stdin=rows,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        peaks.append(json.loads(summary.read_text())["peak_memory"])
    assert peaks[0] < peaks[1] + 24 * MEGABYTES


@pytest.mark.parametrize("algo", ["mission", "ofs"])
def test_parts_of_a_batch_change_nothing(algo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"".join(b"c%d a%d b%d\n" % (n * n % 5, n % 5, n % 11) for n in range(500)))
    options = SelectOptions(inputs=(str(path),), format="tokens", algo=algo, k=3, quiet=True)
    whole = run.select(options)
    monkeypatch.setattr("fsstream.run._SCORES", 33)
    parts = run.select(options)
    assert parts.model.to_bytes() == whole.model.to_bytes()
    assert parts.summary["progressive_validation"] == whole.summary["progressive_validation"]
