"""What runs in threads, for `make tsan`: parsers, the spool, solvers, asynchronous workers.

Without ThreadSanitizer these are runs like others; with it the first race ends the process.
"""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream import _native, run
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task
from fsstream.config import SelectOptions
from fsstream.errors import FsstreamError
from tests.cli.command import PROGRAM
from tests.contract.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 97, i * i % 89, i % 2) for i in range(3000))
SAMPLES_OF = [range(1, 60, 1 + i % 4) for i in range(400)]
COLUMNS = b"".join(
    b"f%d %s\n" % (i, b" ".join(b"%d:%d" % (sample, sample * sample * i % 97 - 48) for sample in samples))
    for i, samples in enumerate(SAMPLES_OF)
)
TARGETS = b"".join(b"%d\n" % (s % 3 == 0) for s in range(60))


def selected(path: Path, **more: Any) -> bytes:
    options = SelectOptions(inputs=(str(path),), quiet=True, k=5, block_size=2000, memory=1 << 26, **more)
    return run.select(options).model.to_bytes()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.write_bytes(ROWS)
    return path


@pytest.mark.parametrize("more", [
    {},
    {"passes": 2},
    {"passes": 2, "shuffle": True},
    {"loss": "softmax"},
    {"algo": "b-arda"},
    {"algo": "fgm"},
    {"algo": "os"},
    {"algo": "awm"},
], ids=str)  # fmt: skip
def test_parsers_run_ahead_of_the_learner(more: dict[str, Any], rows: Path) -> None:
    one, many = (selected(rows, format="pairs", threads=threads, **more) for threads in (1, 5))
    assert one == many


def test_threads_of_a_solver_share_its_sums() -> None:
    """9,000 dense rows: every walk over them is cut into parts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 30)).astype(np.float32)
    batch = _native.Batch.from_arrays(
        np.arange(0, X.size + 1, 30, dtype=np.uint64),
        np.tile(np.arange(30, dtype=np.uint64), 9000),
        X.ravel(),
        np.where(X[:, 0] > 0, 1.0, -1.0).astype(np.float32),
    )
    weights = []
    for threads in (1, 4):
        fgm = Fgm(Common(k=16, threads=threads), Fgm.Parameters(), Task("squared-hinge", ("-1", "1")))
        fgm.update(batch)
        assert not fgm.end_pass()
        weights.append(fgm.selection().weights.tolist())
    assert weights[0] == weights[1]


@pytest.mark.parametrize("form", SAMPLES)
def test_parsers_of_every_format(form: str, tmp_path: Path) -> None:
    sample = SAMPLES[form]
    path = tmp_path / "data"
    path.write_bytes(sample.text)
    options = {**sample.options, "format": form, "threads": 5}
    assert selected(path, **options) == selected(path, **{**options, "threads": 1})


def test_a_bad_record_ends_the_threads(rows: Path) -> None:
    rows.write_bytes(ROWS + b"1 w1:x\n" + ROWS)
    with pytest.raises(FsstreamError, match="3001"):
        selected(rows, format="pairs", threads=5)


def test_asynchronous_workers_share_their_contributions(tmp_path: Path) -> None:
    path, targets = tmp_path / "columns", tmp_path / "targets"
    path.write_bytes(COLUMNS)
    targets.write_bytes(TARGETS)
    options = SelectOptions(
        inputs=(str(path),), quiet=True, k=5, format="columns", targets=str(targets), algo="asy-os",
        workers=4, set=("asynchronous=yes",),
    )  # fmt: skip
    for _ in range(3):
        found = run.select(options).model.selection
        assert len(set(found.names)) == 5
        assert np.isfinite(found.weights).all()


def test_a_signal_while_the_parsers_read(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "select", "--k", "5", "--format", "pairs", "--threads", "5", "--quiet"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(ROWS * 20)
    process.stdin.flush()
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 143, errors
    assert b"ThreadSanitizer" not in errors
