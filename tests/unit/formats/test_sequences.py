"""seq, FASTA and FASTQ: k-mers against a dict, labels, and what is refused where."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsstream._native import Batch, FastaParser, FastqParser, Parser, SeqParser
from fsstream.errors import DataError, UsageError
from fsstream.formats import format_named, take_of
from fsstream.formats.options import FormatOptions
from fsstream.formats.sequences import kmer_options, read_labels
from tests.unit.formats.parsed import Row, parts, rows

if TYPE_CHECKING:
    from pathlib import Path

CODES = {ord(base): code for code, base in enumerate("ACGT")}
COMPLEMENT = bytes.maketrans(b"ACGT", b"TGCA")


def words(sequence: bytes, length: int, canonical: bool) -> tuple[dict[bytes, int], int]:
    """The slow twin: k-mers in order of first appearance, and the windows that were skipped."""
    counts: Counter[bytes] = Counter()
    skipped = 0
    sequence = sequence.upper()
    for start in range(len(sequence) - length + 1):
        word = sequence[start : start + length]
        if set(word) - set(CODES):
            skipped += 1
            continue
        counts[min(word, word.translate(COMPLEMENT)[::-1]) if canonical else word] += 1
    return dict(counts), skipped


def key_of(word: bytes) -> int:
    key = 0
    for letter in word:
        key = 4 * key + CODES[letter]
    return key


def parse(parser: Parser, text: bytes, skip_bad: bool = False, source: str = "") -> Batch:
    batch = Batch()
    parser.parse(text, batch, skip_bad, source)
    return batch


LETTERS = st.text(alphabet="ACGTacgtNn-*", max_size=200).map(str.encode)
REPETITIVE = st.tuples(st.sampled_from([b"A", b"AC", b"GCT", b"ACGTN"]), st.integers(0, 60)).map(
    lambda unit_times: unit_times[0] * unit_times[1]
)
SEQUENCES = st.lists(LETTERS | REPETITIVE, max_size=8)
KMER = st.integers(1, 32)


@given(sequences=SEQUENCES, length=KMER, canonical=st.booleans())
def test_kmers_equal_a_dict(sequences: list[bytes], length: int, canonical: bool) -> None:
    text = b"".join(b"%d\t%s\n" % (n, sequence) for n, sequence in enumerate(sequences))
    batch = parse(SeqParser(length, canonical), text)
    expected = [words(sequence, length, canonical) for sequence in sequences]
    assert batch.bad == []
    assert rows(batch) == [(b"%d" % n, counts) for n, (counts, _) in enumerate(expected)]
    assert batch.names() == [word for counts, _ in expected for word in counts]
    assert batch.keys.tolist() == [key_of(word) for counts, _ in expected for word in counts]
    assert batch.skipped_windows == sum(skipped for _, skipped in expected)
    np.testing.assert_array_equal(batch.label_values, np.arange(len(sequences)))


def test_a_count_beyond_what_a_float_can_count_up_to() -> None:
    repeats = 2**24 + 10
    batch = parse(SeqParser(31, False), b"1\t" + b"A" * (repeats + 30))
    assert batch.values.tolist() == [float(repeats)]


def test_a_long_record_then_short_ones() -> None:
    rng = np.random.default_rng(1)
    long = rng.choice(np.frombuffer(b"ACGT", np.uint8), 50_000).tobytes()
    parser = SeqParser(7, True)
    for _ in range(2):
        batch = parse(parser, b"1\t" + long + b"\n2\tACGTACGTAC\n1\t" + long[::-1] + b"\n")
        assert rows(batch) == [
            (b"1", words(long, 7, True)[0]),
            (b"2", words(b"ACGTACGTAC", 7, True)[0]),
            (b"1", words(long[::-1], 7, True)[0]),
        ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1\tACG\n\n \t \n2\tACG\r\n", [(b"1", {b"ACG": 1}), (b"2", {b"ACG": 1})]),
        (b"\tACG", [(b"", {b"ACG": 1})]),
        (b" Homo sapiens \tAC\n", [(b"Homo sapiens", {})]),
        (b"1\t\n", [(b"1", {})]),
        (b"1\tUACGRYKM", [(b"1", {b"ACG": 1})]),
    ],
)
def test_seq(text: bytes, expected: list[Row]) -> None:
    batch = parse(SeqParser(3, False), text)
    assert batch.bad == []
    assert rows(batch) == expected


# A FASTA record as (header, lines); a FASTQ record as (header, sequence).
HEADERS = st.sampled_from([b"a", b"b label=1", b"c x label=spam y", b"label=7", b"", b"d label="])
FASTA_RECORDS = st.lists(st.tuples(HEADERS, st.lists(LETTERS, max_size=5)), max_size=6)
FASTQ_RECORDS = st.lists(st.tuples(HEADERS, LETTERS), max_size=6)
ENDS = st.sampled_from([b"\n", b"\r\n"])


def header_label(header: bytes) -> bytes:
    found = [word[6:] for word in header.split() if word.startswith(b"label=")]
    return found[0] if found else b""


@given(records=FASTA_RECORDS, end=ENDS, length=st.integers(1, 9), canonical=st.booleans())
def test_fasta_windows_span_lines(
    records: list[tuple[bytes, list[bytes]]], end: bytes, length: int, canonical: bool
) -> None:
    text = b"".join(end.join([b">" + header, *lines, b""]) for header, lines in records)
    batch = parse(FastaParser(length, canonical, {}), text)
    assert batch.bad == []
    assert rows(batch) == [
        (header_label(header), words(b"".join(lines), length, canonical)[0]) for header, lines in records
    ]


@given(records=FASTQ_RECORDS, end=ENDS, length=st.integers(1, 9), again=st.booleans())
def test_fastq(records: list[tuple[bytes, bytes]], end: bytes, length: int, again: bool) -> None:
    text = b"".join(
        end.join([b"@" + header, letters, b"+" + header * again, b"@" * len(letters), b""])
        for header, letters in records
    )
    batch = parse(FastqParser(length, True, {}), text)
    assert batch.bad == []
    assert rows(batch) == [
        (header_label(header), words(letters, length, True)[0]) for header, letters in records
    ]


def test_labels_by_table() -> None:
    table = {b"r1": b"spam", b"r2": b"2", b"reads.fa": b"7", b"/tmp/x/other.fa": b"8"}
    parser = FastaParser(3, True, table)
    text = b">r1 label=1\nACG\n>r2\nACG\n>r3 label=3\nACG\n>r4\nACG\n"
    assert parse(parser, text).labels() == [b"spam", b"2", b"3", b""]
    assert parse(parser, text, source="/tmp/reads.fa").labels() == [b"spam", b"2", b"7", b"7"]
    assert parse(parser, text, source="/tmp/x/other.fa").labels() == [b"spam", b"2", b"8", b"8"]
    assert parse(parser, text, source="other.fa").labels() == [b"spam", b"2", b"3", b""]
    np.testing.assert_array_equal(parse(parser, text).label_values, [np.nan, 2, 3, np.nan])


def test_labels_by_a_file_name_that_is_not_utf8() -> None:
    parser = FastaParser(3, True, {b"\xff.fa": b"5"})
    assert parse(parser, b">r\nACG\n", source=os.fsdecode(b"/x/\xff.fa")).labels() == [b"5"]


BAD = [
    ("seq", b"1 ACGT", 6, "label<TAB>DNA"),
    ("seq", b"1\tAC GT", 4, "a letter of a sequence"),
    ("seq", b"1\tAC\0GT", 4, "text"),
    ("seq", b"1\t\xffACG", 2, "a letter of a sequence"),
    ("fasta", b"ACGT\nAC\n", 0, "a header beginning with '>'"),
    ("fasta", b">a\nAC1\nAC\n", 5, "a letter of a sequence"),
    ("fastq", b"ACGT\n", 0, "a header beginning with '@'"),
    ("fastq", b"@a\nACGT\nACGT\n+\n", 8, "a line beginning with '+'"),
    ("fastq", b"@a\nACGT\n\n+\n", 8, "a line beginning with '+'"),
    ("fastq", b"@a\nACGT\n+\nIII\n", 13, "a quality as long as its sequence"),
    ("fastq", b"@a\nACGT\n+\nIIIII\n", 14, "a quality as long as its sequence"),
    ("fastq", b"@a\nACGT\n+b\nIIII\n", 9, "'+' alone or followed by the record's header"),
    ("fastq", b"@a\nACGT\n+\nII\tI\n", 12, "a quality letter ('!' to '~')"),
    ("fastq", b"@a\nAC>T\n+\nIIII\n", 5, "a letter of a sequence"),
    ("fastq", b"@a\nACGT\n+\n", 9, "four lines: @id, sequence, +, quality"),
    ("fastq", b"@a\nACGT", 7, "four lines: @id, sequence, +, quality"),
    ("fastq", b"@a", 2, "four lines: @id, sequence, +, quality"),
]
GOOD = {"seq": b"g\tACGT\n", "fasta": b">g label=g\nACGT\n", "fastq": b"@g label=g\nACGT\n+\nIIII\n"}


def parser_of(name: str) -> Parser:
    return format_named(name).parser(FormatOptions(kmer=3, canonical=False))


@pytest.mark.parametrize(("name", "text", "column", "expected"), BAD)
def test_bad_records(name: str, text: bytes, column: int, expected: str) -> None:
    before = GOOD[name] if not (name == "fasta" and text[:1] != b">") else b""
    batch = parse(parser_of(name), before + text)
    assert batch.labels() == [b"g"] * bool(before)
    (record, length, at, what, _), *others = batch.bad
    assert others == []
    assert (record, at, what) == (len(before), len(before) + column, expected)
    assert length <= len(text.rstrip(b"\n"))
    good = {b"ACG": 1.0, b"CGT": 1.0}
    behind = text if text.endswith(b"\n") else text + b"\n"
    whole = parse(parser_of(name), before + behind + GOOD[name], skip_bad=True)
    if not expected.startswith("four lines"):
        assert rows(whole) == [(b"g", good)] * (1 + bool(before))


def test_a_lost_line_of_fastq_costs_few_records() -> None:
    record = b"@g\nACGT\n+\nIIII\n"
    batch = parse(parser_of("fastq"), record + b"@g\nACGT\nIIII\n" + 5 * record, skip_bad=True)
    assert batch.rows == 5
    assert len(batch.bad) == 4


PIECES = {
    "seq": [b"1\tACGTN\n", b"\n", b"2\tAC\r\n", b"x\n", b"\t\n"],
    "fasta": [b">a label=1\nACG\nTNN\n", b"\n", b">b\n", b"AC>GT\n", b">c\r\nAC\r\n\r\nGT\r\n", b"A9\n"],
    "fastq": [
        b"@a label=1\nACGT\n+\nIIII\n",
        b"\n",
        b"@b\r\nAC\r\n+\r\n@@\r\n",
        b"AC\n",
        b"@c\n\n+\n\n",
        b"+\n",
    ],
}


@given(data=st.data(), name=st.sampled_from(sorted(PIECES)), size=st.integers(1, 80), cut=st.integers(0, 3))
def test_whole_is_split(data: st.DataObject, name: str, size: int, cut: int) -> None:
    text = b"".join(data.draw(st.lists(st.sampled_from(PIECES[name]), max_size=12)))
    text = text[: max(0, len(text) - cut)]
    parser = parser_of(name)
    whole = parse(parser, text, skip_bad=True)
    blocks = parts(name, text, size)
    assert b"".join(blocks) == text
    split_rows: list[Row] = []
    split_bad: list[tuple[int, int, int, str, str | None]] = []
    skipped = start = 0
    for block in blocks:
        batch = parse(parser, block, skip_bad=True)
        split_rows += rows(batch)
        split_bad += [(start + record, size, start + at, *what) for record, size, at, *what in batch.bad]
        skipped += batch.skipped_windows
        start += len(block)
    assert split_rows == rows(whole)
    assert split_bad == whole.bad
    assert skipped == whole.skipped_windows


def test_stopping_at_the_first_bad_record() -> None:
    for name in PIECES:
        text = GOOD[name] + (b">!\n1\n" if name == "fasta" else b"?\n") + GOOD[name]
        batch = parse(parser_of(name), text)
        assert (batch.rows, len(batch.bad)) == (1, 1)
        assert parse(parser_of(name), text, skip_bad=True).rows == 2


@pytest.mark.parametrize(
    "options",
    [
        FormatOptions(),
        FormatOptions(kmer=3),
        FormatOptions(canonical=True),
        FormatOptions(kmer=33, canonical=True),
    ],
)
def test_kmer_options_have_no_default(options: FormatOptions) -> None:
    with pytest.raises(UsageError):
        kmer_options(options)


def test_the_file_of_labels(tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_bytes(b"r1\tspam\r\n\nr 2\t two words \nr1\tspam\n")
    assert read_labels(file) == {b"r1": b"spam", b"r 2": b"two words"}
    file.write_bytes(b"r1\tspam\nr2 ham\n")
    with pytest.raises(DataError, match=r":2: expected name<TAB>label"):
        read_labels(file)
    file.write_bytes(b"r1\tspam\nr1\tham\n")
    with pytest.raises(DataError, match=r":2: a second label for 'r1'"):
        read_labels(file)


@given(data=st.data(), name=st.sampled_from(["fasta", "fastq"]), most=st.integers(0, 8))
def test_taking_records_one_by_one_or_at_once(data: st.DataObject, name: str, most: int) -> None:
    text = b"".join(data.draw(st.lists(st.sampled_from(PIECES[name]), max_size=12)))
    take = take_of(name)
    assert take is not None
    found, end = take(text, most)
    parsed = parse(parser_of(name), text[:end], skip_bad=True)
    assert found == parsed.rows + len(parsed.bad) <= most
    step = 0
    for _ in range(found):
        one, length = take(text[step:], 1)
        assert one == 1
        step += length
    assert found == 0 or step == end
    if name == "fastq":
        assert take(text, 10**9)[1] == format_named(name).head(text, final=False)
