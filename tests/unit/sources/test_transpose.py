"""Rows into columns: the same columns in the same order, in memory and on disk."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import Batch, LibsvmParser, PairsParser, SeqParser, key_of_name
from fsstream.sources.transpose import Columns

Column = tuple[bytes, list[int], list[float]]


def rows_as_batches(rows: list[dict[bytes, float]], cut: int):
    for begin in range(0, len(rows), cut):
        piece = rows[begin : begin + cut]
        names = [name for row in piece for name in row]
        yield Batch.from_arrays(
            np.cumsum([0, *map(len, piece)]).astype(np.uint64),
            np.array([key_of_name(name) for name in names], np.uint64),
            np.array([value for row in piece for value in row.values()], np.float32),
            np.zeros(len(piece), np.float32),
            names=names,
        )


def columns_of(batches) -> list[Column]:
    out = []
    for batch in batches:
        bounds = pairwise(batch.row_starts.tolist())
        for name, (begin, end) in zip(batch.labels(), bounds, strict=True):
            out.append((name, batch.keys[begin:end].tolist(), batch.values[begin:end].tolist()))
    return out


def expected(rows: list[dict[bytes, float]]) -> list[Column]:
    """A dict of columns, sorted by key: what the transposition means."""
    columns: dict[bytes, Column] = {}
    for sample, row in enumerate(rows, 1):
        for name, value in row.items():
            _, samples, values = columns.setdefault(name, (name, [], []))
            samples.append(sample)
            values.append(float(np.float32(value)))
    return sorted(columns.values(), key=lambda column: key_of_name(column[0]))


def transposed(batches, memory: int, directory) -> tuple[list[Column], int]:
    columns = Columns(memory, directory)
    try:
        for batch in batches:
            columns.write(batch)
        columns.finish()
        first = columns_of(columns.batches())
        assert columns_of(columns.batches()) == first
        return first, columns.spilled
    finally:
        columns.close()


def made_rows(count: int, seed: int) -> list[dict[bytes, float]]:
    draw = random.Random(seed)
    return [
        {
            b"%d" % draw.randrange(60) if draw.random() < 0.5 else b"w%d" % draw.randrange(90): draw.random()
            for _ in range(draw.randrange(12))
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("memory", [1, 5_000, 20_000, 1 << 30])
@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_columns_do_not_depend_on_memory_or_blocks(tmp_path, memory, cut):
    rows = made_rows(400, 1)
    got, spilled = transposed(rows_as_batches(rows, cut), memory, tmp_path)
    assert got == expected(rows)
    assert (spilled > 0) == (memory < 1 << 30)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from([b"a", b"b", b"7", b"07", b"", b"18446744073709551615", b"\xff"]),
            st.floats(width=32, allow_nan=False, allow_infinity=False),
        ),
        max_size=20,
    ),
    st.integers(1, 6),
    st.sampled_from([1, 3000, 1 << 20]),
)
def test_any_rows(tmp_path_factory, rows, cut, memory):
    directory = tmp_path_factory.mktemp("spool")
    got, _ = transposed(rows_as_batches(rows, cut), memory, directory)
    assert got == expected(rows)


def parse(parser, text: bytes) -> Batch:
    batch = Batch()
    parser.parse(text, batch)
    return batch


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_numbers_are_named_and_ordered_as_numbers(tmp_path, memory):
    batches = [
        parse(LibsvmParser(), text)
        for text in (b"1 10:1 9:2\n\n0 3:1\n", b"1\n", b"0 9:0.5 18446744073709551615:1\n")
    ]
    got, _ = transposed(batches, memory, tmp_path)
    assert got == [
        (b"3", [2], [1.0]),
        (b"9", [1, 4], [2.0, 0.5]),
        (b"10", [1], [1.0]),
        (b"18446744073709551615", [4], [1.0]),
    ]


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_kmers_are_ordered_by_their_code(tmp_path, memory):
    got, _ = transposed(
        [parse(SeqParser(3, False), b"1\tTTTACG\n"), parse(SeqParser(3, False), b"0\tACGT\n")],
        memory,
        tmp_path,
    )
    assert [name for name, _, _ in got] == sorted([b"TTT", b"TTA", b"TAC", b"ACG", b"CGT"])
    assert {name: samples for name, samples, _ in got}[b"ACG"] == [1, 2]


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_names_that_share_a_key_share_a_column_and_are_counted(tmp_path, memory):
    columns = Columns(memory, tmp_path)
    for name in (b"first", b"second", b"first"):
        columns.write(
            Batch.from_arrays(
                np.array([0, 1], np.uint64),
                np.array([5], np.uint64),
                np.ones(1, np.float32),
                np.zeros(1, np.float32),
                names=[name],
            )
        )
    columns.finish()
    if memory > 1:
        assert columns_of(columns.batches()) == [(b"first", [1, 2, 3], [1.0, 1.0, 1.0])]
        assert columns.collisions == 1
    columns.close()


def test_a_column_longer_than_a_batch(tmp_path):
    rows = [{b"bias": 1.0, b"x%d" % (n % 3): n} for n in range(70_000)]
    got, _ = transposed(rows_as_batches(rows, 9_999), 500_000, tmp_path)
    assert got == expected(rows)


def test_no_rows(tmp_path):
    assert transposed([], 100, tmp_path) == ([], 0)


def test_samples_without_entries_are_counted(tmp_path):
    columns = Columns(1, tmp_path)
    for text in (b"\n1\n2 5:1\n", b"3\n4 5:1\n"):
        columns.write(parse(PairsParser(), text))
    columns.finish()
    assert columns_of(columns.batches()) == [(b"5", [2, 4], [1.0, 1.0])]
    columns.close()


def test_a_row_longer_than_a_run(tmp_path):
    rows = [{b"%d" % (key * 3 + row): float(row + 1) for key in range(9000)} for row in range(3)]
    got, spilled = transposed(rows_as_batches(rows, 2), 100_000, tmp_path)
    assert got == expected(rows)
    assert spilled > 0
