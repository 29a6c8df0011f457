"""`--keep` and `--ignore`: shell patterns over whole names."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fsstream._native import Batch, ColumnsParser, FilteredParser, LibsvmParser, TokensParser
from fsstream.formats import make_parser
from fsstream.formats.options import FormatOptions

# Few letters, so that patterns and names meet; é and 日 are two and three bytes of UTF-8.
_LETTERS = st.sampled_from("abé日-!")
_PATTERN = st.lists(st.one_of(_LETTERS, st.sampled_from("**?[]")), max_size=8).map("".join)
_STRAY = st.sampled_from(["\udc80", "\udce9", "\udcff"])  # bytes that are no UTF-8
_NAME = st.lists(st.one_of(_LETTERS, _STRAY), max_size=8).map("".join)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@given(pattern=_PATTERN, name=_NAME.filter(bool))
@example(pattern="[!]a]", name="b")
@example(pattern="[]-a]", name="_")
@example(pattern="a*b*a", name="abbaba")
def test_a_glob_is_a_glob(pattern: str, name: str) -> None:
    encoded = _encode(name)
    decoded = encoded.decode("utf-8", "surrogateescape")  # two escaped bytes may make a letter
    batch = Batch()
    FilteredParser(TokensParser(), [_encode(pattern)], []).parse(b"1 " + encoded, batch)
    assert batch.entries == fnmatchcase(decoded, pattern)


@pytest.mark.parametrize(
    ("keep", "ignore", "expected"),
    [
        ((), ("b*",), [[b"a", b"ab"], []]),
        (("a*", "b"), (), [[b"a", b"ab"], [b"b"]]),
        (("?",), ("a", "x"), [[], [b"b"]]),
        (("",), (), [[], []]),
    ],
)
def test_entries(keep: tuple[str, ...], ignore: tuple[str, ...], expected: list[list[bytes]]) -> None:
    batch = Batch()
    make_parser("tokens", FormatOptions(keep=keep, ignore=ignore)).parse(b"1 a bb ab\n-1 b\n", batch)
    names, starts = batch.names(), batch.row_starts.tolist()
    assert [names[starts[row] : starts[row + 1]] for row in range(2)] == expected
    assert batch.labels() == [b"1", b"-1"]
    assert batch.values.size == batch.keys.size == batch.entries


def test_numbers_are_names() -> None:
    batch = Batch()
    FilteredParser(LibsvmParser(), [b"1?"], [b"*5"]).parse(b"1 1:1 10:2 15:3 100:4\n", batch)
    assert (batch.keys.tolist(), batch.values.tolist()) == ([10], [2])


def test_columns_are_dropped_whole() -> None:
    batch = Batch()
    text = b"x1 1:1 2:2\ny 1:3\nx2 2:4 3:5 4:6\nz\n"
    make_parser("columns", FormatOptions(keep=("x*", "z"))).parse(text, batch)
    assert batch.labels() == [b"x1", b"x2", b"z"]
    assert batch.row_starts.tolist() == [0, 2, 5, 5]
    assert batch.values.tolist() == [1, 2, 4, 5, 6]
    assert batch.records.tolist() == [0, 17, 32]
    make_parser("columns", FormatOptions(ignore=("x1",))).parse(text, batch)
    assert batch.labels() == [b"y", b"x2", b"z"]
    assert batch.row_starts.tolist() == [0, 1, 4, 4]
    FilteredParser(ColumnsParser(), [b"none"], [], rows_are_features=True).parse(text, batch)
    assert (batch.rows, batch.entries, batch.row_starts.tolist()) == (0, 0, [0])
