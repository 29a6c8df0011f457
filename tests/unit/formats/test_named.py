"""pairs, tokens, vw and columns: what a line means, and what is refused where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fsstream._native import Batch, ColumnsParser, PairsParser, Parser, TokensParser, VwParser, key_of_name
from fsstream.errors import UsageError
from fsstream.formats import tokens
from fsstream.formats.options import FormatOptions

if TYPE_CHECKING:
    from collections.abc import Callable

Row = tuple[bytes, list[tuple[bytes, float]]]


def parse(parser: Parser, text: bytes, skip_bad: bool = False) -> Batch:
    batch = Batch()
    parser.parse(text, batch, skip_bad)
    return batch


def rows(batch: Batch) -> list[Row]:
    names, values, starts = batch.names(), batch.values.tolist(), batch.row_starts.tolist()
    assert [key_of_name(name) for name in names] == batch.keys.tolist()
    entries = list(zip(names, values, strict=True))
    return [(label, entries[starts[i] : starts[i + 1]]) for i, label in enumerate(batch.labels())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1 a:1 b:2\n", [(b"1", [(b"a", 1), (b"b", 2)])]),
        (b"x\ta:b:1  c:.5 a:b:2\r\n", [(b"x", [(b"a:b", 3), (b"c", 0.5)])]),
        (b"\n#1 7:1 07:1 \xff\xfe:1", [(b"#1", [(b"7", 1), (b"07", 1), (b"\xff\xfe", 1)])]),
        (b"a:b\n", [(b"a:b", [])]),
    ],
)
def test_pairs(text: bytes, expected: list[Row]) -> None:
    assert rows(parse(PairsParser(), text)) == expected


@pytest.mark.parametrize(
    ("text", "ngrams", "expected"),
    [
        (b"ham b a b\n", 1, [(b"ham", [(b"b", 2), (b"a", 1)])]),
        (b"ham\n\nspam\tx", 3, [(b"ham", []), (b"spam", [(b"x", 1)])]),
        (b"1 a  b a\tb\n", 2, [(b"1", [(b"a", 2), (b"a b", 2), (b"b", 2), (b"b a", 1)])]),
        (b"1 a b c", 3, [(b"1", [(n, 1) for n in (b"a", b"a b", b"a b c", b"b", b"b c", b"c")])]),
    ],
)
def test_tokens(text: bytes, ngrams: int, expected: list[Row]) -> None:
    assert rows(parse(TokensParser(ngrams), text)) == expected


@pytest.mark.parametrize("ngrams", [0, 17])
def test_ngrams_out_of_range(ngrams: int) -> None:
    with pytest.raises(ValueError, match="n-grams"):
        TokensParser(ngrams)


@pytest.mark.parametrize(
    ("text", "row", "weight", "tag"),
    [
        (b"1 |a b:2 c", (b"1", [(b"a^b", 2), (b"a^c", 1)]), 1, b""),
        (b"-1 0.5 'id7|a:2 x:3 | y", (b"-1", [(b"a^x", 6), (b"y", 1)]), 0.5, b"id7"),
        (b"1 id7|f x", (b"1", [(b"f^x", 1)]), 1, b"id7"),
        (b"1 2 0 'id |f x |f x:2", (b"1", [(b"f^x", 3)]), 2, b"id"),
        (b"| 12 a", (b"", [(b"12", 1), (b"a", 1)]), 1, b""),
        (b"'t |", (b"", []), 1, b"t"),
        (b"spam |\t7:-1\r", (b"spam", [(b"7", -1)]), 1, b""),
    ],
)
def test_vw(text: bytes, row: Row, weight: float, tag: bytes) -> None:
    batch = parse(VwParser(), text)
    assert batch.bad == []
    assert rows(batch) == [row]
    assert (batch.importance.tolist(), batch.tags()) == ([weight], [tag])


def bigrams() -> TokensParser:
    return TokensParser(2)


def test_columns() -> None:
    batch = parse(ColumnsParser(), b"chr1:77 1:0.5 3:1\n\n#x 2:1 2:1\nnone\n")
    assert batch.labels() == [b"chr1:77", b"#x", b"none"]
    assert batch.row_starts.tolist() == [0, 2, 3, 3]
    assert batch.keys.tolist() == [1, 3, 2]
    assert batch.values.tolist() == [0.5, 1, 2]


@pytest.mark.parametrize(
    ("make", "line", "column"),
    [
        (PairsParser, b"1 a", 2),
        (PairsParser, b"1 :1", 2),
        (PairsParser, b"1 a:", 4),
        (PairsParser, b"1 a:1:x", 6),
        (PairsParser, b"1 a:1x", 5),
        (PairsParser, b"1 a:nan", 4),
        (PairsParser, b"a:1 b:1", 0),
        (PairsParser, b"1 a\x00:1", 3),
        (PairsParser, b"1 " + b"n" * 65537 + b":1", 2),
        (PairsParser, b"1 a:3e38 b:1 a:3e38", 2),
        (TokensParser, b"1 a \x00", 4),
        (TokensParser, b"1 a " + b"n" * 65537, 4),
        (bigrams, b"1 " + b"n" * 40000 + b" " + b"m" * 40000, 2),
        (VwParser, b"1 a", 3),
        (VwParser, b"1:2 |a b", 1),
        (VwParser, b"1 x |a b", 2),
        (VwParser, b"1 -1 |a b", 2),
        (VwParser, b"1 nan |a b", 2),
        (VwParser, b"1 1 0.5 |a b", 4),
        (VwParser, b"1 1 0 0 'a |a b", 6),
        (VwParser, b"1 |a b|c d", 6),
        (VwParser, b"1 ||a", 3),
        (VwParser, b"1 |:2 a", 3),
        (VwParser, b"1 |n:x a", 5),
        (VwParser, b"1 | a:", 6),
        (VwParser, b"1 | a:1:2", 7),
        (VwParser, b"1 | a:b:1", 6),
        (VwParser, b"1 | :1", 4),
        (VwParser, b"1 |n:1e30 a:1e30", 10),
        (VwParser, b"1 |" + b"n" * 40000 + b" " + b"m" * 40000, 40004),
        (ColumnsParser, b"a 0:1", 2),
        (ColumnsParser, b"a 1:1 x:1", 6),
        (ColumnsParser, b"a 1:1#", 5),
        (ColumnsParser, b"n" * 65537 + b" 1:1", 0),
    ],
)
def test_faults(make: Callable[[], Parser], line: bytes, column: int) -> None:
    parser = make()
    good = b"| x\n" if make is VwParser else b"x\n"
    batch = parse(parser, good + line + b"\r\n" + good, skip_bad=True)
    assert batch.rows == 2
    assert batch.entries == batch.row_starts[-1]
    ((record, length, at, expected, _),) = batch.bad
    assert (record, length, at) == (len(good), len(line), len(good) + column)
    assert expected
    stopped = parse(parser, good + line + b"\n" + good)
    assert (stopped.rows, len(stopped.bad)) == (1, 1)


def test_ngrams_too_long_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--ngrams 17"):
        tokens.parser(FormatOptions(ngrams=17))


@pytest.mark.parametrize(
    ("make", "line", "more"),
    [
        (TokensParser, b"1 abc def %s x\n", b"0 a b c\n"),
        (PairsParser, b"1 a:1 b:1 %s:2 x:1\n", b"0 a:1 c:1\n"),
        (VwParser, b"1 | abc def %s x\n", b"-1 | a b c\n"),
    ],
)
def test_a_long_name_amid_a_stream_is_refused_as_at_its_end(
    make: Callable[[], Parser], line: bytes, more: bytes
) -> None:
    """Where many plain fields are in sight, a name of any length was taken for one of them."""
    for length in (900, 1100, 65_000, 65_600, 200_000):
        row = line % (b"n" * length)
        alone, amid = parse(make(), row, True), parse(make(), row + more * 1000, True)
        assert (alone.rows, amid.rows) == ((0, 1000) if length > 65_536 else (1, 1001))
        assert [why for *_, why, _ in amid.bad] == [why for *_, why, _ in alone.bad]
