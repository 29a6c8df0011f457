"""Bytes that are looked at before they are read.

In: bytes at the end. Out: all of them as often as wanted, then, from the front, each once.
They lie in one run of pages, which go back to the system one by one as they are read:

    |<- read, given back ->|<---- to be read ---->|<- room ->|
                         begin                   end
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE = 1 << 19  # bytes


class Ahead:
    """A queue of bytes that takes no more memory than what is in it, wherever it is looked at."""

    def __init__(self) -> None:
        self._pages: mmap.mmap | None = None
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    def fill(self, size: int, readinto: Callable[[memoryview], int]) -> bool:
        """Have `size` bytes, nothing having been taken yet; False when there are no more of them.

        Raises BufferError while a view is held.
        """
        if size <= self._end:
            return True
        pages = self._with_room(size)
        with memoryview(pages) as room:
            while self._end < size:
                count = readinto(room[self._end : min(size, self._end + AT_ONCE)])
                if not count:
                    return False
                self._end += count
        return True

    def view(self, begin: int, end: int) -> memoryview:
        """A part of what is there; nothing can be added or taken while it is held."""
        return memoryview(self._pages or b"").toreadonly()[begin : min(end, self._end)]

    def take(self, buffer: memoryview) -> int:
        """Move bytes from the front into the buffer. Raises BufferError while a view is held."""
        pages = self._with_room(self._end)
        count = min(len(self), len(buffer))
        before = self._begin // mmap.PAGESIZE * mmap.PAGESIZE
        with memoryview(pages) as held:
            buffer[:count] = held[self._begin : self._begin + count]
        self._begin += count
        done = self._begin // mmap.PAGESIZE * mmap.PAGESIZE
        if done > before:
            pages.madvise(mmap.MADV_DONTNEED, before, done - before)
        return count

    def _with_room(self, size: int) -> mmap.mmap:
        """The pages, for so many bytes; a size that changes nothing still asks whether a view is held."""
        if self._pages is None:
            self._pages = mmap.mmap(-1, max(size, AT_ONCE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._pages.resize(max(size, len(self._pages)))
        return self._pages
