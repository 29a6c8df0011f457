"""Rows of a block times classes: their scores are made some at a time."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from fsstream import run
from fsstream._native import LossMeter
from fsstream.checkpoint import load_checkpoint
from fsstream.config import SelectOptions
from fsstream.errors import Interrupted
from fsstream.resume_options import ResumeOptions
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


@pytest.mark.parametrize("stop", [1, 4, 30])
@pytest.mark.parametrize(
    ("algo", "more"),
    [("mission", {}), ("mission", {"passes": 2}), ("ofs", {}), ("b-arda", {}), ("iht", {"loss": "logistic"}),
     ("bear", {"loss": "logistic"}), ("mission", {"shuffle": True})],
)  # fmt: skip
def test_a_signal_amid_a_batch_is_heard_and_nothing_is_lost(
    algo: str, more: dict[str, Any], stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes come late; a part of a batch is some rows."""
    path, saved = tmp_path / "rows", str(tmp_path / "saved")
    path.write_bytes(b"".join(b"c%d a%d b%d\n" % (n * n % (5 + n // 100), n % 5, n % 11) for n in range(900)))
    options = SelectOptions(
        inputs=(str(path),), format="tokens", algo=algo, k=3, quiet=True, block_size=3000, **more
    )
    monkeypatch.setattr("fsstream.run._SCORES", 100)
    whole = run.select(options)
    parts = Counter[str]()
    add = LossMeter.add

    class Stopping(LossMeter):
        def add(self, *given: Any) -> None:
            add(self, *given)
            parts["learned"] += 1
            if parts["learned"] == stop:
                os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("fsstream.run.LossMeter", Stopping)
    with pytest.raises(Interrupted):
        run.select(dataclasses.replace(options, checkpoint=saved))
    assert parts["learned"] == stop
    found = load_checkpoint(saved)
    assert found.snapshot is not None
    assert found.snapshot.begun > 0
    again = run.resume(found, found.resumed(ResumeOptions(checkpoint_file=saved)))
    assert again.model.to_bytes() == whole.model.to_bytes()
    assert again.summary["progressive_validation"] == whole.summary["progressive_validation"]
    assert [point["rows"] for point in again.summary["course"]] == [
        point["rows"] for point in whole.summary["course"]
    ]
