"""A run saves itself: now and then, and when it is stopped, if that was asked for.

In: the batches a learner is fed. Out: the same batches, and checkpoints between them. Only what has been
learned is saved, never what was read ahead, and saving changes nothing in the run.

Where a run stands is said by four types, each of which holds the one before:

    Position  between two records of the input: a source, and its bytes that lie before (sources/blocks)
    Place     between two batches of a pass: a Position, or a count of the spool's batches (stream_feed)
    Mark      a Place, and what had been counted there: cheap, so it is taken after every batch
    Snapshot  a Mark, and all else of the run but the learner's arrays: taken when the run is saved
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fsstream.errors import FsstreamError, Interrupted, LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from fsstream._native import Batch
    from fsstream.checkpoint import Checkpoint, CheckpointWriter
    from fsstream.config import SelectOptions
    from fsstream.feeds import FeedState
    from fsstream.state import StateSink
    from fsstream.stream_feed import Place


@dataclass(frozen=True)
class Mark:
    """Where a run stands between two batches: cheap to take, unlike a snapshot."""

    place: Place
    rows: int
    labels: int
    counts: Mapping[str, Any]
    size: int  # bytes learned
    learned: int  # rows or features, in all passes


@dataclass(frozen=True)
class Snapshot:
    """A run between two records: behind a batch, or amid one of many classes."""

    passes: int  # finished
    feed: FeedState
    first_labels: int  # how many labels were known when the learner was made
    counts: Mapping[str, Any]  # of the reading
    notes: list[str]
    validation: Mapping[str, Any] | None
    course: Mapping[str, Any]  # of the run until now, for its summary
    begun: int  # rows of the next batch that have been learned, too


class Savable(Protocol):
    """What a run must be able to say of itself."""

    def mark(self) -> Mark:
        """Where it stands."""

    def snapshot(self, mark: Mark) -> Snapshot:
        """All of it but the arrays. The learner has learned what lies before the mark and nothing more."""

    def save(self, out: StateSink) -> None:
        """The arrays."""

    def warn(self, text: str) -> None:
        """Tell the user what is no reason to stop."""


class Saving:
    """Around a run. A new one begins by replacing what is left of an earlier one."""

    def __init__(self, options: SelectOptions, before: Checkpoint | None) -> None:
        self.resumes = 0  # how often the run has gone on
        self._writer: CheckpointWriter | None = None
        self._run: Savable | None = None
        self._mark: Mark | None = None  # where a run that goes on will begin; None: between two passes
        self._amid = False  # a batch is being learned: the learner knows more than the mark says
        if options.checkpoint is None:
            return
        from fsstream.checkpoint import CheckpointWriter, Origin

        origin = Origin.of(options, before)
        self.resumes = origin.resumes
        self._writer = CheckpointWriter(origin)
        if before is None:
            self._writer.write(None)

    @property
    def wanted(self) -> bool:
        """Whether there is a file to save to."""
        return self._writer is not None

    def batches(self, batches: Iterator[Batch], run: Savable, *, within_a_pass: bool) -> Iterator[Batch]:
        """The batches of a pass; between two of them the run is saved when it is time.

        What cannot go on within a pass is saved as it stood at the beginning of the pass.
        """
        if self._writer is None:
            yield from batches
            return
        self._run, start = run, run.mark()
        self._mark = start
        for batch in batches:
            self._amid = True
            yield batch
            self._amid = False
            self._mark = run.mark() if within_a_pass else start
            self.save_if_due()
        if within_a_pass:
            self.unmark()

    def unmark(self) -> None:
        """Until the next pass the run stands nowhere: what was saved so far is what there is."""
        self._mark = None

    def save_if_due(self) -> None:
        """Between two batches, or two scans of rows in memory."""
        if self._writer is None or self._run is None or self._mark is None:
            return
        if self._writer.is_due(self._run.mark().size):
            self._save_or_warn(self._writer, self._run, self._mark)

    def __enter__(self) -> Saving:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is None or not isinstance(error, Interrupted | LimitError):
            return
        # A signal is heard between two parts of a batch, and the snapshot says how many rows are learned. Any
        # other error may have come amid a part: then there is nothing to save that fits the mark.
        amid = self._amid and not isinstance(error, Interrupted)
        if self._run is not None and self._mark is not None and not amid:
            self._writer.write(self._run.snapshot(self._mark), self._run.save)
        told = f"fsstream resume {self._writer.path}"
        if isinstance(error, Interrupted):
            error.message += f"; `{told}` goes on"
        else:
            more = " --memory SIZE" if "--memory" in f"{error.message} {error.hint}" else ""
            told = f"`{told}{more}` goes on"
            error.hint = f"{error.hint}; {told}" if error.hint else told

    def _save_or_warn(self, writer: CheckpointWriter, run: Savable, mark: Mark) -> None:
        """A full disk is no reason to lose hours of learning: the checkpoint before is still there."""
        try:
            writer.write(run.snapshot(mark), run.save)
        except FsstreamError as error:
            run.warn(f"{error.message}: the run goes on, and {writer.path} is as it was")
