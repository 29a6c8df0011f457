"""libsvm text: what it means, and what is refused where."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream._native import Batch, LibsvmParser


def parse(text: bytes, skip_bad: bool = False) -> Batch:
    batch = Batch()
    LibsvmParser().parse(text, batch, skip_bad)
    return batch


def rows(batch: Batch) -> list[tuple[bytes, dict[int, float]]]:
    starts = batch.row_starts
    return [
        (label, dict(zip(batch.keys[a:b].tolist(), batch.values[a:b].tolist(), strict=True)))
        for label, a, b in zip(batch.labels(), starts[:-1], starts[1:], strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1 3:0.5 7:2\n", [(b"1", {3: 0.5, 7: 2.0})]),
        (b"-1 7:2 3:-.5", [(b"-1", {7: 2.0, 3: -0.5})]),
        (b"+1 5:1 2:1. 5:1e1\r\n", [(b"+1", {5: 11.0, 2: 1.0})]),
        (b"\n  \n# all of it\n0\n", [(b"0", {})]),
        (b"3,7 qid:4 1:1 # x:y\n", [(b"3,7", {1: 1.0})]),
        (b"spam\t18446744073709551615:+1  007:-0.0#c\n", [(b"spam", {2**64 - 1: 1.0, 7: 0.0})]),
        (b"1 1:1e-400\n", [(b"1", {1: 0.0})]),
    ],
)
def test_rows(text: bytes, expected: list[tuple[bytes, dict[int, float]]]) -> None:
    batch = parse(text)
    assert batch.bad == []
    assert rows(batch) == expected


def test_label_values() -> None:
    batch = parse(b"1\n-0.5\nx\n1,2\n1e400\n")
    np.testing.assert_array_equal(batch.label_values, [1, -0.5, np.nan, np.nan, np.nan])


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b"1 a:x", 2),
        (b"1 12a:3", 2),
        (b"1 7:x", 4),
        (b"1 7:1.5x", 7),
        (b"1 7:", 4),
        (b"1 7", 2),
        (b"1 7:nan", 4),
        (b"1 7:-inf", 5),
        (b"1 7:1e400", 4),
        (b"1 7:1e39", 4),
        (b"1 7:1e", 6),
        (b"1 7:0x1", 5),
        (b"1 7:1_000", 5),
        (b"1 +7:1", 2),
        (b"1 18446744073709551616:1", 2),
        (b"1 1:1 7:\x001", 8),
        (b"1:1 2:1", 0),
        (b"a#b 1:1", 1),
        (b"x\x00 1:1", 1),
        (b"1 qid:x 1:1", 2),
        (b"1 1:3e38 1:3e38", 2),
    ],
)
def test_faults(line: bytes, column: int) -> None:
    batch = parse(b"1 1:1\n" + line + b"\r\n-1 2:2\n", skip_bad=True)
    assert rows(batch) == [(b"1", {1: 1.0}), (b"-1", {2: 2.0})]
    ((record, length, at, expected, _),) = batch.bad
    assert (record, length, at) == (6, len(line), 6 + column)
    assert expected

    stopped = parse(b"1 1:1\n" + line + b"\n-1 2:2\n")
    assert rows(stopped) == [(b"1", {1: 1.0})]
    assert len(stopped.bad) == 1
