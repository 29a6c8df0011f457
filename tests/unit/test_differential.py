"""A little of what scripts/differential.py does with millions."""

from __future__ import annotations

import importlib.util
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "differential.py"
spec = importlib.util.spec_from_file_location("differential", SCRIPT)
assert spec
assert spec.loader
differential = importlib.util.module_from_spec(spec)
spec.loader.exec_module(differential)


@pytest.mark.parametrize("kind", differential.CHECKS)
def test_others_read_the_same(kind: str) -> None:
    if kind == "jellyfish" and shutil.which(kind) is None:
        pytest.skip("jellyfish is not installed")
    for seed in range(3):
        differential.CHECKS[kind](200, random.Random(seed))


def test_a_difference_is_seen() -> None:
    with pytest.raises(AssertionError):
        differential.check_values(["0.1", "0.3"], np.array([0.1, 0.300001], np.float32))
    assert list(differential.words("ACGNAC", 2, canonical=True)) == ["AC", "CG", "AC"]
