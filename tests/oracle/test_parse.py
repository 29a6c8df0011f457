"""The native parsers against their slow twins, on text in and around the grammars."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from fsstream._native import Batch
from fsstream.formats import format_named
from fsstream.formats.options import FormatOptions
from tests.oracle import parse_oracle
from tests.oracle.parse_twin import LINES, assert_equal_to_twin

PIECES = [
    *(bytes([c]) for c in b"0123456789.:eE+-#|'_ax \t\r\n\v\0\x01\x80\xff"),
    *(b" ", b" ", b":", b"\n", b"\r\n", b" |", b":1", b"nan", b"inf", b"qid:3 ", b"1 ", b"0x1"),
    *(
        b"1e400",
        b"1e38",
        b"3e38",
        b"1e-46",
        b"-0.0",
        b"1e",
        b".5",
        b"5.",
        b"16777217",
        b"0.30000001192092896",
    ),
    *(
        b"12345678",
        b"123456789",
        b"18446744073709551615",
        b"18446744073709551616",
        b"00",
        b"1|",
        b"'t",
        b"#x",
    ),
]
_NUMBERS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: repr(float(np.float32(x)))),
    st.decimals(allow_nan=False, allow_infinity=False, places=7, min_value=-10, max_value=10).map(str),
    st.integers(-(10**9), 10**9).map(str),
).map(str.encode)
_INDICES = st.one_of(st.integers(0, 12), st.integers(0, 10**9), st.integers(0, 2**64 - 1)).map(b"%d".__mod__)
_NAMES = st.one_of(st.sampled_from([b"a", b"b", b"a:b", b"7", b"07", b"word", b"\xc3\xa9"]), _INDICES)
_BLANKS = st.sampled_from([b" ", b" ", b" ", b" ", b"\t", b"  ", b" \r "])
_LABELS = st.sampled_from([b"1", b"-1", b"+1", b"0.5", b"spam", b"3,7", b"1e400", b"nan", b""])


@st.composite
def _line(draw: st.DrawFn, form: str) -> bytes:
    """A line that is right, or nearly."""
    if form in ("libsvm", "columns"):
        entry = st.tuples(_INDICES, st.just(b":"), _NUMBERS)
    elif form == "tokens":
        entry = st.tuples(_NAMES)
    else:
        entry = st.tuples(_NAMES, st.just(b":"), _NUMBERS)
    words = [b"".join(parts) for parts in draw(st.lists(entry, max_size=12))]
    front = draw(_LABELS)
    if form == "vw":
        front += draw(st.sampled_from([b" |", b" 2 |ns ", b" 0.5 0 'tag|n:2 ", b" |n x |m", b"|"]))
    line = front + b"".join(draw(_BLANKS) + word for word in words)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.sampled_from(PIECES)) + line[at + draw(st.integers(0, 2)) :]
    return line


def _text(form: str) -> st.SearchStrategy[bytes]:
    soup = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)
    lines = st.lists(_line(form), max_size=6).map(b"\n".join)
    return st.one_of(soup, lines, st.tuples(lines, soup).map(b"\n".join))


@pytest.mark.parametrize("form", LINES)
@given(data=st.data(), ngrams=st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_native_equals_twin(form: str, data: st.DataObject, ngrams: int) -> None:
    assert_equal_to_twin(form, data.draw(_text(form)), ngrams)


@pytest.mark.parametrize("form", LINES)
def test_what_follows_the_highest_index_is_checked_as_before(form: str) -> None:
    """Sample 0 of a column, for one, in reach of the reader that takes plain entries."""
    line = b"1 18446744073709551615:0.0" + b" 0:0.5" * 20 + b" 3:0.25" * 20
    assert_equal_to_twin(form, line, 1)


@pytest.mark.parametrize(
    "space",
    [
        b"",
        b"ns",
        b"ns:2",
        b"ns:1e38",
        b"ns:0",
        b"7",
        b"a" * 15,
        b"b" * 33,
        b"c" * 64_400,
        b"d" * 65_535,
        b"e" * 65_500,
    ],
)
def test_many_features_behind_a_namespace(space: bytes) -> None:
    """Their names are put together for many at once; also where they are not, or a value is too large."""
    values = [b"", b":1", b":0.25", b":-3", b":1e-3", b":5.5"]
    names = [b"n%d" % i + b"x" * (i % 40) for i in range(60)]
    features = b" ".join(name + values[i % 6] for i, name in enumerate(names))
    row = b"1 |%b " % space + features + b" |other a b:2 |%b " % space + b" ".join(names[::-1])
    for text in (row, row + b"\n" + row + b" \r\n0 |x y\n", row.replace(b"x:5.5", b"x:5.5e38"), row + b" z:"):
        assert_equal_to_twin("vw", text, 1)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("form", LINES)
def test_whole_equals_split(form: str, data: st.DataObject) -> None:
    """Cut at every record boundary: the same rows, the same faults."""
    text = data.draw(_text(form))
    whole, part = Batch(), Batch()
    module = format_named(form)
    parser = module.parser(FormatOptions())
    parser.parse(text, whole, True)
    labels, names, values, bad, offset = [], [], [], [], 0
    while offset < len(text):
        rest = text[offset:]
        line = rest[: rest.find(b"\n") + 1] or rest
        assert module.head(line, final=False) == (len(line) if line.endswith(b"\n") else 0)
        assert module.head(line, final=True) == len(line)
        parser.parse(line, part, True)
        labels += part.labels()
        names += part.names()
        values += part.values.view(np.uint32).tolist()
        bad += [(record + offset, length, at + offset, *why) for record, length, at, *why in part.bad]
        offset += len(line)
    assert (labels, names, values, bad) == (
        whole.labels(), whole.names(), whole.values.view(np.uint32).tolist(), whole.bad,
    )  # fmt: skip


_DIGITS = st.text("0123456789", max_size=24)
_DECIMALS = st.one_of(
    st.tuples(
        st.sampled_from(["", "-", "+"]), _DIGITS, st.sampled_from(["", "."]), _DIGITS,
        st.one_of(st.just(""), st.integers(-60, 60).map("e{}".format)),
    ).map("".join),
    # The middles between two float32, and their neighbours in decimal.
    st.tuples(st.integers(2**23, 2**24 - 1), st.integers(-30, 60), st.integers(-1, 1)).map(
        lambda t: str((2 * t[0] + 1) * 10**9 * 2 ** t[1] + t[2] if t[1] >= 0 else
                      ((2 * t[0] + 1) * 10**60 // 2 ** -t[1] + t[2])) + ("e-9" if t[1] >= 0 else "e-60")
    ),
)  # fmt: skip


@given(text=_DECIMALS)
@settings(max_examples=600, deadline=None)
@example("0.30000001192092896")
@example("16777217")
@example("8388608.5")
@example("8388609.50000000000000000000000001")
@example("3.4028235677973366e38")
@example("3.4028235677973365e38")
@example("7.0064923216240854e-46")
@example("7.006492321624085e-46")
@example("1e-99999999999999999999")
@example("0e99999999999999999999")
@example("1e99999999999999999999")
def test_numbers_are_rounded_once(text: str) -> None:
    """Every decimal is the nearest float32, whichever path reads it: alone or with text behind it."""
    try:
        _, end = parse_oracle.read_number(text.encode(), 0)
        expected = parse_oracle.nearest_float32(text)
    except parse_oracle.BadError:
        expected, end = np.float32(np.nan), -1
    batch = Batch()
    for tail in ("", " 9:1 9:1 9:1 9:1 9:1 9:1 9:1 9:1 9:1 9:1 9:1 9:1"):
        format_named("libsvm").parser(FormatOptions()).parse(f"1 7:{text}{tail}\n".encode(), batch)
        if end == len(text) and np.isfinite(expected):
            assert batch.values[:1].view(np.uint32).tolist() == [int(expected.view(np.uint32))]
        else:
            assert len(batch.bad) == 1


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "-1", "2.5", "+3"]),
            st.lists(st.integers(0, 500), unique=True, max_size=30).map(sorted),
        ),
        min_size=1,
        max_size=8,
    ),
    numbers=st.lists(_NUMBERS, min_size=240, max_size=240),
)
@settings(max_examples=40, deadline=None)
def test_libsvm_as_scikit_learn_reads_it(rows: list[tuple[str, list[int]]], numbers: list[bytes]) -> None:
    left = iter(numbers)
    text = b"".join(
        b" ".join([label.encode(), *(b"%d:%s" % (index, next(left)) for index in indices)]) + b" # c\n"
        for label, indices in rows
    )
    matrix, targets = load_svmlight_file(io.BytesIO(text), n_features=501, zero_based=True, dtype=np.float64)
    batch = Batch()
    format_named("libsvm").parser(FormatOptions()).parse(text, batch)
    assert batch.label_values.tolist() == targets.tolist()
    assert batch.row_starts.tolist() == matrix.indptr.tolist()
    assert batch.keys.tolist() == matrix.indices.tolist()
    np.testing.assert_allclose(batch.values, matrix.data, rtol=2**-23)
