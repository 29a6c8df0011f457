"""What a run will need, before it runs: memory, passes, disk, time.

In: the options of a run. Out: an estimate. The beginning of the input is run in processes of their own,
the backend on more and more of it, and a reader that keeps nothing:

    memory   what reading takes, measured on so much that nothing in flight grows any more, and what the
             learner has beyond that, extended to the whole stream like the entries, the features, or
             not, whichever fits the trials best; at least what the learner says it will allocate. A learner
             that is too slow for large trials is watched for some seconds on all that was looked at: most
             allocate first and work then, and one that has not grown for half of that time is at its peak.
             Seconds are of work, so that a busy machine tries as much.
    time     by the power of the bytes that the last two trials show; `timed_on` says what share of the
             stream the last one was.
    disk     the spool or the transposed runs, if they are needed, by the density of what was looked at.

A stream that the trials saw whole is not estimated but measured. Standard input is not read: there the
answer holds what can be known without data. Of Parquet a trial reads the first rows of the files themselves,
so that pages and row groups are as they will be; its bytes are rows, times what a row takes in the files.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.learner import Access, Task, check_plan
from fsstream.errors import FsstreamError
from fsstream.memory import peak_memory
from fsstream.parameters import parse_parameters
from fsstream.planning.beginning import look_at
from fsstream.planning.extrapolation import Measured, memory_at_end, time_at_end
from fsstream.planning.trial import Glimpse, peak_within, run_in_own_process
from fsstream.task import TWO_CLASS_LOSSES
from fsstream.training import check_uses, common_options, find_backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.planning.beginning import Beginning

READER = "iht"  # with one feature: a backend that keeps nothing to speak of
FIRST_TRIAL = 1 << 20  # bytes
LONG_TRIAL = 3.0  # seconds of work: a larger trial would take too long
GLIMPSE = 10.0  # seconds of work that one is watched for, to see its memory
TRANSPOSED_ENTRY, TRANSPOSED_FEATURE = 20, 40  # bytes in memory while rows become columns


def plan_run(options: SelectOptions) -> dict[str, Any]:
    """The estimate; LimitError where the run would be refused."""
    chosen = find_backend(options.algo)
    check_uses(options, chosen)
    parse_parameters(chosen.Parameters, options.set, options.algo)
    why = _unseen(options)
    if why is not None:
        parts = _parts(options, chosen, Task(loss=chosen.auto_binary_loss))
        known = sum(parts.values()) + peak_memory()
        return _answer(
            options, parts, memory=known, note=f"{why}: without data only what the options say is known"
        )
    head = look_at(options, chosen)
    whole = {"rows": round(head.rows / head.share), "entries": round(head.entries / head.share)}
    task = head.task
    if chosen.access is Access.COLUMNS and task.targets is None:
        samples = np.broadcast_to(np.float32(0), (whole["rows"],))
        task = dataclasses.replace(task, targets=samples)
    _parts(options, chosen, task)  # refused as in the run, which does not know how many features will come
    features = (
        whole["rows"] if head.reading["format"] == "columns" else head.features_in(head.size / head.share)
    )
    parts = _parts(options, chosen, dataclasses.replace(task, features=round(features)))
    with tempfile.TemporaryDirectory(dir=options.spool_dir, prefix="fsstream-plan-") as folder:
        estimate = _estimate(options, head, parts, Path(folder) / "head")
    return _answer(
        options,
        parts,
        **whole,
        **estimate,
        disk=_disk(options, chosen, head),
        each_class=_each_class(options, chosen, task),
        looked_at=round(head.share, 6),
    )


def _unseen(options: SelectOptions) -> str | None:
    """Why no beginning of the input can be tried."""
    if not options.inputs or "-" in options.inputs:
        return "standard input is not read"
    named = options.format == "parquet" or Path(options.inputs[0]).suffix == ".parquet"
    if named and not all(Path(path).is_file() for path in options.inputs):
        return "Parquet that is no file is not read twice"
    return None


def _answer(options: SelectOptions, parts: dict[str, int], **found: Any) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(
        (
            "memory",
            "each_class",
            "passes",
            "disk",
            "seconds",
            "rows",
            "entries",
            "looked_at",
            "timed_on",
            "note",
        )
    )
    return {**empty, **found, "learner": parts, "limit": options.memory_bytes}


def _each_class(options: SelectOptions, chosen: type[Learner], task: Task) -> int | None:
    """Bytes that one of several classes takes, the mean of as many more as there are."""
    known = len(task.labels)
    if known < 3:
        return None
    once = sum(_plan(options, chosen, task).values())
    if task.loss in TWO_CLASS_LOSSES:
        return once  # a learner each
    twice = sum(_plan(options, chosen, dataclasses.replace(task, labels=2 * task.labels)).values())
    return round((twice - once) / known)


def _plan(options: SelectOptions, chosen: type[Learner], task: Task) -> dict[str, int]:
    parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
    return chosen.plan(common_options(options, chosen), parameters, task)


def _parts(options: SelectOptions, chosen: type[Learner], task: Task) -> dict[str, int]:
    """What the learner says it will allocate; LimitError as in the run."""
    parts = _plan(options, chosen, task)
    check_plan(parts, options.memory_bytes)
    return parts


def _estimate(options: SelectOptions, head: Beginning, parts: dict[str, int], path: Path) -> dict[str, Any]:
    trials = _trials(options, head, path)
    last = trials[-1]
    if last.size == head.size and head.share == 1:
        return {"memory": last.memory, "seconds": last.seconds, "passes": last.passes, "timed_on": 1.0}
    reads = dataclasses.replace(
        options, algo=READER, set=(), loss=_reader_loss(head.task.loss), k=1, l1=None, l2=None,
        learning_rate=None, passes=None, intercept=None, init=None, workers=None, groups=None, valid=None,
        patience=None, shuffle=False,
    )  # fmt: skip
    columns = head.reading["format"] == "columns"  # which that backend does not read
    table = no_table if columns else _table_of(options, head)

    def in_flight(size: int) -> int:
        """What is in memory while rows are read, beside the learner."""
        return 0 if columns else _run(reads, head, size, path, with_numpy=last.numpy).memory

    inflight = in_flight(head.size)
    apart = [trial.memory - in_flight(trial.size) for trial in trials]
    fixed = sum(size for what, size in parts.items() if "at most" not in what)
    learner = max(memory_at_end(apart, trials, head, table), fixed)
    if last.size < head.size:
        glimpse = _glimpse(options, head, path)
        seen = Measured(head.size, glimpse.peak, 0.0, 0)
        extended = memory_at_end([*apart, glimpse.peak - inflight], [*trials, seen], head, table)
        learner = extended if glimpse.settled else max(learner, extended)
    memory = inflight + min(learner, options.memory_bytes)
    timed_on = round(last.size * head.share / head.size, 6)
    return {
        "memory": round(memory),
        "seconds": time_at_end(trials, head),
        "passes": last.passes,
        "timed_on": timed_on,
    }


def _table_of(options: SelectOptions, head: Beginning) -> Callable[[float], int]:
    """Bytes of the learner's tables of all features; every class of a two-class loss has its own."""
    chosen = find_backend(options.algo)
    parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
    apart = head.task.loss in TWO_CLASS_LOSSES and chosen.access is not Access.COLUMNS
    tables = max(len(head.task.labels), 1) if apart and len(head.task.labels) > 2 else 1
    return lambda features: tables * chosen.table_bytes(parameters, features, head.largest_key)


def no_table(features: float) -> int:
    """Rows of a `columns` stream are the features themselves."""
    return 0


def _alone(options: SelectOptions) -> SelectOptions:
    """Without what a run leaves behind."""
    quiet: dict[str, Any] = dict.fromkeys(("output", "model", "summary", "bad_lines", "lock", "checkpoint"))
    return dataclasses.replace(options, quiet=True, checkpoint_every=None, with_state=False, **quiet)


def _trials(options: SelectOptions, head: Beginning, path: Path) -> list[Measured]:
    """Larger and larger beginnings, until one takes long or there is no more."""
    alone = _alone(options)
    trials: list[Measured] = []
    size = FIRST_TRIAL
    while True:
        size = head.size if 2 * size > head.size else size
        try:
            trials.append(_run(alone, head, size, path, with_numpy=_writes_arrays(options)))
        except FsstreamError:
            if size == head.size:  # a beginning may hold one label only, the whole may not
                raise
        written = trials[-1].size if trials else 0
        if head.size in (size, written) or (len(trials) > 1 and trials[-1].work > LONG_TRIAL):
            return trials
        size *= 4
        while size <= written:  # long records, or large blocks, of which one was more than was asked for
            size *= 4


def _glimpse(options: SelectOptions, head: Beginning, path: Path) -> Glimpse:
    """The memory that a run on all that was looked at has in its first seconds."""
    with_numpy = _writes_arrays(options)
    options, place, _, rows = _trial(_alone(options), head, head.size, path)
    return peak_within(options, place, rows, GLIMPSE, with_numpy=with_numpy)


def _run(options: SelectOptions, head: Beginning, size: int, path: Path, *, with_numpy: bool) -> Measured:
    options, place, written, rows = _trial(options, head, size, path)
    summary = run_in_own_process(options, place, rows, with_numpy=with_numpy)
    taken = (summary["peak_memory"], summary["seconds"], summary["passes"], summary["cpu_seconds"])
    return Measured(written, *taken, numpy=summary["numpy"] is not None)


def _writes_arrays(options: SelectOptions) -> bool:
    """Whether the run will load numpy for files that a trial does not write."""
    return options.with_state or options.checkpoint is not None


def _trial(
    options: SelectOptions, head: Beginning, size: int, path: Path
) -> tuple[SelectOptions, Path, int, int | None]:
    """The options that run a beginning, where its summary goes, how long the beginning is, and its rows."""
    if head.row_counts:
        count = int(np.searchsorted(np.cumsum(head.sizes), size)) + 1
        written, rows = sum(head.sizes[:count]), sum(head.row_counts[:count])
        return dataclasses.replace(options, quiet=True), path.with_name("summary"), written, rows
    with path.open("wb") as file:
        for piece in head.pieces:
            if file.tell() >= size:
                break
            file.write(piece)
        written = file.tell()
    if written < head.size or head.share < 1:
        options = dataclasses.replace(options, inputs=(str(path),), format=head.reading["format"])
    return dataclasses.replace(options, quiet=True), path.with_name("summary"), written, None


def _reader_loss(loss: str) -> str:
    return "logistic" if loss in ("softmax", "squared-hinge", "hinge") else loss


def _disk(options: SelectOptions, chosen: type[Learner], head: Beginning) -> int:
    """Bytes of the spool, or of columns that do not fit; 0 when files are simply read again."""
    rereadable = all(Path(path).is_file() for path in options.inputs)
    again = chosen.reads_again(options.passes, options.l1)
    if head.reading["format"] == "columns":
        return 0
    if chosen.access is Access.COLUMNS:
        in_memory = TRANSPOSED_ENTRY * head.entries + TRANSPOSED_FEATURE * head.features[-1]
        return 0 if in_memory / head.share <= options.memory_bytes // 2 else round(head.spooled / head.share)
    return round(head.spooled / head.share) if options.shuffle or (again and not rereadable) else 0
