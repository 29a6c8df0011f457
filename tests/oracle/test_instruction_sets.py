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

# What follows parses lines by `read`, and prints the digest.
PARSED = """
import hashlib, json, random
from fsstream._native import Batch, CsvParser, JsonlParser
from fsstream.formats import format_named
from fsstream.formats.options import FormatOptions
draw = random.Random(1)
digest = hashlib.sha256()
def read(parser, lines):
    batch = Batch()
    parser.parse("\\n".join(lines).encode(), batch)
    assert batch.rows == len(lines) and not batch.bad, batch.bad
    for column in (batch.keys, batch.values, batch.row_starts):
        digest.update(column.tobytes())
    digest.update(repr(batch.names()).encode())
"""

TEXT = """
names = "a seven77 7 07 18446744073709551616 \\x01 caf\\u00e9".split() + ["x" * 15, "y" * 16, "z" * 70]
values = "1 0.1678 0.25 16777217 0.30000001192092896 -0.5 1.5 2e-3 12345678 0.12345678".split()
plain = "1 0.1678 0.25 -0.5 1.5 -12.25 0.095842101 123456789012345 1.2345678 0.16777217 0.000000012".split()
gaps = [" "] * 20 + ["  ", "\\t", " \\r", "   "]
for form in ("tokens", "pairs", "vw", "libsvm"):
    lines = []
    for _ in range(300):
        entries = []
        alike = draw.random() < 0.7  # as rows are most of the time
        for _ in range(draw.randrange(300)):
            number = str(draw.randrange(10 ** draw.choice([3, 8, 10, 15])))
            name = number if form == "libsvm" else draw.choice(names) + number[:2]
            value = "" if form == "tokens" else ":" + draw.choice(plain if alike else values)
            entries.append((" " if alike else draw.choice(gaps)) + name + value)
        space = draw.choice([" |", " |ns", " |ns:0.5", " |" + "n" * 40]) if form == "vw" else ""
        lines.append("1" + space + "".join(entries))
    read(format_named(form).parser(FormatOptions()), lines)
print(digest.hexdigest())
"""

TABLES = """
kinds = ["label"] + [draw.choice(["numeric", "categorical"]) for _ in range(30)]
names = ["c%d" % i * draw.choice([1, 1, 1, 9]) for i in range(31)]
columns = [(name.encode(), kind) for name, kind in zip(names, kinds)]
numbers = "0 1 -1 0.25 3.1416 -13.032 16777217 0.30000001192092896 2e-3 12345678 99999999.5".split() + [""]
words = ["", "68fd1e64", "x" * 15, "y" * 16, "z" * 70, "caf\\u00e9"]
for form, separator in (("csv", ","), ("tsv", "\\t")):
    lines = []
    for _ in range(300):
        cells = [draw.choice(numbers if kind == "numeric" else words) for kind in kinds]
        if form == "csv":
            cells = [draw.choice([cell, cell, chr(34) + cell + chr(34)]) for cell in cells]
        lines.append(separator.join(cells))
    read(CsvParser(form, False, columns), lines)
print(digest.hexdigest())
"""

OBJECTS = """
keys = ["k%d" % i * draw.choice([1, 1, 1, 9]) for i in range(30)]
values = [0, 1, -1, 0.25, 3.1416, 16777217, 0.3000000119, 123456789, 2e-30, True, False, None]
values += ["", "68fd1e64", "x" * 15, "y" * 16, "z" * 31, "z" * 32, "z" * 70, "caf\\u00e9"]
values += [["a", "b", "a"], {"a": {"b": 1}}]
lines = []
for _ in range(300):
    members = {key: draw.choice(values) for key in keys if draw.random() < 0.8}
    separators = draw.choice([(",", ":"), None])
    lines.append(json.dumps(members, ensure_ascii=draw.random() < 0.5, separators=separators))
read(JsonlParser(b"label"), lines)
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
    [LEARN, ADAPTIVE, CLASSES, PARSED + TEXT, PARSED + TABLES, PARSED + OBJECTS, RANDOM_FEATURES],
    ids=["mission", "adaptive", "classes", "text", "tables", "objects", "sparse-rf"],
)
@pytest.mark.parametrize("instruction_set", ["avx2", "avx512"])
def test_wide_registers_give_the_portable_bits(program, instruction_set):
    assert digest(program, instruction_set) == digest(program, "portable")
