"""A stream reduced to selected features, in its own format or another.

In: a selection or a model, and a stream. Out: text, a batch at a time; labels, tags and weights stay.
Of a product of two features both factors are kept, of the parts of an expanded feature that feature, so
that the model scores the reduced stream alike.
"""

from __future__ import annotations

import dataclasses
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from fsstream._native import key_of_name
from fsstream.apply import as_trained
from fsstream.bad_records import row_fault
from fsstream.config import KMER_FORMATS
from fsstream.errors import UsageError, no_data
from fsstream.expansion import Expansion
from fsstream.formats.writing import Kept, Source, make_writer, without_place
from fsstream.kmers import first_stranger, kmer_key, look_canonical, shown_kmers
from fsstream.pairs import is_spelled, split_pair
from fsstream.reading import RowsReading, make_reading
from fsstream.rows import Rows
from fsstream.selection_reader import load_selection
from fsstream.text import to_text
from fsstream.training import predicts_with_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream._native import RowWriter
    from fsstream.apply_options import TransformOptions
    from fsstream.config import InputOptions
    from fsstream.formats.options import FormatOptions
    from fsstream.model import Model
    from fsstream.parquet_writing import ParquetWriter
    from fsstream.reading import AnyReading
    from fsstream.selection import Selection


class Transform:
    """Reduces one stream."""

    def __init__(self, options: TransformOptions) -> None:
        selection, model = load_selection(options.model)
        self._names = kept_names(selection, model, options.products)
        if model is not None and options.format == "auto" and model.reading.get("format") == "columns":
            # Lines of features look like rows: they are taken for what the model was trained on.
            options = dataclasses.replace(options, format="columns")
        self._options = options
        self._usual: InputOptions | None = None
        if model is not None:
            # The values stay as they are: whoever reads the reduced rows scales them, not we.
            self._usual = dataclasses.replace(as_trained(model, options), normalize=options.normalize)

    def names_file(self) -> bytes:
        """Line i is the name of the feature numbered i."""
        for name in self._names:
            if b"\n" in name:
                raise UsageError(f"--names: the feature {to_text(name)!a} holds a line end")
        return b"".join(name + b"\n" for name in self._names)

    def texts(self) -> Iterator[bytes]:
        """The reduced stream, piece by piece."""
        with closing(make_reading(self._options, usual=self._usual)) as reading:
            target = reading.format if self._options.to == "same" else self._options.to
            if isinstance(reading, RowsReading) and target == reading.format:
                yield from self._parquet(reading)
                return
            source = Source(reading.format, reading.format_options)
            strangers = without_place(self._names, source)
            if 0 < len(strangers) < len(self._names):  # that none was met is told at the end
                reading.note(
                    f"{len(strangers)} of {len(self._names)} selected features are none that this stream can "
                    f"have, read as {reading.format}: {to_text(strangers[0])!a}; is it read as for select?"
                )
            if self._seems_of_both_strands(source):
                reading.note(
                    "all k-mers of the selection are canonical: were they selected with --canonical? "
                    "With --no-canonical those of the other strand are not found"
                )
            beginning, writer = make_writer(target, self._kept(source), source)
            yield beginning
            rows = 0
            for parsed in reading.batches():
                rows += parsed.batch.rows
                text, problem = writer.write(parsed.batch)
                yield text
                if problem is not None:
                    row, expected, hint = problem
                    raise row_fault(parsed.block, parsed.batch, row, f"{expected} for --to {target}", hint)
            if not rows:
                raise no_data()
            self._tell(reading, writer, target)

    def _parquet(self, reading: RowsReading) -> Iterator[bytes]:
        """Columns as they came, but for what was not selected of them."""
        from fsstream.parquet import ParquetSource
        from fsstream.parquet_writing import ParquetWriter

        assert isinstance(reading.input, ParquetSource)
        if self._options.names or self._options.normalize != "none":
            option = "--names" if self._options.names else "--normalize"
            raise UsageError(f"{option}: columns of Parquet stay as they are", hint="--to csv, or other text")
        reading.input.keep_tables = True
        writer = ParquetWriter(reading.input.layout, reading.wanted(self._names))
        count = 0
        for parsed in reading.batches():
            assert isinstance(parsed, Rows)
            count += len(parsed)
            yield writer.write(parsed)
        if not count:
            raise no_data()
        yield writer.finish()
        self._tell(reading, writer, reading.format)

    def _kept(self, source: Source) -> Kept:
        names, form = self._names, source.format
        if form in KMER_FORMATS:
            self._check_kmers(source.options)
        numbered = [b"%d" % number for number in range(1, len(names) + 1)]
        key_of = kmer_key if form in KMER_FORMATS else key_of_name
        keys = np.array([key_of(name) for name in names], dtype=np.uint64)
        return Kept(keys, names, numbered if self._options.names else names)

    def _check_kmers(self, options: FormatOptions) -> None:
        """Others than those of the stream, whose keys they might have: its letters are no part of a key."""
        name = first_stranger(self._names, options.kmer, options.canonical)
        if name is not None:
            raise UsageError(
                f"the selection holds {to_text(name)!a}, and the stream "
                f"{shown_kmers(options.kmer, options.canonical)}",
                hint="see --kmer, --canonical and --format: the stream is read as it was for select",
            )

    def _seems_of_both_strands(self, source: Source) -> bool:
        """Whether a selection, which does not say so, looks as if it were, and is looked for on one."""
        one_strand = source.format in KMER_FORMATS and not source.options.canonical
        return one_strand and self._usual is None and look_canonical(self._names)

    def _tell(self, reading: AnyReading, writer: RowWriter | ParquetWriter, target: str) -> None:
        if self._options.quiet:
            return
        if not writer.entries and self._names:
            reading.note(
                "no selected feature was met: is the stream read as it was when they were selected? "
                f"It was taken for {reading.format}"
            )
        if writer.tags_left_out:
            reading.note(f"{writer.tags_left_out} tags are left out: {target} has none, --to vw keeps them")
        if reading.bad.count:
            print(f"fsstream: {reading.bad.count} bad records skipped", file=sys.stderr)


def kept_names(selection: Selection, model: Model | None, products: bool | None = None) -> list[bytes]:
    """The distinct features in output order; the factors of products, the inputs of expansions."""
    names = [selection.raw_names[index] for index in selection.order]
    if model is not None and products is not None:
        raise UsageError("--products and --no-products are for selections: a model says it itself")
    if model is not None and isinstance(model.basis, Expansion):
        return model.basis.inputs_of(names)
    if model is not None and model.basis is not None:
        raise UsageError(
            f"the features of {model.basis.kernel} kernels are made of all inputs: none can be left out",
            hint="`fsstream inspect` tells which inputs matter; select those with another backend",
        )
    if model is not None and predicts_with_state(model):
        raise UsageError(f"{model.options['algo']} selects nothing: there is nothing to reduce the stream to")
    if _holds_products(names, products) if model is None else model.has_products:
        names = [factor for name in names for factor in split_pair(name)]
    return list(dict.fromkeys(names))


def _holds_products(names: list[bytes], told: bool | None) -> bool:
    """Whether the names of a selection are spelled as beside products, where `a*b` is one of them.

    One name that no run with products writes shows that there was none; else nothing in them does.
    """
    stranger = next((name for name in names if not is_spelled(name)), None)
    if told and stranger is not None:
        raise UsageError(f"--products: {to_text(stranger)!a} is neither a feature nor a product of two")
    if told is not None or stranger is not None:
        return bool(told)
    doubtful = next((name for name in names if b"*" in name or b"\\" in name), None)
    if doubtful is None:
        return False
    raise UsageError(
        f"the selection does not say whether {to_text(doubtful)!a} is spelled as beside products of features",
        hint="--products if they were possible (interactions=2, degree=2), else --no-products; "
        "with the model instead of the selection it is known",
    )
