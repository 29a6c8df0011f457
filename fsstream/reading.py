"""A stream as batches: the input, its format, and what happens to bad records.

In: input options. Out: pass after pass the same batches, filtered and scaled as asked.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream._native import Batch
from fsstream.errors import DataError, FsstreamError
from fsstream.formats import detect, format_named, make_parser, take_of
from fsstream.pipeline import Parsed, parse_blocks
from fsstream.sources import PEEK_RECORDS, Input
from fsstream.task import Labels
from fsstream.text import to_text

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from fsstream._native import Parser
    from fsstream.config import InputOptions
    from fsstream.formats.options import FormatOptions
    from fsstream.sources import Block

BadRecord = tuple[int, int, int, str, str | None]


class Reading:
    """The batches of an input. The format is decided from the first records at construction."""

    def __init__(self, options: InputOptions) -> None:
        self._options = options
        self.input = Input(options.inputs, size=options.block_size)
        try:
            beginning = self._look(options.format)
            decided = detect.decide(options, beginning)
            if options.format == "auto":
                beginning = self._look(decided.name)
        except BaseException:
            self.input.close()
            raise
        self.format: str = decided.name
        self.format_why: str = decided.why
        self.format_options: FormatOptions = decided.options
        self._format = format_named(self.format)
        self._beginning: list[Block] = beginning
        self.bad = BadRecords(options)
        self.skipped_windows = 0
        self.entries = 0
        self.notes: list[str] = []  # what a person should know: said once, kept for the summary
        if decided.hint is not None:
            self.note(decided.hint)

    def note(self, text: str) -> None:
        """Tell the user something that is no error."""
        self.notes.append(text)
        if not self._options.quiet:
            print(f"fsstream: note: {text}", file=sys.stderr)

    def labels(self) -> Labels:
        """The labels of the first records; bad records among them are passed over."""
        texts: list[bytes] = []
        values: list[float] = []
        batch, parser = Batch(), self._label_parser()
        for block in self._beginning:
            parser.parse(block.data, batch, True, block.source, True)
            texts += batch.labels()
            values += batch.label_values.tolist()
        self._beginning = []
        return Labels.seen(texts, values)

    def batches(self) -> Iterator[Parsed]:
        """One pass over the input; counts what it sees the first time."""
        self._beginning = []
        first_pass = not self.bad.counted
        blocks = self.input.blocks(lambda data: self._format.head(data, final=False))
        parsed_blocks = parse_blocks(
            blocks,
            self._parser,
            threads=self._options.thread_count,
            skip_bad=self._options.on_bad_line == "skip",
        )
        for parsed in parsed_blocks:
            if first_pass:
                self.entries += parsed.batch.entries
                self.skipped_windows += parsed.batch.skipped_windows
            self.bad.take(parsed)
            yield parsed
        self.bad.counted = True

    def recipe(self) -> dict[str, Any]:
        """How the input is read: what a model remembers for the streams it will be applied to."""
        settings = dataclasses.asdict(self.format_options)
        for name in ("labels", "columns", "needs_labels"):  # of these records, not of those to come
            del settings[name]
        return {"format": self.format, **settings}

    def close(self) -> None:
        """Let go of files."""
        self.bad.close()
        self.input.close()

    def _look(self, name: str) -> list[Block]:
        """The first 10,000 records, as the format counts them; a table's header is not one of them."""
        take = take_of(name)
        if take is None:
            return self.input.peek()
        header = name in ("csv", "tsv") and not self._options.no_header
        return self.input.peek(PEEK_RECORDS + header, take)

    def _label_parser(self) -> Parser:
        """For a look at labels alone: of a long sequence nothing but its letters is counted."""
        kmer = 1 if self.format_options.kmer else None
        return self._format.parser(dataclasses.replace(self.format_options, kmer=kmer))

    def _parser(self) -> Parser:
        return make_parser(self.format, self.format_options)


@dataclass
class BadRecords:
    """Bad records stop the run, or are counted, copied and passed over."""

    options: InputOptions
    count: int = 0
    counted: bool = False  # a whole pass has been seen
    _file: io.BufferedWriter | None = field(default=None, repr=False)

    def take(self, parsed: Parsed) -> None:
        """Deal with the bad records of a batch; DataError unless they are to be skipped."""
        for record in parsed.batch.bad:
            if self.options.on_bad_line == "stop":
                raise fault(parsed.block, record)
            if not self.counted:
                self._skip(parsed.block, record)

    def close(self) -> None:
        """Finish the file of bad records."""
        if self._file is not None:
            self._file.close()

    def _skip(self, block: Block, record: BadRecord) -> None:
        self.count += 1
        if self.options.bad_lines is not None:
            self._copy(bytes(block.data[record[0] : record[0] + record[1]]))
        if self.options.max_bad is not None and self.count > self.options.max_bad:
            error = fault(block, record)
            raise DataError(
                f"more than {self.options.max_bad} bad records; the last: {error.message}", hint=error.hint
            )

    def _copy(self, record: bytes) -> None:
        path = self.options.bad_lines
        assert path is not None
        try:
            if self._file is None:
                self._file = Path(path).open("wb")  # noqa: SIM115
            self._file.write(record + b"\n")
        except OSError as error:
            raise FsstreamError(f"cannot write {path}: {error.strerror}") from None


def fault(block: Block, record: BadRecord) -> DataError:
    """The message for a bad record: where, what was expected, what stands there."""
    start, length, at, expected, hint = record
    return DataError(
        f"expected {expected}, got {_got(bytes(block.data[at : start + length]))}",
        path=block.source,
        line=block.line_at(at),
        column=block.column_at(at),
        hint=hint,
    )


def row_fault(block: Block, batch: Batch, row: int, expected: str, hint: str | None) -> DataError:
    """The message for a row whose label will not do."""
    at = int(batch.records[row])
    label = batch.labels()[row]
    got = repr(to_text(label)) if label else "none"
    return DataError(
        f"expected {expected}, got {got}", path=block.source, line=block.line_at(at), column=1, hint=hint
    )


def _got(rest: bytes) -> str:
    words = rest[:200].split(maxsplit=1)
    if not words or rest[:1] in (b"\n", b"\r"):
        return "the end of the line"
    word = rest[:1] if rest[:1].isspace() else words[0]
    shown = word[:40].decode("utf-8", "backslashreplace")
    return repr(shown + ("..." if len(word) > 40 else ""))
