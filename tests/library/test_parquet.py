"""Parquet and data frames: each type of column, files of every kind, and the same selection as from csv."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import os
import resource
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import fsstream
from fsstream.errors import DataError, UsageError
from tests.cli.command import fsstream as command
from tests.contract.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

Row = tuple[str, dict[str, float]]


def written(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **options)
    return sink.getvalue()


def rows_of(source: Any, **options: Any) -> list[Row]:
    found: list[Row] = []
    for rows in fsstream.read(source, **options):
        starts, names, values = rows.starts.astype(int), rows.names, rows.values.round(6).tolist()
        found += [
            (label, dict(zip(names[a:b], values[a:b], strict=True)))
            for label, a, b in zip(rows.labels, starts[:-1], starts[1:], strict=True)
        ]
    return found


def features(**columns: Any) -> list[dict[str, float]]:
    """The entries of each row of a table of these columns."""
    count = len(next(iter(columns.values())))
    table = pa.table({"label": ["a"] * count, **columns})
    in_pieces = rows_of(written(table, row_group_size=2))
    assert in_pieces == rows_of(written(table)) == rows_of(table)
    return [entries for _, entries in in_pieces]


WORDS = pa.array(["r", None, "r", ""])
COLUMNS = [
    ("integers", pa.array([1, None, -3, 0]), [{"x": 1}, {}, {"x": -3}, {"x": 0}]),
    ("unsigned", pa.array([2**63, 1], pa.uint64()), [{"x": 2.0**63}, {"x": 1}]),
    ("floats", pa.array([0.5, None, 2e10]), [{"x": 0.5}, {}, {"x": 2e10}]),
    ("half floats", pa.array(np.array([0.5, 1], np.float16)), [{"x": 0.5}, {"x": 1}]),
    ("decimals", pa.array([decimal.Decimal("1.5"), None]), [{"x": 1.5}, {}]),
    ("words", WORDS, [{"x=r": 1}, {}, {"x=r": 1}, {"x=": 1}]),
    ("large words", WORDS.cast(pa.large_string()), [{"x=r": 1}, {}, {"x=r": 1}, {"x=": 1}]),
    ("a dictionary", WORDS.dictionary_encode(), [{"x=r": 1}, {}, {"x=r": 1}, {"x=": 1}]),
    ("bytes", pa.array([b"\xff", None]), [{"x=\udcff": 1}, {}]),
    ("booleans", pa.array([True, None, False]), [{"x=true": 1}, {}, {"x=false": 1}]),
    ("dates", pa.array([dt.date(2024, 2, 29), None]), [{"x=2024-02-29": 1}, {}]),
    ("lists of words", pa.array([["a", "b", "a"], [], None, ["b", None]]),
     [{"x=a": 2, "x=b": 1}, {}, {}, {"x=b": 1}]),
    ("lists of ids", pa.array([[7, 8, 7], None]), [{"x=7": 2, "x=8": 1}, {}]),
    ("lists of floats", pa.array([[0.5, None, 2.0], None, [1.0]]), [{"x.0": 0.5, "x.2": 2}, {}, {"x.0": 1}]),
    ("vectors", pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)),
     [{"x.0": 1, "x.1": 2}, {}, {"x.0": 3, "x.1": 4}]),
    ("maps", pa.array([[("k", 1.0), ("j", 2.0)], None, [("k", None)]], pa.map_(pa.string(), pa.float64())),
     [{"x.k": 1, "x.j": 2}, {}, {}]),
    ("structs", pa.array([{"u": 1, "v": {"w": "y"}}, None, {"u": None, "v": None}]),
     [{"x.u": 1, "x.v.w=y": 1}, {}, {}]),
    ("nothing", pa.nulls(2), [{}, {}]),
]  # fmt: skip


@pytest.mark.parametrize(("column", "expected"), [c[1:] for c in COLUMNS], ids=[c[0] for c in COLUMNS])
def test_every_type_of_column(column: Any, expected: list[dict[str, float]]) -> None:
    assert features(x=column) == expected
    assert features(z=pa.array(range(len(column))), x=column) == [
        {"z": place, **entries} for place, entries in enumerate(expected)
    ]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, -1]), ["1", "", "-1"]),
        (pa.array([1.0, 0.1]), ["1", "0.1"]),
        (pa.array(["b ", None, "a"]), ["b", "", "a"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
    ],
)
def test_labels_of_every_type(column: Any, expected: list[str]) -> None:
    table = pa.table({"f": [1] * len(column), "y": column})
    assert [label for label, _ in rows_of(written(table), label_column="y")] == expected


def csv_table() -> tuple[bytes, pa.Table]:
    """The sample of csv, and the same as a table of numbers and words."""
    text = SAMPLES["csv"].text
    frame = pd.read_csv(io.BytesIO(text))
    frame["word"] = ["x" if label > 0 else "z" for label in frame["y"]][::-1]
    return frame.to_csv(index=False).encode(), pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("algo", ["mission", "fgm", "os", "b-arda"])
def test_the_same_table_gives_the_same_selection_as_csv(algo: str, tmp_path: Path) -> None:
    text, table = csv_table()
    path = tmp_path / "rows.parquet"
    path.write_bytes(written(table, row_group_size=70))
    options: dict[str, Any] = {"algo": algo, "k": 5, "label_column": "y"}
    expected = fsstream.select(text, format="csv", **options).to_jsonl()
    assert fsstream.select(path, **options).to_jsonl() == expected
    assert fsstream.select(path.read_bytes(), **options).to_jsonl() == expected
    assert fsstream.select(table, **options).to_jsonl() == expected
    assert fsstream.select(table.to_pandas(), **options).to_jsonl() == expected
    assert fsstream.select(table.to_reader(max_chunksize=33), **options).to_jsonl() == expected
    labels = table.column("y").to_pylist()
    assert fsstream.select(table.drop_columns("y").to_pandas(), labels, algo=algo, k=5).to_jsonl() == expected


def test_the_command_reads_files_pipes_and_packed_files(tmp_path: Path) -> None:
    text, table = csv_table()
    data = written(table)
    path, packed, model = tmp_path / "a.parquet", tmp_path / "a.parquet.gz", tmp_path / "m.fss"
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    select = ["select", "--k", "5", "--label-column", "y"]
    expected = command(*select, "--format", "csv", "-", stdin=text).stdout
    assert expected.count(b"\n") == 5
    for arguments, given in (
        (["--model", str(model), str(path)], b""), ([str(packed)], b""), (["--format", "parquet", "-"], data),
    ):  # fmt: skip
        done = command(*select, *arguments, stdin=given)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    predicted = command("predict", str(model), "-", stdin=data).stdout
    assert predicted == command("predict", str(model), "-", "--format", "csv", stdin=text).stdout
    assert predicted.count(b"\n") == table.num_rows
    reduced = command("transform", str(model), "--to", "jsonl", str(path))
    assert reduced.stdout.count(b"\n") == table.num_rows, reduced.stderr


def test_columns_can_be_said_to_be_words_or_numbers() -> None:
    table = pa.table({"label": [1, 2], "zip": [10115, 10117], "text": ["1.5", None]})
    assert rows_of(table, numeric=["text"], categorical=["zip"]) == [
        ("1", {"zip=10115": 1.0, "text": 1.5}),
        ("2", {"zip=10117": 1.0}),
    ]


def test_an_index_of_pandas_is_no_feature() -> None:
    frame = pd.DataFrame({"label": [1, 2], "x": [3.0, 4.0]}, index=["a", "b"])
    sink = io.BytesIO()
    frame.to_parquet(sink)
    assert rows_of(sink.getvalue()) == rows_of(frame) == [("1", {"x": 3.0}), ("2", {"x": 4.0})]


def test_bad_values_are_bad_rows(tmp_path: Path) -> None:
    table = pa.table({"label": [1, 2, 1, 2], "x": [1.0, float("nan"), float("inf"), 2.0], "w": [1, 1, 1, 2]})
    path = tmp_path / "bad.parquet"
    path.write_bytes(written(table))
    with pytest.raises(DataError, match=r"bad.parquet:2: expected a finite 32-bit number for 'x'"):
        fsstream.select(path, k=1)
    kept = fsstream.select(path, k=1, on_bad_line="skip")
    assert kept.summary["input"]["rows"] == 2
    assert kept.summary["input"]["bad_records"] == 2
    with pytest.raises(DataError, match="expected a label"):
        fsstream.select(pa.table({"label": ["a", None, "b"], "x": [1, 2, 3]}), k=1)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_is_refused(kept: float, tmp_path: Path) -> None:
    data = written(csv_table()[1])
    path = tmp_path / "cut.parquet"
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(DataError, match=r"cut.parquet: not a whole Parquet file"):
        fsstream.select(path, k=1)


def test_files_of_a_stream_have_the_same_columns(tmp_path: Path) -> None:
    one, two = tmp_path / "1.parquet", tmp_path / "2.parquet"
    one.write_bytes(written(pa.table({"label": [1, 2], "x": [1, 2]})))
    two.write_bytes(written(pa.table({"label": [1, 2], "x": ["a", "b"]})))
    with pytest.raises(DataError, match=r"2.parquet: expected numbers in column 'x'"):
        fsstream.select([one, two], k=1)
    two.write_bytes(written(pa.table({"label": [1, 2], "z": [1, 2]})))
    with pytest.raises(DataError, match=r"2.parquet: expected a column 'x' of the kind numeric"):
        fsstream.select([one, two], k=1)
    assert fsstream.select([one, one], k=1).names == ["x"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_column": "why"}, "there is no such column"),
        ({"categorical": ["label"]}, "the column is the label"),
        ({"kmer": 3, "canonical": True}, "no use with --format parquet"),
        ({"ngrams": 2}, "no use with --format parquet"),
    ],
)
def test_options_that_do_not_fit(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "two.parquet"
    path.write_bytes(written(pa.table({"label": [1, 2], "x": [1, 2]})))
    with pytest.raises(UsageError, match=message):
        fsstream.select(path, k=1, **options)


def test_what_columns_hold_counts_as_memory(tmp_path: Path) -> None:
    """Dictionaries and pages are as large as the writer made them, so they are looked at while reading."""
    wide = pa.table(
        {"label": np.arange(20_000) % 2, **{f"c{i}": np.arange(20_000.0) + i for i in range(120)}}
    )
    path = tmp_path / "wide.parquet"
    path.write_bytes(written(wide, dictionary_pagesize_limit=1 << 22))
    done = command("select", "--k", "2", "--memory", "20MB", str(path))
    assert (done.returncode, done.stdout) == (4, b"")
    assert b"121 columns takes" in done.stderr
    assert b"hint: raise --memory" in done.stderr
    assert command("select", "--k", "2", "--memory", "200MB", str(path)).returncode == 0


def test_a_column_that_makes_no_features_is_named() -> None:
    with pytest.raises(UsageError, match="column 'x' is list<"):
        rows_of(pa.table({"label": [1], "x": [[[1]]]}))


def test_more_files_than_may_be_open(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.parquet" for number in range(200)]
    for path in paths:
        path.write_bytes(written(pa.table({"label": [1, 0], "a": [2.5, 1.0]})))
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 100, most))
    try:
        chosen = fsstream.select(paths, k=1, passes=2)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
    assert (chosen.names, chosen.summary["input"]["rows"]) == (["a"], 400)
