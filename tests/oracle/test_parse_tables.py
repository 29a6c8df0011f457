"""csv and tsv against their slow twin: in and around the grammar, with text behind records and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracle.parse_twin import TABLES, assert_equal_to_twin

if TYPE_CHECKING:
    from tests.oracle.table_oracle import Columns

LONG_NAME = b"a column of more than sixteen bytes"
COLUMNS: Columns = (
    (b"c", "categorical"),
    (b"y", "label"),
    *((b"n%d" % i, "numeric") for i in range(3)),
    (LONG_NAME, "categorical"),
    (b"c=red", "numeric"),  # spelled by a cell of `c`, too
    (b"7", "numeric"),
    (b"last", "categorical"),
)
ONE: Columns = ((b"y", "label"),)
NUMBERS = st.one_of(
    st.sampled_from(
        b"0 1 -1 17 12345678 123456789 .5 5. -.5 -0 +3 0.25 3.14159 -13.032".split()
        + b"16777217 1234.5678 12345.678 1e3 -2E-3".split()
    ),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**5), max_value=10**5).map(
        lambda x: str(x).encode()
    ),
    st.sampled_from([b"", b"", b" 8 ", b" ", b"-", b".", b"1.2.3", b"3e38", b"4e38", b"1x", b"nan", b"--1"]),
)
WORDS = st.one_of(
    st.sampled_from(
        [b"", b"red", b"68fd1e64", b"x" * 14, b"y" * 15, b"z" * 16, b"w" * 17, b"v" * 70, b"caf\xc3\xa9"]
    ),
    st.sampled_from(
        [b"\xff", b" a ", b"a\rb", b'a"b', b'"', b'""', b"a\0b", b"\r", b"\xef\xbb\xbf", b"a,b", b"a\tb"]
    ),
    st.binary(max_size=40),
)
BEHIND = st.sampled_from([b"", b"\n", b"\n" * 200, b"\r\n" + b"\n" * 100])  # what the records are read before


def quoted(cell: bytes) -> bytes:
    return b'"' + cell.replace(b'"', b'""') + b'"'


@st.composite
def record(draw: st.DrawFn, form: str, columns: Columns) -> bytes:
    """A record that is right, or nearly."""
    cells = []
    for _, kind in columns:
        cell = draw(NUMBERS if kind == "numeric" else WORDS)
        if form == "csv" and (draw(st.integers(0, 3)) == 0 or any(c in cell for c in b',"\n\r')):
            cell = quoted(cell)
        elif form == "tsv":
            cell = cell.replace(b"\t", b"").replace(b"\n", b"")
        cells.append(cell)
    if draw(st.integers(0, 9)) == 0:
        cells = cells[: draw(st.integers(0, len(cells)))] + draw(st.sampled_from([[], [b"more"], [b'"']]))
    line = {"csv": b",", "tsv": b"\t"}[form].join(cells)
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(line)))
        some = draw(
            st.sampled_from([b'"', b'""', b",", b"\t", b"\0", b"\r", b"\n", b" ", b"1", b".", b"-", b"="])
        )
        line = line[:at] + some + line[at + draw(st.integers(0, 2)) :]
    return line + draw(st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r\r\n", b"\n\n", b"\n\xef\xbb\xbf"]))


@given(data=st.data(), form=st.sampled_from(TABLES), columns=st.sampled_from([COLUMNS, COLUMNS[1:5], ONE]))
@settings(max_examples=400, deadline=None)
def test_native_equals_twin(data: st.DataObject, form: str, columns: Columns) -> None:
    records = data.draw(st.lists(record(form, columns), max_size=8))
    assert_equal_to_twin(form, b"".join(records) + data.draw(BEHIND), 1, columns)


@given(text=st.text(alphabet='a1",\n\r', max_size=120), behind=BEHIND)
@settings(max_examples=300, deadline=None)
@example('a",",b,,\n', b"\n" * 200)
@example('",",",","\r\n",\n', b"\n" * 200)
@example('1,"a\r",2\n1,2,"a"\r\n1,2,"a"\rx\n', b"\n" * 200)
def test_quotes_wherever(text: str, behind: bytes) -> None:
    columns = ((b"y", "label"), (b"a", "categorical"), (b"b", "categorical"))
    assert_equal_to_twin("csv", text.encode() + behind, 1, columns)


@given(
    cells=st.lists(st.tuples(NUMBERS, WORDS.map(lambda word: word.hex().encode())), min_size=1, max_size=200)
)
@settings(max_examples=50, deadline=None)
def test_records_of_many_views(cells: list[tuple[bytes, bytes]]) -> None:
    """Cells, quotes and the record's end lie in whatever 64 bytes."""
    columns = (
        (b"y", "label"),
        *((b"%d" % i, ("numeric", "categorical")[i % 2]) for i in range(2 * len(cells))),
    )
    row = b"1," + b",".join(
        number + b"," + (word, quoted(word))[len(word) % 3 == 0] for number, word in cells
    )
    text = (row + b"\n" + row.replace(b"1", b'"1"', 1) + b"\r\n") * 2 + b"\n" * 200
    assert_equal_to_twin("csv", text, 1, columns)
    assert_equal_to_twin("tsv", text.replace(b",", b"\t"), 1, columns)


def test_more_words_than_wait_for_their_keys_at_once() -> None:
    columns = ((b"y", "label"), *((b"column %d" % i, "categorical") for i in range(1000)))
    row = b"1" + b"".join(b"\t%x" % (i * i) for i in range(1000))
    assert_equal_to_twin("tsv", (row + b"\n") * 3 + b"\n" * 200, 1, columns)


def test_long_names() -> None:
    """One byte more than a name may have, in a cell behind which there is text."""
    columns = ((b"y", "label"), (b"a", "categorical"))
    text = b"".join(b"1,%s\n" % (b"x" * size) for size in (65_533, 65_534, 65_535, 100_000, 3))
    assert_equal_to_twin("csv", text + b"\n" * 200, 1, columns)
