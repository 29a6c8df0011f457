"""`--format auto`: what the first records are taken for, and why not something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsstream.apply_options import ApplyOptions
from fsstream.config import InputOptions
from fsstream.errors import UsageError
from fsstream.formats.detect import decide, detect, table_hint
from fsstream.sources import Block


def blocks(*texts: bytes) -> list[Block]:
    return [Block(f"file{n}", memoryview(text), 1, 0) for n, text in enumerate(texts)]


def name_of(*texts: bytes, **options: object) -> str:
    return detect(InputOptions(**options), blocks(*texts))[0]  # type: ignore[arg-type]


KMER = {"kmer": 3, "canonical": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1 3:0.5 7:2\n-1 2:1\n", "libsvm"),
        (b"1,4 qid:3 3:+.5 18446744073709551615:1e3 # buy: now\r\n", "libsvm"),
        (b"# made by a script\n\n1 3:1\n0\n2 # nothing in it: really\n1 2:1 5:1 9:1\n", "libsvm"),
        (b"1\n-1\n", "libsvm"),
        (b"1 age:3 12:1\n", "pairs"),
        (b"1 http://a.b:2 x:y:0.25\n", "pairs"),
        (b"1 -3:1 4:1\n", "pairs"),
        (b"spam buy now 12:30\n", "tokens"),
        (b"1 #tag other\n0 word\n", "tokens"),
        (b"spam at the|end of it\n", "tokens"),
        (b"spam at|the end\n", "tokens"),
        (b"1 @home >here {x}\n", "tokens"),
        (b"1 |f a:1 b\n-1 2.0 'tag|g c\n0 1 0 'tag| d\n|h e\n", "vw"),
        (b">r1 label=1\nACGT\n", "fasta"),
        (b"\n\n@r1\r\nACGT\r\n+\r\n@III\r\n@r2\n", "fastq"),
        (b"@r1 hello\nACGT\nno\nplus\n", "tokens"),
        (b' {"label": 1}\n', "jsonl"),
        (b"1\tACGT\n2\tNNAC\n", "tokens"),
    ],
)
def test_formats(text: bytes, expected: str) -> None:
    assert name_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1\tACGTn\n \n2\tACA\r\n", "seq"),
        (b">a\nACG\n", "fasta"),
        (b"@a\nACG\n+\n!!!\n", "fastq"),
        (b"@a\nACG\nA\n", "fastq"),
    ],
)
def test_sequences_with_kmer(text: bytes, expected: str) -> None:
    assert name_of(text, **KMER) == expected


def test_kmers_of_what_are_no_sequences() -> None:
    with pytest.raises(UsageError, match="does not look like sequences"):
        name_of(b"1\tACGT here\n", **KMER)


def test_columns_only_with_targets() -> None:
    assert name_of(b"word 1:1 2:1\n", targets="t.txt") == "columns"
    assert name_of(b"word 1:1 2:1\n") == "libsvm"


def test_a_few_bad_fields_are_errors_to_be_shown_not_words() -> None:
    assert name_of(b"1 3:1 4:1\n" * 8 + b"1 a:x\n") == "libsvm"
    assert name_of(b"1 a:1 4:1\n" * 8 + b"1 word\n") == "pairs"
    assert name_of(b"1 |a b\n" * 8 + b"no bar\n") == "vw"
    assert name_of(b"1\tACG\n" * 8 + b"oops\n", **KMER) == "seq"


def test_all_inputs_count() -> None:
    assert name_of(b"1 3:1\n", b"1 3:1\n0 a:1\n") == "pairs"


def test_an_empty_stream_has_a_format() -> None:
    assert name_of() == "libsvm"
    assert name_of(b"\n \n") == "libsvm"


NUMBER = st.sampled_from([b"1", b"-.5", b"2e3", b"+7", b"0.25"])
INDEXED = st.tuples(st.integers(0, 2**64 - 1), NUMBER).map(lambda entry: b"%d:%s" % entry)
NAMED = st.tuples(st.sampled_from([b"a", b"a:b", b"1a", b"-1"]), NUMBER).map(b":".join)
OTHER = st.sampled_from([b"a", b"a:", b":1", b"1:x", b"12:30pm", b"1:nan", b"a|b"])


@given(st.lists(st.lists(st.one_of(INDEXED, NAMED, OTHER), min_size=1, max_size=6), min_size=1, max_size=9))
def test_fields_decide(lines: list[list[bytes]]) -> None:
    def is_number(text: bytes) -> bool:
        try:
            return text != b"nan" and float(text) == float(text)
        except ValueError:
            return False

    fields = [field for line in lines for field in line]
    halves = [field.rpartition(b":") for field in fields]
    named = [name for name, _, value in halves if name and is_number(value)]
    if 2 * len(named) <= len(fields):
        expected = "tokens"
    else:
        expected = "libsvm" if all(name.isdigit() for name in named) else "pairs"
    assert name_of(b"".join(b"1 " + b" ".join(line) + b"\n" for line in lines)) == expected


def test_options_without_use_for_what_was_found() -> None:
    with pytest.raises(UsageError, match="--ngrams has no use with --format libsvm"):
        decide(InputOptions(ngrams=2), blocks(b"1 3:1\n"))
    with pytest.raises(UsageError, match="needs --kmer"):
        decide(InputOptions(), blocks(b">a\nACG\n"))


def test_decided_options_reach_the_parser() -> None:
    decided = decide(InputOptions(ngrams=3), blocks(b"1 a b c\n"))
    assert (decided.name, decided.options.ngrams, decided.options.needs_labels) == ("tokens", 3, True)
    assert not decide(ApplyOptions(), blocks(b"1 a b c\n")).options.needs_labels
    asked = decide(InputOptions(format="csv", label_column="2"), blocks(b"a,b\n1,x\n"))
    assert (asked.why, asked.options.label_column, asked.options.numeric) == ("as asked for", "b", ("a",))


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.csv", "csv"),
        ("x/a.CSV.gz", "csv"),
        ("a.tsv", "tsv"),
        ("a.csv.svm", None),
        ("csv", None),
        ("-", None),
    ],
)
def test_a_hint_for_files_named_like_tables(path: str, form: str | None) -> None:
    hint = table_hint(["plain.txt", path])
    assert (hint is not None) == (form is not None)
    assert hint is None or hint.endswith(f"--format {form}")
