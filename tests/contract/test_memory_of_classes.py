"""Learners of one class each share one memory, whenever their classes come and whichever of them grow."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import fsstream
from fsstream import _native
from fsstream.errors import LimitError
from fsstream.memory import resident_memory
from tests.cli.command import ROOT


@pytest.mark.parametrize("algo", ["b-arda", "sofs"])
def test_tables_of_classes_that_came_late_are_bounded_together(algo: str) -> None:
    """Each within the share of the first three, a hundred would take thirty times --memory."""
    words = ["--stream", "late", "--count", "400000", "--memory", "16MB", "--k", "10", "--algo", algo]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.measure_memory", *words], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"exit 4 " in done.stdout


def test_classes_that_do_not_fit_together_are_refused_with_all_of_the_memory() -> None:
    """The message told the share of one class as what --memory allows."""
    rows = b"".join(b"%s 1:1\n" % label for label in (b"a", b"b", b"c"))
    with pytest.raises(LimitError, match="for 2 classes, and --memory is 1 MB"):
        fsstream.select(rows, algo="ofs", k=5000, memory=10**6)


def test_a_small_sketch_takes_no_whole_huge_page() -> None:
    """A hundred of one megabyte once took two hundred."""
    names = np.arange(1 << 17, dtype=np.uint64)
    before = resident_memory()
    sketches = [_native.CountSketch(1, 1 << 18, seed) for seed in range(100)]
    for sketch in sketches:
        sketch.add(names, np.ones(len(names), np.float32))
    assert resident_memory() - before < 130 << 20
