"""Records that will not do: what is said of them, and what happens to them.

In: parsed batches with their bad records. Out: a DataError for the first, or a count, messages and copies.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import DataError, FsstreamError
from fsstream.sources.blocks import RECORD_LIMIT, too_long
from fsstream.sources.short_lines import END

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from fsstream._native import Batch
    from fsstream.config import InputOptions
    from fsstream.pipeline import Parsed
    from fsstream.sources import Block

FIRST_BAD_RECORDS = 5  # whose messages are kept
_SHOWN = 40  # bytes of what stands in the place of something else

BadRecord = tuple[int, int, int, str, str]  # offset, length, the bad byte, expected, hint

# What of a record is one thing, from the bad byte on: a cell, a value or sign of JSON, else a word.
_WORD = re.compile(rb"\S+")
_PIECES = {
    "csv": re.compile(rb'"(?:[^"]|"")*"?|[^,\r\n]+|,'),
    "tsv": re.compile(rb"[^\t\r\n]+|\t"),
    "jsonl": re.compile(rb'"(?:[^"\\]|\\.)*"?|[^\s,:\[\]{}"]+|[\[{]\S*|\S'),
}


@dataclass
class BadRecords:
    """Bad records stop the run, or are counted, copied and passed over."""

    options: InputOptions
    form: str = ""  # of the records, once it is known
    count: int = 0
    counted: bool = False  # a whole pass has been seen
    first: list[str] = field(default_factory=list)  # what was wrong with the first ones
    _file: io.BufferedWriter | None = field(default=None, repr=False)

    def take(self, parsed: Parsed) -> None:
        """Deal with the bad records of a batch; DataError unless they are to be skipped."""
        for record in parsed.batch.bad:
            if self.options.on_bad_line == "stop":
                raise self._fault(parsed.block, record)
            if not self.counted:
                self._skip(parsed.block, record)

    def all_counted(self) -> None:
        """A whole pass has been seen: a file of copies is of this run, also when there is nothing to copy."""
        self.counted = True
        if self.options.bad_lines is not None and self._file is None and not self.count:
            with self._writing():
                Path(self.options.bad_lines).write_bytes(b"")

    @property
    def written(self) -> int:
        """Bytes of the copies so far."""
        return self._file.tell() if self._file is not None else 0

    def go_on(self, count: int, written: int, *, counted: bool) -> None:
        """Take over what an interrupted run counted and copied; what it copied later goes."""
        self.count, self.counted = count, counted
        path = self.options.bad_lines
        if path is None or not written:
            return
        with self._writing():
            if Path(path).stat().st_size < written:
                raise DataError("the copies of bad records are fewer than they were", path=path)
            os.truncate(path, written)
            self._file = Path(path).open("ab")  # noqa: SIM115

    def sync(self) -> None:
        """Have the copies on disk before a checkpoint speaks of them."""
        if self._file is not None:
            with self._writing():
                self._file.flush()
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Finish the file of bad records."""
        if self._file is not None:
            with self._writing():
                self._file.close()

    def _skip(self, block: Block, record: BadRecord) -> None:
        self.count += 1
        if self.count <= FIRST_BAD_RECORDS:
            self.first.append(self._fault(block, record).message)
        if self.options.bad_lines is not None:
            begin, end = (0, -len(END)) if block.was_cut else (record[0], record[0] + record[1])
            self._copy(bytes(block.data[begin:end]))
        if self.options.max_bad is not None and self.count > self.options.max_bad:
            error = self._fault(block, record)
            raise DataError(
                f"more bad records than --max-bad {self.options.max_bad}; the last: {error.message}",
                hint=error.hint,
            )

    def _fault(self, block: Block, record: BadRecord) -> DataError:
        if block.was_cut:
            return too_long(block.source, block.first_line, RECORD_LIMIT)
        return fault(block, record, _PIECES.get(self.form, _WORD))

    def _copy(self, record: bytes) -> None:
        path = self.options.bad_lines
        assert path is not None
        with self._writing():
            if self._file is None:
                self._file = Path(path).open("wb")  # noqa: SIM115
            self._file.write(record + b"\n")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The file of the copies, which an error is told of."""
        try:
            yield
        except OSError as error:
            raise FsstreamError(f"cannot write {self.options.bad_lines}: {error.strerror}") from None


def fault(block: Block, record: BadRecord, piece: re.Pattern[bytes] = _WORD) -> DataError:
    """The message for a bad record: where, what was expected, what stands there."""
    start, length, at, expected, hint = record
    if not length:  # of a row that is no text
        return DataError(f"expected {expected}", path=block.source, line=block.line_at(at), hint=hint)
    return DataError(
        f"expected {expected}, got {_got(bytes(block.data[at : start + length]), piece)}",
        path=block.source,
        line=block.line_at(at),
        column=block.column_at(at),
        hint=hint,
    )


def row_fault(block: Block, batch: Batch, row: int, expected: str, hint: str | None) -> DataError:
    """The message for a row whose label will not do."""
    at = int(batch.records[row])
    label = batch.labels()[row]
    got = _shown(label) if label else "none"
    return DataError(
        f"expected {expected}, got {got}", path=block.source, line=block.line_at(at), column=1, hint=hint
    )


def _got(rest: bytes, piece: re.Pattern[bytes]) -> str:
    rest = rest[: 4 * _SHOWN]
    if not rest.strip() or rest[:1] in (b"\n", b"\r"):
        return "the end of the line"
    found = piece.match(rest)
    return _shown(found.group() if found is not None else rest[:1])


def _shown(text: bytes) -> str:
    """As a message quotes it: its beginning where it is long."""
    quoted = text[:_SHOWN].decode("utf-8", "backslashreplace")
    return repr(quoted + ("..." if len(text) > _SHOWN else ""))
