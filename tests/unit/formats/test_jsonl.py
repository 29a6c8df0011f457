"""JSON Lines against json.loads: features, names, labels, and what is refused where."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import Batch, JsonlParser
from fsstream.formats import format_named
from fsstream.formats.options import FormatOptions
from tests.unit.formats.parsed import rows_of_names as rows


def parse(text: bytes, skip_bad: bool = False, label: bytes = b"label") -> Batch:
    """What a new parser reads; one that has met the keys reads it alike, and with more text behind it."""
    parser, batch, again = JsonlParser(label), Batch(), Batch()
    parser.parse(text, batch, skip_bad)
    for behind in (b"\n", b"\n" * 200):
        parser.parse(text + behind, again, skip_bad)
        assert everything(again) == everything(batch)
    return batch


def everything(batch: Batch) -> tuple[Any, ...]:
    columns = (batch.values, batch.label_values, batch.keys, batch.row_starts)
    return (rows(batch), batch.labels(), batch.names(), batch.bad, *(column.tobytes() for column in columns))


def twin(value: dict[str, Any], path: str = "") -> dict[bytes, float]:
    """The slow twin of an object: its features in order of first appearance."""
    found: dict[bytes, float] = {}

    def add(name: str, amount: float) -> None:
        found[name.encode()] = found.get(name.encode(), 0.0) + amount

    for key, member in value.items():
        name = path + key
        if isinstance(member, dict):
            for inner, amount in twin(member, name + ".").items():
                add(inner.decode(), amount)
        elif isinstance(member, list):
            for token in member:
                add(f"{name}={token}", 1.0)
        elif isinstance(member, bool):
            add(f"{name}={str(member).lower()}", 1.0)
        elif isinstance(member, str):
            add(f"{name}={member}", 1.0)
        elif member is not None:
            with np.errstate(over="ignore"):
                add(name, float(np.float32(member)))
    return found


TEXT = st.text(max_size=4) | st.sampled_from(["a", "b", "a.b", "a=b", "\U0001f600", '"\\/\b\f\n\r\t', "\0"])
NUMBER = st.integers(-(10**12), 10**12) | st.floats(-(2.0**100), 2.0**100, width=32)
SCALAR = st.none() | st.booleans() | TEXT | NUMBER
VALUE = st.recursive(
    SCALAR | st.lists(TEXT, max_size=4),
    lambda inner: st.dictionaries(TEXT.filter(lambda key: key != "label"), inner, max_size=4),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT.filter(lambda key: key != "label"), VALUE, max_size=5)
LABEL = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["spam", " é ", ""])


@given(
    objects=st.lists(st.tuples(LABEL, OBJECT), max_size=4),
    ascii_only=st.booleans(),
    separators=st.sampled_from([(",", ":"), (" , ", "\t: ")]),
    end=st.sampled_from(["\n", "\r\n", "\n \n"]),
)
def test_rows_equal_json_loads(
    objects: list[tuple[Any, dict[str, Any]]], ascii_only: bool, separators: tuple[str, str], end: str
) -> None:
    lines = [
        json.dumps({**value, "label": label}, ensure_ascii=ascii_only, separators=separators)
        for label, value in objects
    ]
    batch = parse((end.join(lines)).encode())
    assert batch.bad == []
    found = rows(batch)
    assert len(found) == len(objects)
    for (label, features), (wanted, value) in zip(found, objects, strict=True):
        shown = wanted if isinstance(wanted, str) else "" if wanted is None else json.dumps(wanted)
        assert label == shown.strip().encode()
        expected = twin(value)
        assert list(features) == list(expected)
        for name, amount in expected.items():
            assert features[name] == pytest.approx(amount, rel=1e-6)


KEYS = [
    "a",
    "b",
    "C15",
    "seven77",
    "x" * 14,
    "y" * 15,
    "a key of more than sixteen bytes",
    "",
    'q"',
    "é",
    "in",
]
MEMBER = st.one_of(
    st.sampled_from(
        ["1", "-1", "0.25", "-0", "1e3", "12345678", "0.28491993675842986", "01", "1.", "-", ".5", "1x"]
    ),
    st.sampled_from(
        ["true", "false", "null", "nul", "falsy", "[]", "{}", '["a", "b","a"]', '["a" ]', "[1]", '["a"']
    ),
    st.sampled_from([*range(20), 31, 32, 33, 63, 64, 65, 100]).map(lambda size: json.dumps("v" * size)),
    st.sampled_from(['"\\u00e9"', '"é"', '"a\\"b"', '"', '"a', '"\t"', '"a,b"', '""', "label"]),
)


@st.composite
def written_line(draw: st.DrawFn) -> bytes:
    """An object of some of the keys, mostly in one order, written right or nearly."""
    keys = [key for key in KEYS if draw(st.integers(0, 5))]
    if draw(st.integers(0, 3)) == 0:
        keys = draw(st.permutations(keys)) + draw(st.lists(st.sampled_from(KEYS), max_size=1))
    colons, commas = draw(
        st.sampled_from([([":"], [","]), ([": "], [", "]), ([":", ":\t", ":  ", " :"], [",", ",\t", " ,  "])])
    )
    comma = draw(st.sampled_from(commas))
    members = [
        json.dumps(key, ensure_ascii=draw(st.booleans())) + draw(st.sampled_from(colons)) + draw(MEMBER)
        for key in keys
    ]
    inside = comma.join(members[len(members) // 2 :])
    line = "{" + comma.join([*members[: len(members) // 2], f'"in the": {{{inside}}}', '"label":7']) + "}"
    if draw(st.booleans()):
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at]
            + draw(st.sampled_from(list('",:{}[]\\ 1e-.x\0')))
            + line[at + draw(st.integers(0, 2)) :]
        )
    return line.encode()


@given(lines=st.lists(written_line(), min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_what_was_learned_of_keys_changes_nothing(lines: list[bytes]) -> None:
    """Lines read in a row, by a parser that knows their keys, and each alone by one that knows none."""
    together = parse(b"\n".join(lines), skip_bad=True)
    alone = [parse(line, skip_bad=True) for line in lines]
    assert rows(together) == [row for batch in alone for row in rows(batch)]
    offsets = np.cumsum([0, *(len(line) + 1 for line in lines)]).tolist()
    assert together.bad == [
        (record + offset, length, at + offset, *why)
        for batch, offset in zip(alone, offsets[:-1], strict=True)
        for record, length, at, *why in batch.bad
    ]


@given(st.text(alphabet='{}[]":,\\ua10.-e+tn \x01é', max_size=20))
def test_what_json_refuses_is_refused(text: str) -> None:
    line = '{"a":' + text + "}"

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) != len(members):
            raise ValueError("a key twice")
        return dict(members)

    def constant(name: str) -> Any:
        raise ValueError(name)

    batch = parse(line.encode())
    try:
        value = json.loads(line, object_pairs_hook=pairs, parse_constant=constant)
        expected = twin(value)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, TypeError):
        assert len(batch.bad) == 1
        return
    if batch.bad:  # arrays of other things than strings, numbers beyond float32, labels
        assert batch.bad[0][3] in {"an array of strings", "a number"}
    else:
        assert rows(batch) == [(b"", expected)]


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        (b"[1]", 0, "an object"),
        (b"1", 0, "an object"),
        (b'{"a":1', 6, "the rest of the object"),
        (b'{"a"', 4, "the rest of the object"),
        (b"{", 1, "the rest of the object"),
        (b'{"a":1}x', 7, "the end of the line"),
        (b'{"a":1,}', 7, "a string"),
        (b"{'a':1}", 1, "a string"),
        (b'{"a" 1}', 5, "':'"),
        (b'{"a":1 "b":2}', 7, "',' or '}'"),
        (b'{"a":nan}', 5, "a value"),
        (b'{"a":NaN}', 5, "a value"),
        (b'{"a":Infinity}', 5, "a value"),
        (b'{"a":-Infinity}', 5, "a number"),
        (b'{"a":+1}', 5, "a value"),
        (b'{"a":01}', 5, "a number"),
        (b'{"a":1.}', 5, "a number"),
        (b'{"a":1e400}', 5, "a number"),
        (b'{"a":1e39}', 5, "a number"),
        (b'{"a":1,"a":2}', 7, "a key that is new in its object"),
        (b'{"a":1,"\\u0061":null}', 7, "a key that is new in its object"),
        (b'{"a":{"b":1,"b":2}}', 12, "a key that is new in its object"),
        (b'{"a":[1]}', 6, "an array of strings"),
        (b'{"a":["x",["y"]]}', 10, "an array of strings"),
        (b'{"a":["x" "y"]}', 10, "',' or ']'"),
        (b'{"a":["x",]}', 10, "an array of strings"),
        (b'{"a":["x"', 9, "the rest of the object"),
        (b'{"a":"x', 5, "a closing quote"),
        (b'{"a":"\\x"}', 6, "an escape"),
        (b'{"a":"\\u12G4"}', 6, "an escape"),
        (b'{"a":"\\ud800"}', 6, "a pair of surrogates"),
        (b'{"a":"\\udc00\\ud800"}', 6, "a pair of surrogates"),
        (b'{"a":"\t"}', 6, "a character"),
        (b'{"a":"\\n\x1f"}', 8, "a character"),
        (b'{"a":"\xff"}', 6, "UTF-8"),
        (b'{"a":"\xc3', 6, "UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', 6, "UTF-8"),
        (b'{"a":"\xc0\x80"}', 6, "UTF-8"),
        (b'{"a":"\xf4\x90\x80\x80"}', 6, "UTF-8"),
        (b'{"label":[]}', 9, "a string, number or boolean as label"),
        (b'{"label":{"a":1}}', 9, "a string, number or boolean as label"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, 5 * 64, "at most 64 objects within each other"),
        (b'{"a":"' + b"x" * 65_536 + b'"}', 5, "a name of at most 64 KiB"),
        (b'{"a\0":1}', 3, "text"),
    ],
)
def test_bad_lines(line: bytes, column: int, expected: str) -> None:
    good = b'{"label":1,"g":2}\n'
    batch = parse(good + line + b"\n" + good)
    assert rows(batch) == [(b"1", {b"g": 2.0})]
    assert [bad[:4] for bad in batch.bad] == [(len(good), len(line), len(good) + column, expected)]
    assert rows(parse(good + line + b"\n" + good, skip_bad=True)) == [(b"1", {b"g": 2.0})] * 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"t":["a","b","a"],"t=a":3}', {b"t=a": 5.0, b"t=b": 1.0}),
        (b'{"a.b":1,"a":{"b":2}}', {b"a.b": 3.0}),
        (b'{"a":{"b":1},"c":{"b":1}}', {b"a.b": 1.0, b"c.b": 1.0}),
        (b'{"a":{},"b":[],"c":null,"":1,"e":""}', {b"": 1.0, b"e=": 1.0}),
        (b'{"\\ud83d\\ude00":"\\u00e9\\u20ac"}', {"😀=é€".encode(): 1.0}),
        (b'{"a":' * 64 + b"-0.5e1" + b"}" * 64, {b".".join([b"a"] * 64): -5.0}),
        (b'{"7":1}', {b"7": 1.0}),
    ],
)
def test_features(line: bytes, expected: dict[bytes, float]) -> None:
    batch = parse(line)
    assert batch.bad == []
    assert rows(batch) == [(b"", expected)]


def test_many_keys() -> None:
    value = {f"k{n}": n for n in range(2_000)}
    line = json.dumps(value).encode()
    assert rows(parse(line + b"\n" + line)) == [(b"", twin(value))] * 2
    for key in (b"k1000", b"k1900"):
        twice = line[:-1] + b', "%s": 1}' % key
        assert [bad[3] for bad in parse(twice).bad] == ["a key that is new in its object"]
    inner = {key: {"a": amount, "b": {"a": amount}} for key, amount in value.items()}
    line = json.dumps(inner).encode()
    assert rows(parse(line + b"\n" + line)) == [(b"", twin(inner))] * 2


def test_many_words() -> None:
    """More than wait for their keys at once."""
    value = {"words": [f"w{n % 900}" for n in range(1_000)], **{f"k{n}": f"v{n}" for n in range(300)}}
    assert rows(parse(json.dumps(value).encode() + b"\n{}")) == [(b"", twin(value)), (b"", {})]


def test_a_key_twice_where_it_is_expected() -> None:
    batch = parse(b'{"a":1,"b":2}\n{"b":1,"a":2}\n{"a":1,"b":2,"a":3}\n', skip_bad=True)
    assert batch.rows == 2
    assert [bad[2:4] for bad in batch.bad] == [(41, "a key that is new in its object")]


def test_names_of_a_bad_line_are_gone() -> None:
    """A key that was first met in a bad line of the block is named anew."""
    batch = parse(b'{"n":1,"x":?}\n{"w":"zzzz","n":2}\n', skip_bad=True)
    assert rows(batch) == [(b"", {b"w=zzzz": 1.0, b"n": 2.0})]


def test_labels() -> None:
    batch = parse(b'{"y":"spam"}\n{"y":-1.50}\n{"y":true}\n{"y":null}\n{}\n{"x":{"y":1}}', label=b"y")
    assert batch.labels() == [b"spam", b"-1.50", b"true", b"", b"", b""]
    np.testing.assert_array_equal(batch.label_values, [math.nan, -1.5] + 4 * [math.nan])
    assert parse(b'{"x":{"y":1}}', label=b"x.y").labels() == [b"1"]


def test_the_label_column_reaches_the_parser() -> None:
    text = b'{"label":1,"y":2}'
    for options, label in ((FormatOptions(), b"1"), (FormatOptions(label_column="y"), b"2")):
        batch = Batch()
        format_named("jsonl").parser(options).parse(text, batch)
        assert batch.labels() == [label]
