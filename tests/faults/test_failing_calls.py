"""The n-th read, write, fsync, rename, open or large malloc fails.

Each ends in a documented exit, with the old output and no stray file.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import PROGRAM, ROOT

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 97, i * i % 89, i % 2) for i in range(3000))
OPTIONS = "--k 4 --format pairs --block-size 20KB --threads 1 --quiet --passes 2"
FILES = "--output {0}/words --model {0}/model --summary {0}/summary"
SAVING = "--checkpoint {0}/saved --checkpoint-every 30KB"
OLD = b"yesterday\n"
OURS = ("words", "model", "summary")
DOCUMENTED = {1, 3, 4, 5}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = tmp_path_factory.mktemp("shim") / "failing.so"
    source = ROOT / "tests" / "faults" / "failing.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def failing(shim: Path, folder: Path, function: str, n: int, code: int) -> subprocess.CompletedProcess[bytes]:
    """One run in the folder, whose standard input is a file there."""
    folder.mkdir()
    (folder / "rows").write_bytes(ROWS)
    for name in OURS:
        (folder / name).write_bytes(OLD)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LD_PRELOAD": str(shim),
        "FSSTREAM_FAIL": f"{function}:{n}:{code}",
        "FSSTREAM_FAIL_BELOW": str(folder),
        "FSSTREAM_FAIL_LOG": str(folder.parent / f"{folder.name}.log"),
        "TMPDIR": str(folder),
    }
    with (folder / "rows").open("rb") as rows:
        return subprocess.run(
            [*PROGRAM, "select", *f"{OPTIONS} {FILES} {SAVING}".format(folder).split()],
            stdin=rows, capture_output=True, check=False, env=environment, timeout=100,
        )  # fmt: skip


CASES = [
    ("read", errno.EIO, (1, 2, 4)),
    ("write", errno.ENOSPC, (1, 3, 9, 20)),
    ("fsync", errno.EIO, (1, 2, 4, 7)),
    ("rename", errno.EIO, (1, 2, 4)),
    ("open", errno.EMFILE, (1, 2, 4)),
    ("fchmod", errno.EPERM, (1, 3)),
    ("preadv", errno.EIO, (1,)),
    ("malloc", errno.ENOMEM, (3000,)),
]


@pytest.mark.parametrize(
    ("function", "code", "n"), [(function, code, n) for function, code, counts in CASES for n in counts]
)
def test_a_call_that_fails(function: str, code: int, n: int, shim: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    done = failing(shim, folder, function, n, code)
    failed = (tmp_path / "folder.log").exists()
    assert failed or n > 2, "the call is made at all"
    assert b"Traceback" not in done.stderr
    found = {name: (folder / name).read_bytes() for name in OURS}
    strays = {path.name for path in folder.iterdir()} - {"rows", "saved", *OURS}
    assert not strays
    if done.returncode == 0:
        # It did not come to that call, or a checkpoint was not written, which is told and no reason to stop.
        assert OLD not in found.values()
        assert not failed or b"the run goes on" in done.stderr or function in ("fsync", "open")
    else:
        assert failed
        assert done.returncode in DOCUMENTED, done.stderr
        assert done.stderr.startswith(b"fsstream: ")
        renamed = [name for name in OURS if found[name] != OLD]
        assert not renamed or function in ("rename", "fsync"), renamed
