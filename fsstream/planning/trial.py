"""The command `select` in a process of its own, so that its peak of memory is its alone.

In: options as JSON on standard input. Out: the summary, in the file that they name; or, of a run that is
stopped after some seconds, the peak until then.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream.config import SelectOptions
from fsstream.errors import CorruptError, DataError, FsstreamError, LimitError, UsageError
from fsstream.memory import peak_memory
from fsstream.option_fields import from_mapping

if TYPE_CHECKING:
    from fsstream.config import InputOptions

_GROWN = 1.01  # less is the noise of small arrays
_LOOK = 0.02  # seconds between looks at a process
_LOOK_FOR_PARENT = 0.5
_PATIENCE = 12  # times as long as it should work, on a machine that is busy with other things


def run_in_own_process(
    options: InputOptions, summary: Path, rows: int | None = None, *, with_numpy: bool = False
) -> dict[str, Any]:
    """The summary of a run, with `cpu_seconds`; FsstreamError with the message of one that failed.

    Of Parquet the first `rows` are read, in whole batches. A run `with_numpy` loads it in any case.
    """
    before = _children_seconds()
    with _started(options, summary, rows, with_numpy) as process:
        said = process.communicate()[1]
    if process.returncode:
        raise _error_of(process.returncode, said)
    return {**json.loads(summary.read_bytes()), "cpu_seconds": _children_seconds() - before}


def _error_of(status: int, said: str) -> FsstreamError:
    """What ended a trial, as it would have ended the run."""
    last = said.strip().rpartition("\n")[2]
    try:
        message, hint = json.loads(last)
    except ValueError:
        return FsstreamError(last or "it was ended")
    kinds: dict[int, type[FsstreamError]] = {
        kind.exit_code: kind for kind in (UsageError, DataError, LimitError, CorruptError)
    }
    return kinds.get(status, FsstreamError)(message, hint=hint)


@dataclass(frozen=True)
class Glimpse:
    """The memory of a run that was watched for a while; 0 when it failed."""

    peak: int
    settled: bool  # it ended, or needed no more for half of the time


def peak_within(
    options: InputOptions, summary: Path, rows: int | None, seconds: float, *, with_numpy: bool
) -> Glimpse:
    """What a run had while it worked for so many seconds."""
    peak = 0
    grew = worked = 0.0  # seconds of work
    ends = time.monotonic() + _PATIENCE * seconds
    with _started(options, summary, rows, with_numpy) as process:
        try:
            while process.poll() is None and time.monotonic() < ends and worked < seconds:
                worked = _seconds_of(process.pid)
                found = peak_memory(process.pid)
                if found > _GROWN * peak:
                    peak, grew = found, worked
                time.sleep(_LOOK)
        finally:
            process.kill()
    if process.returncode == 0:
        return Glimpse(int(json.loads(summary.read_bytes())["peak_memory"]), settled=True)
    return Glimpse(peak if process.returncode == -9 else 0, settled=worked > 2 * grew)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _seconds_of(process: int) -> float:
    """Of processor time, so far."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _started(
    options: InputOptions, summary: Path, rows: int | None = None, with_numpy: bool = False
) -> subprocess.Popen[str]:
    process = subprocess.Popen(  # noqa: S603 - our own module, and a number
        [sys.executable, "-m", "fsstream.planning.trial", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    wanted = {"summary": str(summary), "rows": rows, "with_numpy": with_numpy}
    json.dump({**dataclasses.asdict(options), **wanted}, process.stdin)
    process.stdin.flush()
    process.stdin.close()
    process.stdin = None  # communicate would flush it again
    return process


def _end_with(parent: int) -> None:
    """Nobody waits for a trial whose starter was killed: it would work on for as long as the run would."""
    while os.getppid() == parent:
        time.sleep(_LOOK_FOR_PARENT)
    os._exit(1)


def _main() -> None:
    from fsstream._native import return_freed_memory
    from fsstream.cli.main import cli  # with all that it brings into memory
    from fsstream.cli.select import select

    assert cli
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    return_freed_memory()  # as the command does
    given = json.load(sys.stdin)
    rows = given.pop("rows")
    if given.pop("with_numpy"):
        import_module("numpy")
    if rows is not None:
        from fsstream.parquet import ParquetSource

        ParquetSource.most_rows = rows
    try:
        select(from_mapping(SelectOptions, given))
    except FsstreamError as error:
        print(json.dumps([error.message, error.hint]), file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    _main()
