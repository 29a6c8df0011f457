"""What a learner is fed: batches with targets, pass after pass, in the kind of access it declares.

A RowFeed gives the rows of a stream, a TransposedFeed its features. A ColumnFeed gives the features of a
`columns` stream, whose targets lie in a file of their own.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fsstream.algorithms.learner import Access, Task
from fsstream.bad_records import row_fault
from fsstream.config import TYPED_TABLES, split_class_weight
from fsstream.errors import DataError, LimitError, UsageError, no_data
from fsstream.numerics import np
from fsstream.samples import check_labels, check_samples, labelled_lines
from fsstream.stream_feed import Place, StreamFeed, batch_bytes
from fsstream.task import Labels, check_loss, decide, make_map, start_labels
from fsstream.text import to_bytes, to_text
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from numpy.typing import NDArray

    from fsstream._native import Batch, LabelMap
    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.errors import RowError
    from fsstream.model import Model
    from fsstream.pipeline import Parsed
    from fsstream.progress import Progress
    from fsstream.reading import AnyReading
    from fsstream.signals import StopSignals

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


_WHERE_LABELS_ARE = {
    "fasta": "--labels FILE is a table of record and label, else the header says label=...",
    "fastq": "--labels FILE is a table of record and label, else the header says label=...",
    "seq": "a label and a tab stand before the sequence",
    "vw": "the label stands first, before the bar",
    **dict.fromkeys((*TYPED_TABLES, "jsonl"), "--label-column NAME says where the label is"),
}
LABEL_BYTES = 512  # of a class whose label is known, before anything is learned of it
_FIRST_ROWS = 5_000  # one label for so long suggests a stream sorted by class


@dataclass
class Aim:
    """What is predicted: the loss, the kind of target, and the labels met so far."""

    loss: str
    kind: str  # numbers, binary or classes
    label_map: LabelMap
    initial: Model | None
    max_classes: int
    rows: int = 0  # seen in the first pass
    rows_before: int = 0  # behind the state of --init

    @classmethod
    def decide(cls, options: SelectOptions, labels: Labels, chosen: type[Learner]) -> Aim:
        """As the model of --init has it, which may meet a day of two labels only, or of none; else from the
        labels of the first records.
        """
        initial = _first_model(options.init) if options.init else None
        if initial is not None and options.loss in ("auto", initial.loss):
            loss, kind = initial.loss, initial.kind
            check_loss(loss, chosen)
        else:
            loss, kind = decide(options.loss, labels, chosen)
        if kind == "numbers" and options.class_weight:
            raise UsageError(f"--class-weight has no use with the {loss} loss", hint="its labels are numbers")
        if initial is not None and (initial.kind, initial.loss) != (kind, loss):
            raise UsageError(
                f"--init: a model of {initial.kind} with the {initial.loss} loss cannot start one of "
                f"{kind} with the {loss} loss"
            )
        known = start_labels(kind, labels, (initial.state_labels or initial.labels) if initial else ())
        weights = map(split_class_weight, options.class_weight)
        label_map = make_map(kind, known, options.max_classes, weights)
        before = initial.rows if initial is not None and initial.state is not None else 0
        return cls(loss, kind, label_map, initial, options.max_classes, rows_before=before)

    @classmethod
    def continued(
        cls, options: SelectOptions, loss: str, kind: str, labels: Iterable[str], rows: int, *, before: int
    ) -> Aim:
        """As it was when so many rows had been seen."""
        weights = map(split_class_weight, options.class_weight)
        label_map = make_map(kind, list(map(to_bytes, labels)), options.max_classes, weights)
        return cls(loss, kind, label_map, None, options.max_classes, rows, before)

    @property
    def labels(self) -> tuple[str, ...]:
        """Canonical labels: negative and positive, or the classes in order of appearance."""
        return tuple(map(to_text, self.label_map.labels))

    @property
    def task(self) -> Task:
        """What a learner needs to know."""
        return Task(loss=self.loss, labels=self.labels, max_classes=self.max_classes)

    def resolve(self, parsed: Parsed, form: str) -> None:
        """Give the rows their targets, or say which label will not do, or is one too many."""
        problem = self.label_map.resolve(parsed.batch)
        if problem is None:
            return
        row, expected, hint = problem
        if not parsed.batch.labels()[row]:
            hint = _WHERE_LABELS_ARE.get(form, hint)
        elif self.kind == "binary" and self.initial is not None:
            hint = f"the model of --init tells {self.labels[1]!r} from {self.labels[0]!r}"
        error = row_fault(parsed.block, parsed.batch, row, expected, hint)
        raise LimitError(error.message, hint=hint) if "--max-classes" in expected else error

    def check_rows(self) -> None:
        """After the data: there must have been some, and something to tell apart."""
        if self.rows == 0:
            raise no_data()
        if self.kind != "numbers" and len(self.labels) < 2:
            raise DataError(
                f"every row ({self.rows}) has the label {self.labels[0]!r}: there is nothing to tell apart",
                hint="classes need at least two labels",
            )


def _first_model(path: str) -> Model:
    from fsstream.model_file import load_model

    try:
        return load_model(path)
    except UsageError as error:
        raise UsageError(
            f"--init: {error.message}", hint="the first run of all goes without --init"
        ) from None


class RowFeed(StreamFeed):
    """The rows of a stream. What cannot be read again, or is to be shuffled, is spooled."""

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
        """A backend that reads again needs its classes before the first pass: one scan for the labels."""
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
        """Features that have been gathered from rows stand nowhere."""
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
