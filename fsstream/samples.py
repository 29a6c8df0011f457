"""The samples of a `columns` stream as rows, for a model that scores rows.

In: the lines of the stream, each a feature, and the labels of --targets. Out: rows in the order of their
samples, with the features that the model knows. These are gathered first, since each line may hold a value
for any sample.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream._native import Batch, key_of_name
from fsstream.bad_records import row_fault
from fsstream.config import InputOptions
from fsstream.errors import DataError
from fsstream.numerics import np
from fsstream.pipeline import Parsed
from fsstream.reading import Reading
from fsstream.sources import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsstream.reading import AnyReading

_AT_ONCE = 1 << 16  # samples
_MOST = 1 << 32  # samples without --targets: each of them is a row of the output


@dataclass(frozen=True)
class SampleRows:
    """What is known of the samples: entries in the order of samples, and within one of features."""

    last: int  # the largest number of a sample in any line
    samples: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    values: NDArray[np.float32]

    def rows(self, begin: int, end: int) -> Batch:
        """Those from number `begin` on, counted from 0, to before `end`."""
        starts = np.searchsorted(self.samples, np.arange(begin + 1, end + 2, dtype=np.uint64))
        span = slice(int(starts[0]), int(starts[-1]))
        return Batch.from_arrays(
            (starts - starts[0]).astype(np.uint64),
            self.keys[span],
            self.values[span],
            np.full(end - begin, np.nan, np.float32),
        )


def labelled_lines(path: str) -> Reading:
    """The file of --targets: line i is the label of sample i."""
    return Reading(InputOptions(inputs=(path,), format="tokens", threads=1))


def check_labels(parsed: Parsed, before: int) -> None:
    """One line, one sample: a blank line would shift those behind it. `before`: lines of earlier blocks."""
    batch, block = parsed.batch, parsed.block
    for row in range(batch.rows):
        line = block.line_at(int(batch.records[row])) if row in (0, batch.rows - 1) else before + row + 1
        if line != before + row + 1 or batch.row_starts[row + 1] > batch.row_starts[row]:
            raise DataError(
                "expected one label", path=block.source, line=before + row + 1,
                hint="line i of --targets is the label of sample i, and nothing else",
            )  # fmt: skip


def check_samples(parsed: Parsed, count: int) -> None:
    """Each sample has its line in --targets."""
    batch = parsed.batch
    if batch.entries and int(batch.keys.max()) > count:
        entry = int(np.flatnonzero(batch.keys > count)[0])
        row = int(np.searchsorted(batch.row_starts, entry, side="right")) - 1
        raise row_fault(
            parsed.block,
            batch,
            row,
            f"samples from 1 to {count}, and there is sample {int(batch.keys[entry])} in feature",
            "the sample numbers are the lines of --targets",
        )


def sample_rows(
    reading: AnyReading, targets: str | None, known: NDArray[np.uint64] | None
) -> Iterator[tuple[Parsed, Batch]]:
    """Some samples at a time: what is told of them (labels, if there are targets), and their rows.

    `known` are the keys of the features that matter; None: all.
    """
    lines = _labels(targets) if targets is not None else None
    count = None if lines is None else sum(parsed.batch.rows for parsed in lines)
    gathered = _gather(reading, count, known)
    if lines is None:
        for begin in range(0, gathered.last, _AT_ONCE):
            rows = gathered.rows(begin, min(begin + _AT_ONCE, gathered.last))
            yield Parsed(Block(reading.names[0], memoryview(b""), begin + 1, 0), rows), rows
        return
    begin = 0
    for parsed in lines:
        end = begin + parsed.batch.rows
        yield parsed, gathered.rows(begin, end)
        begin = end


def _labels(path: str) -> list[Parsed]:
    found: list[Parsed] = []
    with closing(labelled_lines(path)) as lines:
        before = 0
        for parsed in lines.batches(reuse=False):
            check_labels(parsed, before)
            before += parsed.batch.rows
            found.append(parsed)
    return found


def _gather(reading: AnyReading, count: int | None, known: NDArray[np.uint64] | None) -> SampleRows:
    keys, samples, values = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)], [np.empty(0, np.float32)]
    last = 0
    for parsed in reading.batches():
        check_samples(parsed, _MOST if count is None else count)
        batch = parsed.batch
        last = max(last, int(batch.keys.max()) if batch.entries else 0)
        names = np.array([key_of_name(name) for name in batch.labels()], np.uint64)
        of_entry = np.repeat(names, np.diff(batch.row_starts).astype(np.int64))
        wanted = np.isin(of_entry, known) if known is not None else slice(None)
        keys.append(of_entry[wanted])
        samples.append(batch.keys[wanted].copy())
        values.append(batch.values[wanted].copy())
    of_all = np.concatenate(samples)
    order = np.argsort(of_all, kind="stable")
    return SampleRows(last, of_all[order], np.concatenate(keys)[order], np.concatenate(values)[order])
