"""The line formats once more: slow, readable, written from docs/formats.md.

In: text and the name of a format. Out: its rows, and where its bad records are wrong. Exact
arithmetic decides what a decimal text is as float32.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

import mmh3
import numpy as np

BLANKS = b" \t\v\f\r"
LONGEST_NAME = 64 * 1024
FLOAT32 = np.finfo(np.float32)


class BadError(Exception):
    """A record is bad at this byte of its line."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@dataclass
class Row:
    label: bytes
    label_value: float
    record: int
    entries: list[tuple[bytes, np.float32]]
    importance: float = 1.0
    tag: bytes | None = None


@dataclass
class Parsed:
    rows: list[Row] = field(default_factory=list)
    bad: list[tuple[int, int, int]] = field(default_factory=list)  # record, length, column


def nearest_float32(text: str) -> np.float32:
    """The float32 closest to a decimal text, ties to even; infinite beyond the largest."""
    double = float(text)
    if double == 0 or not np.isfinite(double):
        return np.float32(double)
    exact = Fraction(text)
    if abs(exact) >= Fraction(float(FLOAT32.max)) + Fraction(2) ** 103:
        return np.float32(np.inf if double > 0 else -np.inf)
    with np.errstate(all="ignore"):
        near = np.clip(np.float32(double), FLOAT32.min, FLOAT32.max)
        around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]

    def badness(x: np.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1

    best = min((x for x in around if np.isfinite(x)), key=badness)
    return np.float32(-0.0) if best == 0 and double < 0 else best


def read_number(line: bytes, at: int) -> tuple[str, int]:
    """The text of the number that begins at a byte, and where it ends."""
    begin = at
    if line[at : at + 1] in (b"+", b"-"):
        at += 1
    mantissa = re.compile(rb"[0-9]*(\.[0-9]*)?").match(line, at)
    assert mantissa is not None
    if not re.search(rb"[0-9]", mantissa.group()):
        raise BadError(mantissa.end())
    at = mantissa.end()
    if line[at : at + 1] in (b"e", b"E"):
        exponent = re.compile(rb"[eE][+-]?").match(line, at)
        assert exponent is not None
        digits = re.compile(rb"[0-9]+").match(line, exponent.end())
        if digits is None:
            raise BadError(exponent.end())
        at = digits.end()
    return line[begin:at].decode(), at


def read_value(line: bytes, at: int) -> tuple[np.float32, int]:
    text, end = read_number(line, at)
    value = nearest_float32(text)
    if not np.isfinite(value):
        raise BadError(at)
    return value, end


def is_value(text: bytes) -> bool:
    try:
        return read_value(text, 0)[1] == len(text)
    except BadError:
        return False


def label_value(label: bytes) -> float:
    try:
        text, end = read_number(label, 0)
    except BadError:
        return np.nan
    return float(text) if end == len(label) and np.isfinite(float(text)) else np.nan


def key_of(name: bytes) -> int:
    if re.fullmatch(rb"0|[1-9][0-9]*", name) and int(name) < 2**64:
        return int(name)
    return mmh3.hash64(name, 0, signed=False)[0]


def fields(line: bytes, begin: int = 0) -> list[tuple[int, bytes]]:
    """The runs of bytes that are no white space, with the place of each."""
    return [(m.start(), m.group()) for m in re.compile(rb"[^ \t\v\f\r]+").finditer(line, begin)]


def add_up(entries: list[tuple[bytes, np.float32]], at: int) -> list[tuple[bytes, np.float32]]:
    """One entry a key, where it came first and as it was named there."""
    names: dict[int, bytes] = {}
    sums: dict[int, float] = {}
    for name, value in entries:
        key = key_of(name)
        names.setdefault(key, name)
        sums[key] = sums[key] + float(value) if key in sums else float(value)
    with np.errstate(over="ignore"):
        result = [(names[key], np.float32(sums[key])) for key in names]
    if not all(np.isfinite(value) for _, value in result):
        raise BadError(at)
    return result


def read_indexed(line: bytes, at: int, lowest: int, stop: bytes) -> list[tuple[bytes, np.float32]]:
    """`index:value` entries up to the end of the line or a byte of `stop`."""
    entries = []
    first = at
    while at < len(line) and line[at] not in stop:
        digits = re.compile(rb"[0-9]*").match(line, at)
        assert digits is not None
        if not digits.group():
            raise BadError(at)
        index = int(digits.group())
        if index >= 2**64:
            raise BadError(at)
        if line[digits.end() : digits.end() + 1] != b":":
            raise BadError(at)
        if index < lowest:
            raise BadError(at)
        value, end = read_value(line, digits.end() + 1)
        if end < len(line) and line[end] not in BLANKS + stop:
            raise BadError(end)
        entries.append((b"%d" % index, value))
        at = skip_blanks(line, end)
    return add_up(entries, first)


def skip_blanks(line: bytes, at: int) -> int:
    while at < len(line) and line[at] in BLANKS:
        at += 1
    return at


def read_label(line: bytes) -> tuple[int, bytes] | None:
    found = fields(line)
    return found[0] if found else None


def is_entry(word: bytes) -> bool:
    name, colon, value = word.rpartition(b":")
    return bool(colon and name) and is_value(value)


def libsvm(line: bytes) -> Row | None:
    found = read_label(line)
    if found is None or found[1].startswith(b"#"):
        return None
    begin, label = found
    if b"#" in label:
        raise BadError(begin + label.index(b"#"))
    if is_entry(label):
        raise BadError(begin)
    at = skip_blanks(line, begin + len(label))
    query = re.compile(rb"qid:([0-9]+)(?=[ \t\v\f\r#]|$)").match(line, at)
    if query is not None and int(query.group(1)) < 2**64:
        at = skip_blanks(line, query.end())
    return Row(label, label_value(label), 0, read_indexed(line, at, 0, b"#"))


def columns(line: bytes) -> Row | None:
    found = read_label(line)
    if found is None:
        return None
    begin, name = found
    if len(name) > LONGEST_NAME:
        raise BadError(begin)
    return Row(name, np.nan, 0, read_indexed(line, skip_blanks(line, begin + len(name)), 1, b""))


def pairs(line: bytes) -> Row | None:
    found = fields(line)
    if not found:
        return None
    (begin, label), *rest = found
    if is_entry(label):
        raise BadError(begin)
    entries = []
    for at, word in rest:
        name, colon, _ = word.rpartition(b":")
        if not colon:
            raise BadError(at)
        if not name or len(name) > LONGEST_NAME:
            raise BadError(at)
        value, end = read_value(line, at + len(name) + 1)
        if end != at + len(word):
            raise BadError(end)
        entries.append((name, value))
    return Row(label, label_value(label), 0, add_up(entries, rest[0][0] if rest else len(line)))


def tokens(line: bytes, ngrams: int) -> Row | None:
    found = fields(line)
    if not found:
        return None
    (_, label), *rest = found
    for at, word in rest:
        if len(word) > LONGEST_NAME:
            raise BadError(at)
    entries = []
    for i, (at, _) in enumerate(rest):
        for count in range(1, min(ngrams, len(rest) - i) + 1):
            name = b" ".join(word for _, word in rest[i : i + count])
            if len(name) > LONGEST_NAME:
                raise BadError(at)
            entries.append((name, np.float32(1)))
    return Row(label, label_value(label), 0, add_up(entries, 0))


def vw(line: bytes) -> Row | None:
    line = line.rstrip(BLANKS)
    if not line:
        return None
    bar = line.find(b"|")
    if bar < 0:
        raise BadError(len(line))
    row = vw_front(line, bar)
    at, entries = bar, []
    while at < len(line):
        at = vw_namespace(line, at + 1, entries)
    row.entries = add_up(entries, bar)
    return row


def vw_front(line: bytes, bar: int) -> Row:
    row = Row(b"", np.nan, 0, [], tag=b"")
    words = fields(line[:bar])
    if words and (words[-1][0] + len(words[-1][1]) == bar or words[-1][1].startswith(b"'")):
        row.tag = words.pop()[1].removeprefix(b"'")
    for position, (at, word) in enumerate(words):
        if position == 0:
            if b":" in word:
                raise BadError(at + word.index(b":"))
            row.label, row.label_value = word, label_value(word)
        elif position == 1:
            if not is_value(word) or nearest_float32(word.decode()) < 0:
                raise BadError(at)
            row.importance = float(nearest_float32(word.decode()))
        elif position == 2:
            if not is_value(word) or nearest_float32(word.decode()) != 0:
                raise BadError(at)
        else:
            raise BadError(at)
    return row


def vw_value(line: bytes, at: int) -> tuple[np.float32, int]:
    if line[at : at + 1] != b":":
        return np.float32(1), at
    value, end = read_value(line, at + 1)
    if end < len(line) and line[end] not in BLANKS:
        raise BadError(end)
    return value, end


def vw_namespace(line: bytes, at: int, entries: list[tuple[bytes, np.float32]]) -> int:
    """Reads up to the next bar; returns where it is."""
    name_pattern = re.compile(rb"[^ \t\v\f\r:|]*")
    space = name_pattern.match(line, at)
    assert space is not None
    prefix = space.group() + b"^" if space.group() else b""
    behind = line[space.end() : space.end() + 1]
    if behind == b"|" or (behind == b":" and not prefix):
        raise BadError(space.end())
    weight, at = vw_value(line, space.end())
    at = skip_blanks(line, at)
    while at < len(line) and line[at : at + 1] != b"|":
        name = name_pattern.match(line, at)
        assert name is not None
        if line[name.end() : name.end() + 1] == b"|":
            raise BadError(name.end())
        if not name.group() or len(prefix) + len(name.group()) > LONGEST_NAME:
            raise BadError(at)
        value, end = vw_value(line, name.end())
        with np.errstate(over="ignore", under="ignore"):
            product = np.float32(value * weight)
        if not np.isfinite(product):
            raise BadError(at)
        entries.append((prefix + name.group(), product))
        at = skip_blanks(line, end)
    return at


def parse(form: str, text: bytes, ngrams: int = 1) -> Parsed:
    """All lines of a text; bad ones are passed over and noted."""
    readers = {"libsvm": libsvm, "columns": columns, "pairs": pairs, "vw": vw}
    parsed, mark = Parsed(), b"\xef\xbb\xbf"
    record = len(mark) if text.startswith(mark) else 0
    for line in text[record:].split(b"\n"):
        try:
            if b"\0" in line:
                raise BadError(line.index(b"\0"))
            row = tokens(line, ngrams) if form == "tokens" else readers[form](line)
            if row is not None:
                row.record = record
                parsed.rows.append(row)
        except BadError as bad:
            parsed.bad.append((record, len(line.removesuffix(b"\r")), record + bad.at))
        record += len(line) + 1
    return parsed
