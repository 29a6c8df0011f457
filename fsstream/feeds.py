"""What a learner is fed: batches with targets, pass after pass, in the kind of access it declares.

A RowFeed gives the rows of a stream, a TransposedFeed its features. A ColumnFeed gives the features of a
`columns` stream, whose targets lie in a file of their own.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fsstream.aim import Aim
from fsstream.algorithms.learner import Access, Task
from fsstream.errors import DataError, LimitError, UsageError, no_data
from fsstream.numerics import np
from fsstream.samples import check_labels, check_samples, labelled_lines
from fsstream.stream_feed import Place, StreamFeed, batch_bytes
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.errors import RowError
    from fsstream.pipeline import Parsed
    from fsstream.progress import Progress
    from fsstream.reading import AnyReading
    from fsstream.signals import StopSignals
    from fsstream.task import Labels

    class Feed(Protocol):
        """Batches of a run, and what their targets mean."""

        aim: Aim
        gives: str  # what the rows of its batches are
        reads_source: bool  # a pass reads the input, at least the first one
        place: Place  # behind the batch given last
        size: int  # bytes of all batches given

        @property
        def task(self) -> Task:
            """For the learner, before the first pass."""

        def batches(self, number: int) -> Iterator[Batch]:
            """Pass `number`, from 1; the same rows or features each time."""

        def placed(self, wrong: RowError, row: int) -> DataError:
            """What is wrong with that row of the batch given last, with its place where that is known."""

        def close(self) -> None:
            """Let go of files."""


@dataclass(frozen=True)
class FeedState:
    """What a feed needs to go on where an interrupted run stood."""

    place: Place
    loss: str
    kind: str
    labels: tuple[str, ...]  # met so far
    rows: int  # seen in the first pass
    rows_before: int = 0  # behind the state of --init


LABEL_BYTES = 512  # that the label of a class takes, in the map of labels and in Python
_FIRST_ROWS = 5_000  # a stream that has had one label for so long is probably sorted by class


class RowFeed(StreamFeed):
    """The rows of a stream, with their targets."""

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        reading: AnyReading,
        signals: StopSignals,
        *,
        again: bool,
        state: FeedState | None = None,
    ) -> None:
        super().__init__(
            options, reading, signals, state.place if state is not None else Place(), again=again
        )
        with signals.waiting():
            labels = reading.labels()
        self.aim = (
            Aim.decide(options, labels, chosen)
            if state is None
            else Aim.continued(
                options, state.loss, state.kind, state.labels, state.rows, before=state.rows_before
            )
        )
        if state is None and chosen.access is Access.ROWS and not options.shuffle:
            self._warn_of_order(labels)
        self._same_order = chosen.knows_rows_by_number
        if self.aim.kind == "classes" and chosen.access is Access.ROWS_AGAIN:
            self._keep_rows(again=True)
            if state is None:
                self._meet_all_classes()

    def _warn_of_order(self, labels: Labels) -> None:
        if self.aim.kind != "numbers" and labels.sorted_by_class:
            self._reading.note("the first rows come class after class: is the stream sorted? use --shuffle")

    @property
    def task(self) -> Task:
        """For the learner."""
        return self.aim.task

    def batches(self, number: int) -> Iterator[Batch]:
        """The rows with their targets."""
        for batch in self._pass(number):
            if number == 1:
                self._count(batch.rows)
            yield batch
        if number == 1:
            self.aim.check_rows()

    def _arrived(self, parsed: Parsed) -> None:
        self.aim.resolve(parsed, self._reading.format)

    def _came_back(self, batch: Batch) -> None:
        self.aim.label_map.resolve(batch)  # each label has been met when it was spooled

    def _count(self, rows: int) -> None:
        before, self.aim.rows = self.aim.rows, self.aim.rows + rows
        if not before < _FIRST_ROWS <= self.aim.rows:
            return
        if self.aim.kind != "numbers" and len(self.aim.labels) < 2:
            self._reading.note(
                f"the first {_FIRST_ROWS} rows all have one label: is the stream sorted by class? "
                "use --shuffle"
            )

    def _meet_all_classes(self) -> None:
        """One scan for the labels alone: a backend that reads again must know its classes at once."""
        for batch in self._from_input(None):
            self._signals.check()
            known = int(batch.targets.max()) + 1 if batch.rows else 0
            if known * LABEL_BYTES > self._options.memory_bytes:
                raise LimitError(
                    f"{known:,} classes do not fit into --memory {show_size(self._options.memory_bytes)}",
                    hint="raise --memory, or give labels that fewer rows have to themselves",
                )


class ColumnFeed(StreamFeed):
    """The features of a `columns` stream; the targets of the samples come from --targets."""

    gives = "features"

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        reading: AnyReading,
        signals: StopSignals,
        state: FeedState | None = None,
    ) -> None:
        assert options.targets is not None
        start = state.place if state is not None else Place()
        super().__init__(
            options, reading, signals, start, again=chosen.reads_again(options.passes, options.l1)
        )
        with closing(labelled_lines(options.targets)) as lines:
            self.aim = Aim.decide(options, lines.labels(), chosen)
            pieces = [self._targets_of(parsed) for parsed in lines.batches()]
        self._targets = np.concatenate(pieces or [np.empty(0, np.float32)])
        if not self.aim.rows:
            raise DataError(
                "there is no label: not one line",
                path=options.targets,
                hint="line i is the label of sample i",
            )
        self.aim.check_rows()
        self._any = state is not None  # a feature has been seen

    @property
    def task(self) -> Task:
        """For the learner."""
        return replace(self.aim.task, targets=self._targets)

    def batches(self, number: int) -> Iterator[Batch]:
        """The features; the same ones in the same order each time."""
        for batch in self._pass(number):
            self._any = self._any or batch.rows > 0
            yield batch
        if not self._any:
            raise no_data()

    def _arrived(self, parsed: Parsed) -> None:
        check_samples(parsed, len(self._targets))

    def _targets_of(self, parsed: Parsed) -> NDArray[np.float32]:
        self.aim.resolve(parsed, "tokens")
        check_labels(parsed, self.aim.rows)
        self.aim.rows += parsed.batch.rows
        return np.array(parsed.batch.targets)


class TransposedFeed:
    """The features of a row stream, for learners that take one after the other."""

    gives = "features"
    reads_source = False

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        reading: AnyReading,
        signals: StopSignals,
        *,
        progress: Progress,
        state: FeedState | None = None,
    ) -> None:
        self._signals = signals
        self.place, self.size = Place(), 0
        self._start = state.place if state is not None else Place()
        from fsstream.sources.transpose import Columns

        self._columns = Columns(options.memory_bytes // 2, options.spool_dir)
        try:
            rows = RowFeed(options, chosen, reading, signals, again=False)
            self._targets = self._transpose(rows, reading, progress)
        except BaseException:
            self.close()
            raise

    @property
    def task(self) -> Task:
        """For the learner."""
        return replace(self.aim.task, targets=self._targets)

    def batches(self, number: int) -> Iterator[Batch]:
        """The features in the order of their keys, each time."""
        start, self._start = self._start, Place()
        for count, batch in enumerate(self._columns.batches(), 1):
            self._signals.check()
            if count > start.batches:
                self.place = Place(batches=count)
                self.size += batch_bytes(batch)
                yield batch

    def placed(self, wrong: RowError, row: int) -> DataError:
        """Without a place: a feature that was gathered from rows has no line of its own."""
        return wrong

    def close(self) -> None:
        """Remove what is on disk."""
        self._columns.close()

    def _on_disk(self) -> str:
        return f", {show_size(self._columns.spilled)} on disk" if self._columns.spilled else ""

    def _transpose(self, rows: RowFeed, reading: AnyReading, progress: Progress) -> NDArray[np.float32]:
        self.aim = rows.aim
        targets = []
        progress.start("transposing")
        for batch in rows.batches(1):
            if (batch.importance != 1).any():
                raise UsageError(
                    "columns know no weights of rows", hint="leave out --class-weight and row weights"
                )
            targets.append(np.array(batch.targets))
            self._columns.write(batch)
            progress.update(batch.rows, self._on_disk)
        self._columns.finish()
        rows.close()
        if self._columns.collisions:
            reading.note(
                f"{self._columns.collisions} values have names that share their 64 bits with another name"
            )
        return np.concatenate(targets)


def make_feed(
    options: SelectOptions,
    chosen: type[Learner],
    reading: AnyReading,
    signals: StopSignals,
    *,
    progress: Progress,
    state: FeedState | None = None,
) -> Feed:
    """The feed that gives the backend the access it needs, from its beginning or where a run stood."""
    if reading.format == "columns":
        if chosen.access is not Access.COLUMNS:
            raise UsageError(f"--algo {chosen.name} reads rows, not --format columns", hint="use --algo os")
        return ColumnFeed(options, chosen, reading, signals, state)
    if chosen.access is Access.COLUMNS:
        return TransposedFeed(options, chosen, reading, signals, progress=progress, state=state)
    again = chosen.reads_again(options.passes, options.l1)
    return RowFeed(options, chosen, reading, signals, again=again, state=state)
