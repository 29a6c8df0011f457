"""A reduced stream holds the selected features of every row and nothing else, in every format."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fsstream.apply_options import ApplyOptions, TransformOptions
from fsstream.errors import DataError, UsageError
from fsstream.formats import FORMATS
from fsstream.option_fields import from_mapping
from fsstream.reading import Reading
from fsstream.transform import Transform
from tests.contract.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

LINES = ("libsvm", "pairs", "tokens", "vw", "jsonl", "csv", "tsv")
Row = tuple[bytes, float, bytes, dict[bytes, float]]


def read(path: Path, form: str, **options: Any) -> list[Row]:
    """What the parsers see."""
    rows: list[Row] = []
    settings = from_mapping(ApplyOptions, {"inputs": str(path), "format": form, "quiet": True, **options})
    with closing(Reading(settings)) as reading:
        for parsed in reading.batches():
            batch = parsed.batch
            starts, names, values = batch.row_starts, batch.names(), batch.values.tolist()
            tags = batch.tags() or [b""] * batch.rows
            for row, (a, b) in enumerate(pairwise(starts)):
                entries = dict(zip(names[a:b], values[a:b], strict=True))
                rows.append((batch.labels()[row], float(batch.importance[row]), tags[row], entries))
    return rows


def reduced(rows: list[Row], names: dict[bytes, bytes]) -> list[Row]:
    return [
        (label, weight, tag, {names[name]: value for name, value in entries.items() if name in names})
        for label, weight, tag, entries in rows
    ]


def selection_of(tmp_path: Path, names: list[str]) -> str:
    path = tmp_path / "selection.jsonl"
    path.write_text(
        "".join(f'{{"rank":{i + 1},"feature":"{n}","weight":{9 - i}}}\n' for i, n in enumerate(names))
    )
    return str(path)


def run(tmp_path: Path, text: bytes, kept: list[str], **options: Any) -> Path:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(text)
    settings = {"inputs": str(source), "model": selection_of(tmp_path, kept), "quiet": True, **options}
    target.write_bytes(b"".join(Transform(from_mapping(TransformOptions, settings)).texts()))
    return target


@pytest.mark.parametrize("form", SAMPLES)
@pytest.mark.parametrize("block_size", [97, 1 << 20])
def test_the_same_format_holds_the_same_rows(form: str, block_size: int, tmp_path: Path) -> None:
    sample = SAMPLES[form]
    names = sorted(sample.informative)
    target = run(tmp_path, sample.text, names, format=form, block_size=block_size, **sample.options)
    before = read(tmp_path / "source", form, **sample.options)
    assert read(target, form, **sample.options) == reduced(before, {n.encode(): n.encode() for n in names})
    assert sum(len(entries) for *_, entries in read(target, form, **sample.options)) > len(before) / 2


@pytest.mark.parametrize("target_form", LINES)
@pytest.mark.parametrize("form", ["libsvm", "vw", "csv", "seq"])
def test_other_formats_hold_the_same_rows(form: str, target_form: str, tmp_path: Path) -> None:
    sample = SAMPLES[form]
    names = sorted(sample.informative)
    numbered = target_form == "libsvm" and form != "libsvm"
    extra = {"names": str(tmp_path / "names")} if numbered else {}
    target = run(tmp_path, sample.text, names, format=form, to=target_form, **sample.options, **extra)
    spelled = {n.encode(): b"%d" % (i + 1) if numbered else n.encode() for i, n in enumerate(names)}
    before = read(tmp_path / "source", form, **sample.options)
    assert read(target, target_form) == reduced(before, spelled)


def test_numbers_stand_for_the_lines_of_the_names_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"1 b:2 a:3 c:4\n")
    settings = {"inputs": str(source), "model": selection_of(tmp_path, ["c", "a"]), "names": "names"}
    done = Transform(from_mapping(TransformOptions, settings))
    assert done.names_file() == b"c\na\n"
    assert b"".join(done.texts()) == b"1 2:3 1:4\n"


def test_labels_tags_weights_and_queries_stay(tmp_path: Path) -> None:
    vw = b"1 0.25 'tag|n a:2 b |m a\n|n b\n'only|n a\n-1 2 |n a:0.1\n"
    assert run(tmp_path, vw, ["n^a", "m^a"], format="vw").read_bytes() == (
        b"1 0.25 'tag |n a:2 |m a\n|\n'only |n a\n-1 2 |n a:0.1\n"
    )
    libsvm = b"1,3 qid:7 5:1 2:1e-3 # why\n-2.5\tqid:8\n"
    assert run(tmp_path, libsvm, ["2"], format="libsvm").read_bytes() == b"1,3 qid:7 2:0.001\n-2.5 qid:8\n"


def test_headers_of_sequences_keep_their_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.write_bytes(b"x\ttable\n")
    text = b">x some words\nACGT\nACG\n>y label=own\nTTTT\n"
    options = {"kmer": 3, "canonical": False, "labels": str(labels)}
    target = run(tmp_path, text, ["ACG", "TTT"], format="fasta", **options)
    assert target.read_bytes() == b">x label=table some words\nACGNACG\n>y label=own\nTTTNTTT\n"


def test_tables_keep_the_columns_something_is_left_of(tmp_path: Path) -> None:
    text = b'a,colour,y,"b,c"\n1,red,p,2\n3,"blue",q,\n,red,,0.5\n'
    options = {"format": "csv", "label_column": "y"}
    target = run(tmp_path, text, ["b,c", "colour=red", "no such"], **options)
    assert target.read_bytes() == b'y,colour,"b,c"\np,red,2\nq,,\n,red,0.5\n'


def test_columns_that_are_not_kept_are_no_lines(tmp_path: Path) -> None:
    (tmp_path / "targets").write_bytes(b"1\n0\n1\n")
    options = {"format": "columns", "targets": str(tmp_path / "targets")}
    target = run(tmp_path, b"a 1:1 3:0.5\nb 2:1\nc 1:2\n", ["c", "a"], **options)
    assert target.read_bytes() == b"a 1:1 3:0.5\nc 1:2\n"


@pytest.mark.parametrize(
    ("form", "text", "name", "to", "message"),
    [
        ("pairs", b"1 a:1\n", "a", "libsvm", "a number below 2\\^64, got the feature 'a'"),
        ("jsonl", b'{"a b":1}\n', "a b", "pairs", "one word, got the feature 'a b'"),
        ("pairs", b"1 a|b:1\n", "a|b", "vw", "a vw name"),
        ("pairs", b"1 label:1\n", "label", "csv", "another name than the label's"),
        ("pairs", b"1 a:1\n", "a", "seq", "k-mers"),
        ("pairs", b"1 a:1\n", "a", "columns", "no form of pairs"),
    ],
)
def test_names_without_a_spelling_are_refused(
    form: str, text: bytes, name: str, to: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        run(tmp_path, text, [name], format=form, to=to)


@pytest.mark.parametrize(
    ("form", "text", "to", "place"),
    [
        ("vw", b"1 |a\n1 2 |a\n", "pairs", "source:2:1: expected a row of weight 1"),
        ("vw", b"1 |a\n|a\n", "pairs", "source:2:1: expected a label"),
        ("pairs", b"1 a:1\n0 a:0.5\n", "tokens", "source:2:1: expected counts"),
        ("pairs", b"1 a:1\nx:y a:0.5\n", "vw", "source:2:1: expected a label without ':'"),
        ("jsonl", b'{"label":"a b","a":1}\n', "pairs", "source:1:1: expected a label without white space"),
        ("jsonl", b'{"label":"3:4","a":1}\n', "pairs", "source:1:1: expected a label"),
    ],
)
def test_rows_the_target_cannot_hold_are_refused(
    form: str, text: bytes, to: str, place: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        run(tmp_path, text, ["a"], format=form, to=to)
    assert place in str(caught.value)


def test_every_format_can_be_written() -> None:
    assert set(TransformOptions.__dataclass_fields__["to"].metadata["choices"]) == {"same", *FORMATS}


def test_parquet_becomes_text(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"label": ["a", "b"], "x": [1.5, 2.0], "colour": ["red", "blue"]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    selection = selection_of(tmp_path, ["x", "colour=red"])
    settings = {"inputs": str(tmp_path / "rows.parquet"), "model": selection}
    written = {
        to: b"".join(Transform(from_mapping(TransformOptions, {**settings, "to": to})).texts())
        for to in ("pairs", "csv")
    }
    assert written["pairs"] == b"a x:1.5 colour=red:1\nb x:2\n"
    assert written["csv"] == b"label,x,colour=red\na,1.5,1\nb,2,\n"


STARRED = b"1 a*:1 aZ:2 b:3\n0 a*:4\n"  # the product of the first two is spelled a\\**aZ


def starred(tmp_path: Path, kept: list[str], **options: Any) -> bytes:
    kept = [name.replace("\\", "\\\\") for name in kept]
    return run(tmp_path, STARRED, kept, format="pairs", **options).read_bytes()


@pytest.mark.parametrize("doubtful", ["a\\**aZ", "a\\*", "a*b", "b\\\\", "*"])
def test_products_in_a_selection_are_no_names_unless_it_is_said(doubtful: str, tmp_path: Path) -> None:
    """They were dropped without a word: only a model knows that there are products."""
    with pytest.raises(UsageError, match=r"does not say whether .* is spelled as beside products"):
        starred(tmp_path, ["b", doubtful])


def test_products_in_a_selection_keep_both_factors(tmp_path: Path) -> None:
    assert starred(tmp_path, ["a\\**aZ"], products=True) == b"1 a*:1 aZ:2\n0 a*:4\n"
    assert starred(tmp_path, ["a\\*", "b"], products=True) == b"1 a*:1 b:3\n0 a*:4\n"
    with pytest.raises(UsageError, match=r"'b.a' is neither a feature nor a product of two"):
        starred(tmp_path, ["b*a"], products=True)


def test_stars_in_names_of_a_selection_without_products(tmp_path: Path) -> None:
    """One name that no run with products writes tells what the others are."""
    assert starred(tmp_path, ["a*", "aZ"], products=False) == b"1 a*:1 aZ:2\n0 a*:4\n"
    for stranger in ("***", "b*a", "a\\b", "b\\"):
        assert starred(tmp_path, ["a*", stranger]) == b"1 a*:1\n0 a*:4\n"
