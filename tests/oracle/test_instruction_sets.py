"""The same bits whatever registers the machine has."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LEARN = """
import hashlib, sys
import numpy as np
from tests.oracle.test_mission import batch_of, draw_rows, learner
digest = hashlib.sha256()
for active in ("exact", "estimated"):
    for depth in (1, 3, 5, 7):
        mission = learner(20, "logistic", {"l2": 1e-4}, active=active, sketch_depth=depth, sketch_width=256)
        digest.update(mission.update(batch_of(draw_rows(depth, 500, 300, "logistic"))).tobytes())
        for name, array in sorted(mission.state().items()):
            digest.update(array.tobytes())
print(digest.hexdigest())
"""


def digest(instruction_set: str) -> str:
    environment = {**os.environ, "FSSTREAM_ISA": instruction_set}
    run = subprocess.run(
        [sys.executable, "-c", LEARN], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.parametrize("instruction_set", ["avx2", "avx512"])
def test_wide_registers_give_the_portable_bits(instruction_set):
    assert digest(instruction_set) == digest("portable")
