"""Help, and manual pages made from what it says."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream.cli.main import COMMANDS, cli, run
from fsstream.cli.man import page
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_a_page_says_what_help_says(name: str | None) -> None:
    text = page(name)
    plain = text.replace(r"\-", "-").replace(r"\e", "\\")
    assert plain.startswith(".TH")
    assert r"\fB-h,\fR \fB--help\fR" in plain
    found = cli if name is None else cli.commands.get(name) or cli.get_command(None, name)  # type: ignore[arg-type]
    assert found is not None
    for param in found.params:
        for flag in (*param.opts, *param.secondary_opts):
            assert not flag.startswith("--") or flag in plain, flag
    if shutil.which("man"):
        done = subprocess.run(
            ["man", "--warnings", "-l", "-"], input=text.encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_what_is_laid_out_stays_so_in_a_page() -> None:
    lines = page("completion").splitlines()
    begin, end = lines.index(".nf"), lines.index(".fi")
    assert [line.split()[0] for line in lines[begin + 1 : end]] == ["bash", "zsh", "fish"]


def test_pages_of_all_commands_are_files(tmp_path: Path) -> None:
    assert fsstream("man", "--output-dir", str(tmp_path / "man1")).returncode == 0
    names = {"fsstream.1", *(f"fsstream-{name}.1" for name in COMMANDS)}
    assert {path.name for path in (tmp_path / "man1").iterdir()} == names
    unknown = fsstream("man", "selcet")
    assert unknown.returncode == 2
    assert b"did you mean 'select'?" in unknown.stderr


def test_help_is_there_at_once() -> None:
    show = "print(sorted({'numpy', 'orjson', 'tqdm'} & set(sys.modules)))"
    program = f"import sys, fsstream.cli.main as main; main.run(['--help']); {show}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert PROGRAM[0] == sys.executable


def test_selecting_from_text_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    """Start-up is most of a small run: what only some runs need is loaded by them."""
    (tmp_path / "rows").write_bytes(b"1 a b\n-1 b c\n" * 5)
    line = ["select", "--k", "1", "--format", "tokens", "--quiet", str(tmp_path / "rows")]
    show = (
        "print(*sorted({name.partition('.')[0] for name in sys.modules} | set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, fsstream.cli.main as main; main.run({line!r}); {show}"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout.count("\n") == 1
    loaded = set(done.stderr.split())
    packages = {"isal", "backports", "compression.zstd", "tqdm", "scipy", "sklearn", "pyarrow", "ray"}
    library = {"argparse", "bz2", "hashlib", "lzma", "random", "tempfile", "tomllib", "traceback", "zipfile"}
    ours = {"api", "apply", "archive", "basis", "checkpoint", "expansion", "metrics", "model_file", "merging"}
    assert not loaded & (packages | library | {f"fsstream.{name}" for name in ours})
    assert "fsstream.algorithms.mission" in loaded
    assert not [name for name in loaded if name.startswith("fsstream.algorithms.merging")]


def test_a_model_is_written_without_numpy(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows", tmp_path / "model"
    rows.write_bytes(b"1 a b\n-1 b c\n" * 5)
    line = ["select", "--k", "1", "--format", "tokens", "--quiet", "--model", str(model), str(rows)]
    show = "print('numpy' in sys.modules, file=sys.stderr)"
    program = f"import sys, fsstream.cli.main as main; main.run({line!r}); {show}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT)
    assert done.stderr == b"False\n"
    with zipfile.ZipFile(model) as archive:
        assert len(np.load(io.BytesIO(archive.read("weights.npy")))) == len(done.stdout.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    done = fsstream(name, "-h")
    assert done.returncode == 0, done.stderr
    assert b"Usage: fsstream " + name.encode() in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.decode().splitlines())


def test_names_of_files_neither_break_a_message_nor_command_the_terminal() -> None:
    done = fsstream("select", "--k", "1", "a\nb\x1b[31mc\u00e9")
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "fsstream: error: cannot read a\\nb\\x1b[31mc\u00e9: No such file or directory\n"
    )


@pytest.mark.parametrize("words", [["select", "--k", "1", "rows"], ["inspect", "rows"], ["report", "rows"]])
def test_a_file_that_must_not_be_read_is_told_with_the_reason(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not as a value that an argument cannot have; who runs the tests may be allowed to read everything."""
    (tmp_path / "rows").write_bytes(b"1 1:1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    run(words)
    assert "Invalid value" not in capfd.readouterr().err
