"""A learner's state is in memory once: while it is saved, and when a run goes on with it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

CELLS = 1 << 22
SKETCH = 3 * 4 * CELLS  # bytes


def peak(folder: Path, *words: str) -> int:
    """Of a run."""
    done = fsstream(*words, "--quiet", "--summary", str(folder / "summary"))
    assert done.returncode == 0, done.stderr
    return int(json.loads((folder / "summary").read_text())["peak_memory"])


def test_a_checkpoint_is_no_second_copy(tmp_path: Path) -> None:
    rows, saved = tmp_path / "rows", tmp_path / "saved"
    rng = random.Random(1)
    with rows.open("w") as file:  # names enough to write in every page of the sketch
        for number in range(1000):
            print(number % 2, *(rng.getrandbits(40) for _ in range(50)), file=file)
    common = ("select", str(rows), "--format", "tokens", "--k", "10", "--threads", "1", "--memory", "200MB")
    common += ("--block-size", "10000", "--set", "active=estimated")
    saves = ("--checkpoint", str(saved), "--checkpoint-every", "300KB")
    program = peak(tmp_path, *common, *saves, "--set", "sketch_width=64")
    sketch = ("--set", f"sketch_width={CELLS}", "--set", "sketch_depth=3")
    saving = peak(tmp_path, *common, *sketch, *saves)
    assert saved.stat().st_size > SKETCH
    assert SKETCH * 0.9 < saving - program < SKETCH * 1.25
    assert SKETCH * 0.9 < peak(tmp_path, "resume", str(saved)) - program < SKETCH * 1.25
