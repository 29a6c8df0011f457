"""`--format auto`, and what a format needs to know of the beginning of the stream.

In: the input options and the first records, one Block a source. Out: the format and its options.
A function of the bytes of the first 10,000 records, never of how the stream was cut.

In this order: columns when there are `--targets`; `>` fasta; `@` and three lines that go with it,
fastq; `{` jsonl; with `--kmer`, lines `label<TAB>DNA` seq; a `|` behind the label vw; fields
`digits:number` libsvm; fields `...:number` pairs; else tokens. Lines are of a kind when most of them
are, and fields when all are. A few fields that are neither do not make words of numbers: as long as
most are `...:number` the others will be reported as errors.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream._native import line_shapes
from fsstream.config import KMER_FORMATS, TEXT_TABLES
from fsstream.errors import UsageError
from fsstream.formats import settle
from fsstream.formats.options import FormatOptions
from fsstream.formats.sequences import read_labels
from fsstream.text import without_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.config import InputOptions
    from fsstream.sources import Block

TABLE_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_NOTHING = "there is nothing"  # to say which options make sense: what reads it tells that there is no data
PACKED = {".gz", ".bz2", ".xz", ".zst"}


@dataclass(frozen=True)
class Decided:
    """The format of a stream, why it was taken for that, and the options of its parser."""

    name: str
    why: str
    options: FormatOptions
    hint: str | None = None  # what the user may have meant instead


@dataclass(frozen=True)
class Shapes:
    """How many of the lines, and of the fields behind their labels, look like what."""

    lines: int  # with anything in them
    sequences: int  # label<TAB>DNA
    barred: int  # with a bar behind the label
    fields: int
    named: int  # ...:number
    indexed: int  # digits:number, a part of them


def decide(options: InputOptions, beginning: Sequence[Block]) -> Decided:
    """The format as asked for, or as the first records look; with the options of its parser."""
    name, why, hint = options.format, "as asked for", None
    if options.format == "auto":
        name, why = detect(options, beginning)
        hint = table_hint(options.inputs)
        if why != _NOTHING:
            dataclasses.replace(options, format=name).check()  # an option it has no use for is an error
    format_options = FormatOptions(
        ngrams=options.ngrams,
        kmer=options.kmer,
        canonical=options.canonical,
        labels=read_labels(options.labels) if options.labels else {},
        no_header=options.no_header,
        label_column=options.label_column,
        numeric=options.numeric,
        categorical=options.categorical,
        missing=options.missing,
        needs_labels=options.needs_labels,
        normalize=options.normalize,
        keep=options.keep,
        ignore=options.ignore,
    )
    return Decided(name, why, settle(name, format_options, beginning), hint)


def detect(options: InputOptions, beginning: Sequence[Block]) -> tuple[str, str]:
    """The format the first records look like, and what was seen."""
    if options.targets is not None:
        return "columns", "--targets is given"
    by_mark = _by_first_byte(beginning, options.kmer is not None)
    if by_mark is not None:
        return by_mark
    shapes = _shapes(beginning)
    if not shapes.lines:
        return "libsvm" if options.kmer is None else "seq", _NOTHING
    if options.kmer is not None:
        if 2 * shapes.sequences > shapes.lines:
            return "seq", f"{shapes.sequences} of {shapes.lines} lines are label<TAB>DNA"
        raise UsageError(
            "--kmer is given, but the stream does not look like sequences",
            hint="FASTA begins with '>', FASTQ with '@', other lines are label<TAB>DNA; or say --format",
        )
    if 2 * shapes.barred > shapes.lines:
        return "vw", f"{shapes.barred} of {shapes.lines} lines have a '|' behind the label"
    return _by_fields(shapes)


def shown(usual: InputOptions, beginning: Sequence[Block]) -> str:
    """The format of a stream that is to be read as usual: another one where the first records leave no doubt.

    Anything may be words or the cells of a table, and what is no format at all has to be told as bad.
    """
    form = usual.format
    if usual.targets is not None:
        return "columns"
    if form in ("tokens", *TEXT_TABLES) or not beginning:
        return form
    try:
        found, _ = detect(usual, beginning)
    except UsageError:
        return form
    if form in ("columns", "parquet"):  # neither is recognised by its lines
        return found
    if found in {*KMER_FORMATS, "jsonl", "vw"}:
        return found if (found in KMER_FORMATS) == (form in KMER_FORMATS) else form
    shapes = _shapes(beginning)
    numbers = 2 * shapes.named > shapes.fields
    if form == "libsvm":
        return "pairs" if numbers and 2 * shapes.indexed < shapes.fields else form
    return found if numbers and form in ("vw", "jsonl") else form


def table_hint(inputs: Sequence[str]) -> str | None:
    """What to say when the name of a file ends like a table's."""
    for path in inputs:
        suffixes = [suffix for suffix in Path(path).suffixes if suffix not in PACKED]
        form = TABLE_SUFFIXES.get(suffixes[-1].lower()) if suffixes else None
        if form is not None:
            return f"{path} is named like a table, and tables are read when asked for: --format {form}"
    return None


def _by_first_byte(beginning: Sequence[Block], sequences: bool) -> tuple[str, str] | None:
    """`sequences`: that it is some is known; then `@` needs no proof, and what is wrong will be told."""
    if not beginning:
        return None
    data = beginning[0].data
    first = without_mark(bytes(data[:4096])).lstrip()
    if first.startswith(b">"):
        return "fasta", "the first record begins with '>'"
    if first.startswith(b"{"):
        return "jsonl", "the first record begins with '{'"
    if first.startswith(b"@") and (sequences or _is_fastq(without_mark(bytes(data)).lstrip())):
        return "fastq", "the first record begins with '@'"
    return None


def _is_fastq(text: bytes) -> bool:
    lines = [line.rstrip(b"\r") for line in text.split(b"\n", 4)[:4]]
    return len(lines) == 4 and lines[2].startswith(b"+") and len(lines[1]) == len(lines[3])


def _shapes(beginning: Sequence[Block]) -> Shapes:
    counts = [line_shapes(block.data) for block in beginning]
    return Shapes(*map(sum, zip(*counts, strict=True))) if counts else Shapes(0, 0, 0, 0, 0, 0)


def _by_fields(shapes: Shapes) -> tuple[str, str]:
    if not shapes.fields:
        return "libsvm", "there are labels only"
    if 2 * shapes.named > shapes.fields:
        name, shape = ("libsvm", "index") if shapes.indexed == shapes.named else ("pairs", "name")
        return name, f"{shapes.named} of {shapes.fields} fields are {shape}:number"
    return "tokens", f"only {shapes.named} of {shapes.fields} fields are name:number"
