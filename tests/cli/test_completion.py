"""Completion in the shells themselves: words are typed, the tabulator is pressed, the line is read."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fsstream.cli.main import COMMANDS
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    ("fsstream tra", "fsstream transform"),
    ("fsstream select --mem", "fsstream select --memory"),
    ("fsstream select --algo gra", "fsstream select --algo grafting"),
    ("fsstream select --algo=gra", "fsstream select --algo=grafting"),
    ("fsstream algos gra", "fsstream algos grafting"),
    ("fsstream man tra", "fsstream man transform"),
    ("fsstream select --set sketch_d", "fsstream select --set sketch_depth="),
    ("fsstream select --algo fgm --set groups=t", "fsstream select --algo fgm --set groups=tree"),
    ("fsstream select ro", "fsstream select rows.svm"),
    ("fsstream select --model mo", "fsstream select --model model.zip"),
    ("fsstream select --model=mo", "fsstream select --model=model.zip"),
]
START = {
    "bash": "source ./script",
    "zsh": "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D",
}
INTERACTIVE = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}
SANITIZER = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")  # of make asan: the core asks for them


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with the program, two files and nobody's settings."""
    program = tmp_path / "bin" / "fsstream"
    program.parent.mkdir()
    kept = {name: os.environ[name] for name in SANITIZER if name in os.environ} | {"PYTHONPATH": str(ROOT)}
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in kept.items())
    program.write_text(f'#!/bin/sh\n{settings} exec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "rows.svm").write_text("1 1:1\n")
    (tmp_path / "model.zip").touch()
    return tmp_path


def completed(shell: str, home: Path, words: str) -> str:
    """What the line says once the tabulator was pressed."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = home / {"zsh": "_fsstream"}.get(shell, "script")
    script.write_bytes(fsstream("completion", shell).stdout)
    environment = {"PATH": f"{home}/bin:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"}
    if shell == "fish":
        ask = f"source ./script; complete -C {words!r}"
        done = subprocess.run(
            ["fish", "--no-config", "-c", ask], env=environment, cwd=home, capture_output=True, check=True
        )
        assert done.stderr == b""
        found = "|".join(line.partition("\t")[0] for line in done.stdout.decode().splitlines())
        return words[: words.rindex(" ") + 1] + found + ("" if found.endswith("=") else " ")  # as fish does
    try:
        ours, its = pty.openpty()
    except OSError as error:  # of containers without /dev/pts
        pytest.skip(f"there is no terminal here: {error}")
    environment |= {"TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null"}
    with subprocess.Popen(
        [shell, *INTERACTIVE[shell]], stdin=its, stdout=its, stderr=its, env=environment, cwd=home,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(its)
        try:
            os.write(ours, f"PS1=; {START[shell]}; echo rea''dy\n".encode())
            read_to(b"ready\r", ours)
            # Then the line becomes the arguments of another command, which says them.
            os.write(ours, f"{words}\t\x01echo 'l''ine['\x05']'\n".encode())
            read_to(b"line[", ours)
            said = read_to(b"]", ours)
            os.write(ours, b"exit\n")
        finally:
            process.kill()
            os.close(ours)
    return said.decode()[:-1]


def read_to(mark: bytes, terminal: int) -> bytes:
    seen = b""
    while not seen.endswith(mark):
        seen += os.read(terminal, 1)
    return seen


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_the_tabulator_completes(shell: str, words: str, expected: str, home: Path) -> None:
    space = "" if shell == "zsh" or expected.endswith("=") else " "  # zsh takes its own back
    assert completed(shell, home, words) == expected + space


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_kind_word_and_meaning(shell: str) -> None:
    said = fsstream(env={"COMP_LINE": "fsstream ", "_FSSTREAM_COMPLETE": f"{shell}_complete"}).stdout.decode()
    assert said.splitlines() == [f"plain\t{name}\t{what}" for name, what in COMMANDS.items()]
    said = fsstream(
        env={"COMP_LINE": "fsstream select -o x", "_FSSTREAM_COMPLETE": f"{shell}_complete"}
    ).stdout.decode()
    assert said == "file\tx\t\n"
