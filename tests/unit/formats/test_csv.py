"""csv and tsv: records and cells against Python's csv module, columns and their kinds, what is refused."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream import select
from fsstream._native import Batch, CsvParser
from fsstream.errors import DataError, UsageError
from fsstream.formats import format_named, settle, take_of
from fsstream.formats.options import FormatOptions
from fsstream.sources import Block
from tests.cli.command import fsstream
from tests.unit.formats.parsed import Row, parts
from tests.unit.formats.parsed import rows_of_names as rows

if TYPE_CHECKING:
    from pathlib import Path

Columns = list[tuple[bytes, str]]


def parse(parser: CsvParser, text: bytes, skip_bad: bool = False, *, starts_source: bool = True) -> Batch:
    batch = Batch()
    parser.parse(text, batch, skip_bad, "train.csv", starts_source)
    return batch


CATEGORIES: Columns = [(b"y", "label"), (b"a", "categorical"), (b"b", "categorical")]
MIXED: Columns = [(b"n", "numeric"), (b"y", "label"), (b"a", "categorical")]


def twin(cells: list[str], columns: Columns) -> Row:
    """The slow twin of a record, from its cells."""
    label, features = b"", {}
    for (name, kind), cell in zip(columns, (cell.encode() for cell in cells), strict=True):
        if kind == "label":
            label = cell.strip()
        elif kind == "numeric" and cell.strip():
            features[name] = float(np.float32(cell))
        elif kind == "categorical" and cell:
            features[name + b"=" + cell] = 1.0
    return label, features


CELL = st.text(alphabet="ab\",\n\té '=;0", max_size=6) | st.sampled_from(
    ["1.5", "-3", "x y", '"', '""', "\r\n"]
)
NUMBER = st.sampled_from(["", "1", " 2.5 ", "-0.125", "+7", "1e3", ".5", "5.", "123456789.25", "-1e-3"])
RECORDS = st.lists(st.tuples(NUMBER, CELL, CELL), max_size=8)


def written(records: list[tuple[str, ...]], end: str, quoting: int) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=quoting).writerows(records)
    return out.getvalue().encode()


@given(
    records=RECORDS, end=st.sampled_from(["\n", "\r\n"]), quoting=st.sampled_from([0, 1]), cut=st.booleans()
)
def test_csv_equals_pythons_module(records: list[tuple[str, ...]], end: str, quoting: int, cut: bool) -> None:
    text = written(records, end, quoting)
    if cut:
        text = text.removesuffix(end.encode())
    batch = parse(CsvParser("csv", False, MIXED), text)
    assert batch.bad == []
    read = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows(batch) == [twin(cells, MIXED) for cells in read if cells]


@given(text=st.text(alphabet='a",\n', max_size=60))
def test_any_text_of_quotes_and_separators(text: str) -> None:
    """What Python reads strictly and without stray quotes we read alike; the rest is refused."""
    batch = parse(CsvParser("csv", False, CATEGORIES), text.encode(), skip_bad=True)
    assert all(b"\n" not in label for label in batch.labels() if b'"' not in text.encode())
    try:
        read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        assert batch.bad
        return
    if batch.bad:
        return
    assert rows(batch) == [twin(cells, CATEGORIES) for cells in read if cells]


TSV_CELL = st.text(alphabet='a"b, =é', max_size=5)


@given(records=st.lists(st.tuples(NUMBER, TSV_CELL, TSV_CELL), max_size=8))
def test_tsv_knows_no_quotes(records: list[tuple[str, ...]]) -> None:
    text = "".join("\t".join(cells) + "\n" for cells in records).encode()
    batch = parse(CsvParser("tsv", False, MIXED), text)
    assert batch.bad == []
    assert rows(batch) == [twin(list(cells), MIXED) for cells in records]


@given(
    before=st.sampled_from([b"", b"\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"]),
    text=st.text(alphabet='a1",\n\r\t', max_size=80),
    size=st.integers(1, 40),
    form=st.sampled_from(["csv", "tsv"]),
)
def test_whole_is_split(before: bytes, text: str, size: int, form: str) -> None:
    parser = CsvParser(form, True, CATEGORIES)
    header = {"csv": b"y,a,b\n", "tsv": b"y\ta\tb\n"}[form]
    data = before + header + text.encode()
    whole = parse(parser, data, skip_bad=True)
    split_rows: list[Row] = []
    split_bad: list[tuple[int, int, int, str, str | None]] = []
    start = 0
    for block in parts(form, data, size):
        batch = parse(parser, block, skip_bad=True, starts_source=start == 0)
        split_rows += rows(batch)
        split_bad += [(start + record, length, start + at, *what) for record, length, at, *what in batch.bad]
        start += len(block)
    assert split_rows == rows(whole)
    assert split_bad == whole.bad


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        (b"1,2", 3, "a cell for every column"),
        (b"1,2,3,4", 5, "the end of the record"),
        (b"x,2,3", 0, "a number in column 'n'"),
        (b'"x",2,3', 0, "a number in column 'n'"),
        (b"nan,2,3", 0, "a number in column 'n'"),
        (b"1e40,2,3", 0, "a number in column 'n'"),
        (b"1 2,2,3", 0, "a number in column 'n'"),
        (b'1,2,"3"4', 7, "a separator behind the closing quote"),
        (b'1,2,3"4', 5, "a cell without quotes"),
        (b'1,2,"34', 4, "a closing quote"),
        (b"1,2,3\0", 5, "text"),
        (b"1,2," + b"x" * 65_536, 4, "a name of at most 64 KiB"),
    ],
)
def test_bad_records(text: bytes, column: int, expected: str) -> None:
    good = b"1,2,3\n"
    batch = parse(CsvParser("csv", False, MIXED), good + text + b"\n" + good)
    assert batch.rows == 1
    ((record, _, at, what, _),) = batch.bad
    assert (record, at, what) == (len(good), len(good) + column, expected)
    if expected != "a closing quote":
        assert batch.bad[0][1] == len(text)
        assert parse(CsvParser("csv", False, MIXED), good + text + b"\n" + good, skip_bad=True).rows == 2


def test_a_number_that_is_none_names_its_column() -> None:
    ((*_, hint),) = parse(CsvParser("csv", False, MIXED), b"x,1,2\n").bad
    assert hint == "--categorical n takes its cells as they are, --missing TEXT reads such a cell as empty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"\xef\xbb\xbfn,y,a\n1,2,3\n", [(b"2", {b"n": 1.0, b"a=3": 1.0})]),
        (b'\n"n","y","a"\r\n\r\n1,"",3\r\n', [(b"", {b"n": 1.0, b"a=3": 1.0})]),
        (b"n,y,a\n", []),
        (b"n,y,a\n0, 2 ,", [(b"2", {b"n": 0.0})]),
    ],
)
def test_header(text: bytes, expected: list[Row]) -> None:
    batch = parse(CsvParser("csv", True, MIXED), text)
    assert batch.bad == []
    assert rows(batch) == expected


@pytest.mark.parametrize("header", [b"n,y", b"n,a,y", b"n,y,a,b", b'n,y,"a'])
def test_every_input_has_the_header_of_the_first(header: bytes) -> None:
    with pytest.raises(DataError, match=r"train.csv:1: expected the header of the first input"):
        parse(CsvParser("csv", True, MIXED), header + b"\n1,2,3\n", skip_bad=True)


def test_two_cells_that_spell_one_name_add_up() -> None:
    columns: Columns = [(b"y", "label"), (b"a", "categorical"), (b"a=b", "numeric"), (b"a=b", "categorical")]
    assert rows(parse(CsvParser("csv", False, columns), b"1,b,2.5,\n1,b=c,,c\n")) == [
        (b"1", {b"a=b": 3.5}),
        (b"1", {b"a=b=c": 2.0}),
    ]


def test_labels() -> None:
    batch = parse(CsvParser("csv", False, CATEGORIES), b'spam,,\n" a ""b"" ",,\n-1.50,,\n,,\n')
    assert batch.labels() == [b"spam", b'a "b"', b"-1.50", b""]
    np.testing.assert_array_equal(batch.label_values, [math.nan, math.nan, -1.5, math.nan])


def block(text: bytes) -> Block:
    return Block("train.csv", memoryview(text), 1, 0)


def kinds(text: bytes, form: str = "csv", **given_options: object) -> dict[bytes, str]:
    options = FormatOptions(**given_options)  # type: ignore[arg-type]
    return dict(settle(form, options, [block(text)]).columns)


TABLE = b"id,size,zip,label\na,1.5,01234,x\nb,,1e5,y\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["categorical", "numeric", "categorical", "label"]),
        ({"label_column": "size"}, ["categorical", "label", "categorical", "categorical"]),
        ({"label_column": "1"}, ["label", "numeric", "categorical", "categorical"]),
        ({"categorical": ("size",)}, ["categorical", "categorical", "categorical", "label"]),
        ({"numeric": ("3", "id")}, ["numeric", "numeric", "numeric", "label"]),
    ],
)
def test_kinds_of_columns(options: dict[str, object], expected: list[str]) -> None:
    assert list(kinds(TABLE, **options).values()) == expected


def test_settled_options_read_the_same_way_whatever_the_next_file_holds() -> None:
    settled = settle("csv", FormatOptions(), [block(TABLE)])
    assert (settled.label_column, settled.numeric, settled.categorical) == ("label", ("size",), ("id", "zip"))
    again = settle("csv", settled, [block(b"id,size,zip,label\n1,x,1,1\n")])
    assert again == settled


def test_prediction_needs_no_label_and_not_every_column() -> None:
    settled = settle("csv", FormatOptions(), [block(TABLE)])
    without = FormatOptions(label_column="label", numeric=settled.numeric, needs_labels=False)
    options = settle("csv", without, [block(b"id,size\n1,2\n")])
    assert options.columns == ((b"id", "numeric"), (b"size", "numeric"))
    batch = parse(format_named("csv").parser(options), b"id,size\n1,2\n")
    assert rows(batch) == [(b"", {b"id": 1.0, b"size": 2.0})]


def test_without_header_and_without_names() -> None:
    assert kinds(b"1,x\n", no_header=True) == {b"c1": "label", b"c2": "categorical"}
    assert kinds(b",a\n1,x\n", label_column="a") == {b"c1": "numeric", b"a": "label"}
    assert kinds(b'y\tq\n0\t"\n', form="tsv") == {b"y": "label", b"q": "categorical"}


PLAIN = ["1", "-2", "+3", "4.5", ".5", "6.", "007", " 8 ", "", "12345678901234567890"]
NOT_PLAIN = ["1e5", "1E5", "nan", "inf", "x", "1,5", "0x10", "1_000", "--1", "1" + "0" * 40, "1.2.3"]


@given(cells=st.lists(st.sampled_from(PLAIN), max_size=5), last=st.sampled_from(PLAIN + NOT_PLAIN))
def test_a_column_is_numeric_when_all_cells_are_plain_decimals(cells: list[str], last: str) -> None:
    text = written([("y", "x"), *(("0", cell) for cell in [*cells, last])], "\n", csv.QUOTE_ALL)
    assert kinds(text)[b"x"] == ("numeric" if last in PLAIN else "categorical")


def test_inference_ends_after_10_000_records() -> None:
    assert kinds(b"y,x\n" + b"0,1\n" * 9_999 + b"0,a\n")[b"x"] == "categorical"
    assert kinds(b"y,x\n" + b"0,1\n" * 10_000 + b"0,a\n")[b"x"] == "numeric"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_column": "z"}, "--label-column z: there is no such column"),
        ({"numeric": ("5",)}, "--numeric 5: there is no such column"),
        ({"numeric": ("size,nope",)}, "--numeric nope: there is no such column"),
        ({"label_column": "id,size"}, "--label-column id,size: there is no such column"),
        ({"numeric": ("id",), "categorical": ("id",)}, "column 'id' is given two kinds"),
        ({"numeric": ("label",)}, "column 'label' is given two kinds"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        kinds(TABLE, **options)


def test_several_columns_may_stand_in_one_option() -> None:
    text = b'label,a,b,"a,b"\nx,1,1,1\n'
    several = kinds(text, categorical=("a,3",))
    assert [several[name] for name in (b"a", b"b", b"a,b")] == ["categorical", "categorical", "numeric"]
    assert kinds(text, categorical=("a,b",))[b"a,b"] == "categorical"  # a name, first of all
    assert kinds(text, categorical=("a,b",))[b"a"] == "numeric"


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_cells_longer_than_a_name(form: str, tmp_path: Path) -> None:
    """The look for doubtful columns ended with an internal error at a cell of more than 128 KB."""
    part = "," if form == "csv" else "\t"
    rows = [["label", "a"], *(["xy"[i % 2], str(i)] for i in range(40)), ["x" * 140_000, "1"]]
    (tmp_path / "train").write_text("".join(part.join(row) + "\n" for row in rows))
    limit = csv.field_size_limit()
    done = fsstream("select", "--k", "1", "--format", form, str(tmp_path / "train"))
    assert done.returncode == 0, done.stderr
    assert csv.field_size_limit() == limit


def test_headers_that_are_refused() -> None:
    with pytest.raises(DataError, match=r"train.csv:1: two columns are named 'a'"):
        kinds(b"a,b,a\n")
    with pytest.raises(DataError, match=r"train.csv:2:6: expected a separator behind the closing quote"):
        kinds(b'\na,"b"c\n')


def test_a_stream_of_no_records() -> None:
    with pytest.raises(DataError, match="there is no data"):
        settle("csv", FormatOptions(), [])
    with pytest.raises(DataError, match="there is no data"):
        kinds(b"\n\n")


def test_columns_are_inferred_over_the_first_records_of_all_inputs() -> None:
    beginning = [block(b"y,x,z\n0,1,1\n"), block(b"y,x,z\n0,2,b\n")]
    assert [kind for _, kind in settle("csv", FormatOptions(), beginning).columns] == [
        "label", "numeric", "categorical",
    ]  # fmt: skip


@given(text=st.text(alphabet='a1",\n\r', max_size=60), most=st.integers(0, 6))
def test_taking_records(text: str, most: int) -> None:
    take = take_of("csv")
    assert take is not None
    data = text.encode()
    found, end = take(data, most)
    parsed = parse(CsvParser("csv", False, CATEGORIES), data[:end], skip_bad=True)
    assert found == parsed.rows + len(parsed.bad) <= most
    whole = take(data, 10**9)[1]
    assert format_named("csv").head(data, final=False) == (whole if data[:whole].strip(b"\r\n") else 0)


@pytest.mark.parametrize(("odd", "said"), [("3e-05", True), ("NA", True), ("7", False), ("", False)])
def test_numbers_that_are_read_as_words_are_told(odd: str, said: bool, tmp_path: Path) -> None:
    """One cell of another form among thousands makes a column words, by the rule, but not without a word."""
    rows = "".join(f"{'ab'[i % 2]},{i / 7:.3f},{i % 5}x\n" for i in range(60))
    (tmp_path / "x.csv").write_text(f"label,size,kind\n{rows}a,{odd},1x\nb,2,2x\n")
    done = fsstream("select", "--k", "2", "--format", "csv", str(tmp_path / "x.csv"))
    assert done.returncode == 0, done.stderr
    advice = "--missing NA" if odd == "NA" else "--numeric size"
    note = f"nearly all cells of size are numbers, and are read as words because of cells like {odd!r}: "
    assert (f"{note}{advice} reads numbers".encode() in done.stderr) == said
    for flag in ("--numeric", "--categorical"):
        named = fsstream("select", "--k", "2", "--format", "csv", flag, "size", str(tmp_path / "x.csv"))
        assert b"nearly all" not in named.stderr


def test_the_note_names_all_columns_and_every_option_that_is_needed(tmp_path: Path) -> None:
    """It named one column of a hundred, and `--numeric` where the next cell `NA` was a bad record."""
    path = tmp_path / "x.csv"
    rows = "".join(f"{'ab'[i % 2]},{i / 7:.3f},{i % 5},{i % 9}.5,{i % 3},{i},98{i}-1\n" for i in range(60))
    odd = "a,1e-05,NA,,?,NA,3\nb,NA,4,2E5,1,1,4\na,1,1,1,1,1,1\n"
    path.write_text(f'label,small,gaps,"two, one",both,id,zip\n{rows}{odd}')
    told = fsstream("select", "--k", "2", "--format", "csv", str(path)).stderr.decode()
    assert "small, gaps, two, one and 2 more are numbers" in told
    advice = told.split("'1e-05': ")[1].split(" reads numbers")[0]
    assert advice == "--missing NA --missing '?' --numeric small,4"
    done = fsstream("select", "--k", "9", "--format", "csv", *shlex.split(advice), str(path))
    names = {json.loads(line)["feature"] for line in done.stdout.splitlines()}
    assert {"small", "gaps", "two, one", "both", "id"} >= {name for name in names if "zip" not in name}
    assert done.stderr == b"" or b"nearly all" not in done.stderr


def test_of_numbers_with_other_words_among_them_no_option_is_advised_that_fails(tmp_path: Path) -> None:
    rows = "".join(f"{'ab'[i % 2]},98{i}\n" for i in range(60))
    (tmp_path / "x.csv").write_text(f"label,zip\n{rows}a,98146-1067\nb,98001\n")
    told = fsstream("select", "--k", "2", "--format", "csv", str(tmp_path / "x.csv")).stderr
    assert b"--missing TEXT reads such a cell as empty, --categorical COLUMN says that they are words" in told


CELLS = st.sampled_from(("NA", "1", " NA ", '"NA"', "NAN", "-9", "", "2e3", "x", "?"))


@given(data=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12), form=st.sampled_from(("csv", "tsv")))
@settings(max_examples=60, deadline=None)
def test_missing_cells_are_as_empty_ones(data: list[tuple[str, str, str]], form: str) -> None:
    """In columns of numbers and words, quoted or not; at the end of the text and long before it."""
    columns = [(b"y", "label"), (b"n", "numeric"), (b"c", "categorical")]
    separator = "," if form == "csv" else "\t"
    missing = [b"NA", b"?", b"-9"]

    def blank(cell: str) -> str:
        text = cell[1:-1] if form == "csv" and cell.startswith('"') else cell
        return "" if text.strip().encode() in missing else cell

    for behind in ("", f"a{separator}1{separator}b\n" * 40):
        text, blanked = (
            "".join(f"{separator.join(map(read, row))}\n" for row in data) + behind for read in (str, blank)
        )
        if blanked.startswith(("\n", separator * 2 + "\n")):
            continue
        told = parse(CsvParser(form, False, columns, missing), text.encode(), skip_bad=True)
        expected = parse(CsvParser(form, False, columns), blanked.encode(), skip_bad=True)
        assert rows(told) == rows(expected)


def test_what_is_missing_is_remembered_by_the_model(tmp_path: Path) -> None:
    data, model = tmp_path / "x.csv", tmp_path / "m"
    data.write_text("y,n,c\n" + "a,1.5,NA\nb,NA,red\n" * 20)
    assert kinds(data.read_bytes(), missing=("NA",)) == {b"y": "label", b"n": "numeric", b"c": "categorical"}
    done = fsstream(
        "select", "--k", "5", "--format", "csv", "--missing", "NA", "--model", str(model), str(data)
    )
    assert sorted(json.loads(line)["feature"] for line in done.stdout.splitlines()) == ["c=red", "n"]
    judged = fsstream("evaluate", str(model), str(data))
    assert json.loads(judged.stdout)["accuracy"] == 1.0, judged.stderr
    refused = fsstream("select", "--k", "5", "--format", "csv", "--missing", " ", str(data))
    assert (refused.returncode, b"an empty cell has no value anyway" in refused.stderr) == (2, True)


@pytest.mark.parametrize("quotes", [1, 2, 3])
def test_doubled_quotes_stand_anywhere(quotes: int) -> None:
    """Across what is looked at at once, at both ends of a cell, and in the last record."""
    cells = ["x" * before + '"' * quotes + "y" * behind for before in range(70) for behind in (0, 1, 40)]
    doubled = [cell.replace('"', '""').encode() for cell in cells]
    text = b"".join(b'1,"%s",z\n' % cell for cell in doubled)
    expected = [(b"1", {b"a=" + cell.encode(): 1.0, b"b=z": 1.0}) for cell in cells]
    assert rows(parse(CsvParser("csv", False, CATEGORIES), text)) == expected
    for cell in doubled:
        bad = parse(CsvParser("csv", False, CATEGORIES), b'1,"%s",z\n' % cell.replace(b'"', b"", 1) + text)
        assert (bad.rows, len(bad.bad)) == (0, 1), "one quote is not doubled"


def test_missing_cells_are_of_text_alone() -> None:
    cells = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(UsageError, match="missing are of tables"):
        select(cells, [0, 1], k=1, missing=("NA",))
    frame = pytest.importorskip("pyarrow").table({"y": ["a", "b"], "x": [1.0, None]})
    with pytest.raises(UsageError, match="--missing is of text"):
        select(frame, k=1, missing=("NA",))
