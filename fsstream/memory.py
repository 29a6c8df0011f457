"""How much memory this process has used, and what a long record may still take."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import LimitError
from fsstream.numerics import np
from fsstream.units import show_size

if TYPE_CHECKING:
    from fsstream.sources import Block

_STARTED = 40 << 20  # Python and its packages, numpy among them, which may come late or never
_PROGRAM = 24 << 20  # beside --memory: what is left of 64 MB when these are there
_ENTRY = 28  # bytes: key, value, name, and its place in the table that finds repeated ones
_PAGE = os.sysconf("SC_PAGESIZE")


def peak_memory(process: int | None = None) -> int:
    """The most bytes that were in memory at once, of this process or of another that runs.

    Not what getrusage says: that counts the program that started this one, until it was replaced.
    """
    try:
        for line in Path(f"/proc/{process or 'self'}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if process is not None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def resident_memory() -> int:
    """Bytes that are in memory now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


class Room:
    """Where a record that is longer than a block is refused: before more is made of it than memory allows.

    What is held then, by whatever part of a run, is in memory and can be asked for; what the record will
    take is bounded by the number of its fields.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.most = max(resident_memory(), _STARTED) + memory + _PROGRAM  # bytes of the process
        self.per_entry = 0  # bytes that the learner needs for each entry of the longest row

    def check(self, block: Block, entries: int, block_size: int) -> None:
        """LimitError when rows of so many entries may not fit; blocks are meant to be of `block_size`."""
        needed, left = entries * (_ENTRY + self.per_entry), self.most - resident_memory()
        if needed > left:
            is_record = len(block.data) > block_size  # else blocks are meant to be so long
            line = _longest_line(block) if is_record else block.first_line
            raise LimitError(
                f"{block.source}:{line}: a {'record' if is_record else 'block'} of "
                f"{show_size(len(block.data))} with {entries:,} features needs {show_size(needed)} more, and "
                f"--memory {show_size(self._memory)} leaves {show_size(max(left, 0))}",
                hint=f"raise --memory by {show_size(needed - left)}" if is_record else "lower --block-size",
            )


def _longest_line(block: Block) -> int:
    """The number of the line that makes the block long; short ones may stand around it."""
    ends = np.flatnonzero(np.frombuffer(block.data, np.uint8) == ord("\n"))
    return block.first_line + int(np.argmax(np.diff(ends, prepend=-1, append=len(block.data))))
