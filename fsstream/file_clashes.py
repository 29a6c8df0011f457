"""No file is read and written by one run, and none is written twice: what was there would be lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    File = tuple[int, int] | str  # device and number, or the path of one that is still to be made

_HINT = "give it another name"
_READ = ("labels", "targets", "groups", "valid", "init", "lock")
_WRITTEN = ("output", "model", "summary", "names", "bad_lines", "checkpoint")


def check_file_clashes(options: Any, inputs: Sequence[str] | None = None) -> None:
    """UsageError when two of a command's files are one; --init and --model may be: a model kept up to date.

    `inputs` take the place of those in the options. Pipes and devices are not compared.
    """
    written: dict[File, str] = {}
    applied = "init" not in options.__dataclass_fields__  # then its model is read
    for name in _WRITTEN:
        file = None if applied and name == "model" else _identity(getattr(options, name, None))
        if file is None:
            continue
        if file in written:
            raise UsageError(
                f"{written[file]} would be written, and written over by {_flag(name)}", hint=_HINT
            )
        written[file] = _flag(name)
    inputs = options.inputs or ("-",) if inputs is None else inputs
    for what, file in _read(options, inputs, applied=applied):
        if file in written and (what, written[file]) != ("--init", "--model"):
            raise UsageError(f"{what} would be read, and written over by {written[file]}", hint=_HINT)


def check_not_read(output: str | None, read: Sequence[str]) -> None:
    """The same of a command that reads some files and writes one."""
    written = _identity(output)
    for path in read:
        file = _standard_input() if path == "-" else _identity(path)
        if file is not None and file == written:
            what = "standard input" if path == "-" else path
            raise UsageError(f"{what} would be read, and written over by --output", hint=_HINT)


def _read(options: Any, inputs: Sequence[str], *, applied: bool) -> Iterator[tuple[str, File]]:
    for path in inputs:
        file = _standard_input() if path == "-" else _identity(path)
        if file is not None:
            yield "standard input" if path == "-" else path, file
    if applied and (file := _identity(options.model)) is not None:
        yield options.model, file
    for name in _READ:
        if (file := _identity(getattr(options, name, None))) is not None:
            yield _flag(name), file


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _identity(path: Any) -> File | None:
    """Of a regular file, or of one that is not there yet; a table in place of --groups is no file."""
    if not isinstance(path, str) or path == "-":
        return None
    try:
        return _of(Path(path).stat())
    except (OSError, ValueError):
        return os.path.realpath(path) if "\0" not in path else None


def _standard_input() -> File | None:
    try:
        return _of(os.fstat(0))
    except OSError:
        return None


def _of(status: os.stat_result) -> File | None:
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
