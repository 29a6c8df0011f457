"""A stream as batches: the input, its format, and what happens to bad records.

In: input options, and a source when it is not the paths among them. Out: pass after pass the same
batches, filtered and scaled as asked. A Reading parses text, a RowsReading takes rows that need no parsing.
"""

from __future__ import annotations

import dataclasses
import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from fsstream._native import Batch, NameFilter, count_lines, key_of_name
from fsstream.bad_records import BadRecords
from fsstream.config import KMER_FORMATS, USES, SelectOptions
from fsstream.formats import block_bytes, detect, format_named, make_parser, most_entries, tables, take_of
from fsstream.formats.options import FormatOptions
from fsstream.memory import Room
from fsstream.numerics import np
from fsstream.pipeline import Parsed, parse_blocks
from fsstream.rows import RowSource
from fsstream.sources import PEEK_RECORDS, Input, Source, cut
from fsstream.task import Labels
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from fsstream._native import Parser
    from fsstream.config import InputOptions
    from fsstream.rows import Rows
    from fsstream.sources import Block, Position

PARQUET_MARK = b"PAR1"
# A record is a line, in which a NUL is bad: what `auto` finds is, or it is told by its first bytes.
_OF_LINES = ("auto", "libsvm", "pairs", "tokens", "vw", "seq", "jsonl", "columns")


class AnyReading(ABC):
    """What a run reads, whatever it is made of."""

    format: str
    format_options: FormatOptions
    input: Input | RowSource

    def __init__(self, options: InputOptions) -> None:
        self._options = options
        self.bad = BadRecords(options)
        self.skipped_windows = 0
        self.collisions = 0  # of names within a row
        self.entries = 0
        self.notes: list[str] = []  # what a person should know: said once, kept for the summary
        self.digest = ""  # of the whole input, once it has been seen
        self.room = Room(options.memory_bytes) if isinstance(options, SelectOptions) else None

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """What is read, as a person calls it."""

    @abstractmethod
    def labels(self) -> Labels:
        """The labels of the first records; bad records among them are passed over."""

    @abstractmethod
    def batches(self, start: Position | None = None, *, skip: bool = True) -> Iterator[Parsed]:
        """One pass; counts what it sees the first time. A batch is good until the next one is taken.

        From a start on when one is given; what lies before it is given too, uncounted, unless it may be
        skipped.
        """

    def note(self, text: str, *, urgent: bool = False) -> None:
        """Tell the user something that is no error."""
        self.notes.append(text)
        if urgent or not self._options.quiet:
            print(f"fsstream: note: {text}", file=sys.stderr)

    @property
    def kmers(self) -> tuple[int, bool] | None:
        """The length of the k-mers that are features, and whether they are canonical."""
        kmer = self.format_options.kmer
        return None if kmer is None else (kmer, bool(self.format_options.canonical))

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

    def counts(self) -> dict[str, Any]:
        """What has been counted so far: with the position, all that a checkpoint needs."""
        return {
            "entries": self.entries,
            "skipped_windows": self.skipped_windows,
            "collisions": self.collisions,
            "bad": self.bad.count,
            "first_bad": list(self.bad.first),
            "bad_bytes": self.bad.written,
            "counted": self.bad.counted,
            "digest": self.digest,
        }

    def go_on(self, counts: Mapping[str, Any], notes: list[str]) -> None:
        """Take over the counts of a run that was interrupted."""
        self.entries, self.skipped_windows = int(counts["entries"]), int(counts["skipped_windows"])
        self.collisions = int(counts.get("collisions", 0))
        self.digest, self.notes = str(counts["digest"]), notes
        self.bad.first = [str(message) for message in counts["first_bad"]]
        self.bad.go_on(int(counts["bad"]), int(counts["bad_bytes"]), counted=bool(counts["counted"]))

    def _counted(self, parsed_rows: Iterator[Parsed], start: Position | None = None) -> Iterator[Parsed]:
        first_pass = not self.bad.counted
        for parsed in parsed_rows:
            if not parsed.lies_before(start):
                if first_pass:
                    self.entries += parsed.batch.entries
                    self.skipped_windows += parsed.batch.skipped_windows
                    self.collisions += parsed.batch.collisions
                self.bad.take(parsed)
            yield parsed
        if first_pass:
            self.bad.all_counted()


class Reading(AnyReading):
    """The batches of text. The format is decided from the first records at construction."""

    input: Input

    def __init__(self, options: InputOptions, given: Input | None = None) -> None:
        super().__init__(options)
        self.input = Input(options.inputs) if given is None else given
        try:
            beginning = self._look(options.format)
            decided = detect.decide(options, beginning)
            if options.format == "auto" and take_of(decided.name) is not None:
                beginning = []  # lines until now: let go of them, and count as the format does
                beginning = self._look(decided.name)
        except BaseException:
            self.input.close()
            raise
        self.format: str = decided.name
        self.input.block_size = options.block_size or block_bytes(self.format)
        self.bad.form = self.format
        self.format_why: str = decided.why
        self.format_options: FormatOptions = decided.options
        self._format = format_named(self.format)
        self._beginning: list[Block] = beginning
        self._parsing: Generator[Parsed, None, None] | None = None
        if options.verbose and options.format == "auto":
            print(f"fsstream: taken for {self.format}: {self.format_why}", file=sys.stderr)
        if decided.hint is not None:
            self.note(decided.hint)
        if self.format in ("csv", "tsv") and isinstance(options, SelectOptions) and beginning:
            doubt = tables.doubt(self.format, options.categorical, self.format_options, beginning[0])
            if doubt is not None:
                self.note(doubt)

    @property
    def names(self) -> list[str]:
        """The paths as given."""
        return [source.name for source in self.input.sources]

    def labels(self) -> Labels:
        """Those of the records that were looked at."""
        texts: list[bytes] = []
        values: list[float] = []
        batch, parser = Batch(), self._label_parser()
        for block in self._beginning:
            line = block.first_line
            for at, data in enumerate(cut(block.data, self._format.head)):
                piece = dataclasses.replace(block, data=data, first_line=line)
                line += count_lines(data)
                if piece.was_cut:
                    continue
                if piece.is_long:
                    self._check_long(piece)
                parser.parse(data, batch, True, block.source, at == 0)
                texts += batch.labels()
                values += batch.label_values.tolist()
        self._beginning = []
        return Labels.seen(texts, values)

    def batches(
        self, start: Position | None = None, *, skip: bool = True, reuse: bool = True
    ) -> Iterator[Parsed]:
        """One pass over the input. Without `reuse` each batch is good for ever."""
        self._beginning = []
        blocks = self.input.blocks(lambda data: self._format.head(data, final=False), start, skip=skip)
        self._parsing = parse_blocks(
            blocks,
            self._parser,
            threads=self._options.thread_count,
            skip_bad=self._options.on_bad_line == "skip",
            reuse=reuse,
            check_long=self._check_long,
            most_resident=0 if self.room is None else self.room.most,
        )
        yield from self._counted(self._parsing, start)
        if self.digest and self.input.digest != self.digest:
            raise self.input.changed(self.input.sources[-1].name)
        self.digest = self.input.digest

    def close(self) -> None:
        """Stop what parses ahead, too: the frames of an error may hold it for as long as the program runs."""
        if self._parsing is not None:
            self._parsing.close()
        super().close()

    def _look(self, name: str) -> list[Block]:
        """The first 10,000 records, as the format counts them; a table's header is not one of them."""
        take = take_of(name)
        if take is None:
            return self.input.peek()
        header = name in ("csv", "tsv") and not self._options.no_header
        return self.input.peek(PEEK_RECORDS + header, take)

    def _check_long(self, block: Block) -> None:
        if self.room is not None:
            entries = most_entries(self.format, self.format_options, block.data)
            self.room.check(block, entries, self.input.block_size)

    def _label_parser(self) -> Parser:
        """For a look at labels alone: of a long sequence nothing but its letters is counted."""
        kmer = 1 if self.format_options.kmer else None
        return self._format.parser(dataclasses.replace(self.format_options, kmer=kmer))

    def _parser(self) -> Parser:
        return make_parser(self.format, self.format_options)


class RowsReading(AnyReading):
    """The batches of rows that are no text: as they come, filtered and scaled as asked."""

    input: RowSource

    def __init__(self, options: InputOptions, source: RowSource) -> None:
        super().__init__(options)
        self.input = source
        self.format = source.form
        self.format_why = "the rows are no text"
        self.format_options = source.settle(
            FormatOptions(
                label_column=options.label_column,
                numeric=options.numeric,
                categorical=options.categorical,
                missing=options.missing,
                needs_labels=options.needs_labels,
                normalize=options.normalize,
                keep=options.keep,
                ignore=options.ignore,
            )
        )
        filters = [list(map(to_bytes, patterns)) for patterns in (options.keep, options.ignore)]
        self._filter = NameFilter(*filters) if any(filters) else None
        self._ahead: list[Rows] = []
        self._pass: Iterator[Rows] | None = None

    @property
    def names(self) -> list[str]:
        """What the source, or each of its parts, is called."""
        return self.input.names

    def labels(self) -> Labels:
        """Those of the first 10,000 rows, which stay to be learned."""
        texts: list[bytes] = []
        values: list[float] = []
        self._pass = self.input.rows()
        for rows in self._pass:
            self._ahead.append(rows)
            texts += rows.batch.labels()
            values += rows.batch.label_values.tolist()
            if len(texts) >= PEEK_RECORDS:
                break
        return Labels.seen(texts[:PEEK_RECORDS], values[:PEEK_RECORDS])

    def batches(self, start: Position | None = None, *, skip: bool = True) -> Iterator[Parsed]:
        """One pass over the rows; from a start only where the source knows places."""
        if start is None:
            return self._counted(map(self._as_wanted, self._rows()))
        self._ahead, self._pass = [], None
        return self._counted(map(self._as_wanted, self.input.rows_from(start, skip=skip)), start)

    def wanted(self, names: Sequence[bytes]) -> Sequence[bytes]:
        """Those of the names that --keep and --ignore leave."""
        if self._filter is None:
            return names
        batch = Batch.from_arrays(
            np.array([0, len(names)], np.uint64),
            np.array([key_of_name(name) for name in names], np.uint64),
            np.ones(len(names), np.float32),
            np.zeros(1, np.float32),
            names=names,
        )
        self._filter.drop_entries(batch)
        return batch.names()

    def _rows(self) -> Iterator[Rows]:
        started, self._pass = self._pass, None
        if started is None:
            yield from self.input.rows()
            return
        while self._ahead:
            yield self._ahead.pop(0)
        yield from started

    def _as_wanted(self, rows: Rows) -> Parsed:
        if self._filter is not None:
            self._filter.drop_entries(rows.batch)
        if self._options.normalize == "l2":
            rows.batch.normalize_l2()
        return rows


def make_reading(
    options: InputOptions,
    source: Source | RowSource | None = None,
    *,
    keep_positions: bool = False,
    usual: InputOptions | None = None,
) -> Reading | RowsReading:
    """The reading of the paths among the options, or of a source that takes their place.

    With `usual` options a stream whose format is not asked for is read as those say, or, where it shows
    that it is of another format, as that.
    """
    if isinstance(source, RowSource):
        return RowsReading(usual or options, source)
    inputs = options.inputs if source is None else [source]
    form = options.format if usual is None or options.format != "auto" else usual.format
    cut_lines = options.on_bad_line == "skip" and form in _OF_LINES
    given = Input(inputs, keep_positions=keep_positions, cut_lines=cut_lines)
    if usual is not None:
        try:
            options = _usual_options_for(options, usual, given)
        except BaseException:
            given.close()
            raise
    if not _is_parquet(options, given):
        return _with_note_of_format(Reading(options, given), usual)
    from fsstream.parquet import ParquetSource

    memory = options.memory_bytes if isinstance(options, SelectOptions) else None
    folder = getattr(options, "spool_dir", None)
    files = ParquetSource(given, folder, memory=memory, keep_positions=keep_positions)
    try:
        dataclasses.replace(options, format="parquet").check()  # an option it has no use for is an error
        return _with_note_of_format(RowsReading(options, files), usual)
    except BaseException:
        files.close()
        raise


def _with_note_of_format(found: Reading | RowsReading, usual: InputOptions | None) -> Reading | RowsReading:
    if usual is not None and found.format not in (usual.format, "columns", *KMER_FORMATS):
        found.note(f"read as {found.format}, which it looks like; the model was trained on {usual.format}")
    return found


def _usual_options_for(options: InputOptions, usual: InputOptions, given: Input) -> InputOptions:
    """The usual options; those that mean nothing in the format that the stream shows are as given."""
    form = usual.format
    if options.format == "auto":
        is_parquet = options.targets is None and given.front(len(PARQUET_MARK)) == PARQUET_MARK
        form = "parquet" if is_parquet else detect.shown(usual, given.peek())
        options.check_use(form)
    idle = {name: getattr(options, name) for name, formats in USES.items() if form not in formats}
    return dataclasses.replace(usual, format=form, **idle)


def _is_parquet(options: InputOptions, given: Input) -> bool:
    if options.format != "auto" or options.targets is not None:
        return options.format == "parquet"
    try:
        return given.front(len(PARQUET_MARK)) == PARQUET_MARK
    except BaseException:
        given.close()
        raise
