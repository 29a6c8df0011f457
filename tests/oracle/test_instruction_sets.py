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

ADAPTIVE = """
import hashlib
from tests.oracle.test_mission import LOSSES, batch_of, draw_rows
from tests.oracle.test_newton import learner
digest = hashlib.sha256()
for loss, depth in zip(LOSSES, (1, 3, 5, 7)):
    mission = learner(20, loss, sketch_depth=depth, sketch_width=256, forget=0.999)
    digest.update(mission.update(batch_of(draw_rows(depth, 500, 300, loss))).tobytes())
    for name, array in sorted(mission.state().items()):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""

CLASSES = """
import hashlib
from tests.oracle.test_mission import batch_of
from tests.oracle.test_softmax import draw_classes, learner
digest = hashlib.sha256()
for step in ("adaptive", "constant"):
    for classes, depth in ((2, 1), (5, 3), (17, 5), (40, 3)):
        mission = learner(20, sketch_depth=depth, sketch_width=256, step=step)
        digest.update(mission.update(batch_of(draw_classes(depth, 500, 300, classes))).tobytes())
        for name, array in sorted(mission.state().items()):
            digest.update(array.tobytes())
print(digest.hexdigest())
"""

RANDOM_FEATURES = """
import hashlib
import numpy as np
from tests.oracle.test_random_features import KERNELS, LOSSES, learned, problem_data
digest = hashlib.sha256()
for loss, kernel in zip(LOSSES, KERNELS):
    learner = learned(*problem_data(1, 300, 5, loss), loss, k=20, draw=50, rounds=3, kernel=kernel)
    digest.update(learner.machine.problem.weights.tobytes())
    digest.update(repr(learner.selection().raw_names).encode())
    digest.update(learner.basis().effects.tobytes())
print(digest.hexdigest())
"""


def digest(program: str, instruction_set: str) -> str:
    environment = {**os.environ, "FSSTREAM_ISA": instruction_set}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


@pytest.mark.parametrize(
    "program",
    [LEARN, ADAPTIVE, CLASSES, RANDOM_FEATURES],
    ids=["mission", "adaptive", "classes", "sparse-rf"],
)
@pytest.mark.parametrize("instruction_set", ["avx2", "avx512"])
def test_wide_registers_give_the_portable_bits(program, instruction_set):
    assert digest(program, instruction_set) == digest(program, "portable")
