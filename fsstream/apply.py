"""A model applied to a stream: predictions and evaluations, batch by batch."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import LabelMap
from fsstream.bad_records import row_fault
from fsstream.errors import UsageError, no_data
from fsstream.metrics import make_metrics
from fsstream.output import json_line
from fsstream.reading import make_reading
from fsstream.rows import RowSource
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.config import InputOptions
    from fsstream.model import Model
    from fsstream.pipeline import Parsed
    from fsstream.reading import AnyReading
    from fsstream.sources import Source


# What a model remembers of how its input was read, and a stream to be scored takes over.
_READING_FIELDS = (
    "format", "ngrams", "kmer", "canonical", "label_column", "no_header", "numeric", "categorical",
    "missing", "normalize", "keep", "ignore",
)  # fmt: skip


def as_trained(model: Model, options: InputOptions) -> InputOptions:
    """The options with what was not given as it was when the model was trained."""
    fields = {field.name: field.default for field in dataclasses.fields(options)}
    recorded = {**model.options, **model.reading}
    takes_over = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in recorded.items()
        if name in fields and name in _READING_FIELDS and getattr(options, name) == fields[name]
    }
    reading = dataclasses.replace(options, **takes_over)  # type: ignore[arg-type]
    if reading.kmer is not None:
        model.check_kmers(reading.kmer, reading.canonical, what="the model does not fit")
    return reading


def evaluate_model(model: Model, options: InputOptions) -> dict[str, Any]:
    """Measures of the model on a labelled stream."""
    metrics = make_metrics(model.kind, model.loss, model.labels)
    for parsed, scores in _scored(model, options, labelled=True):
        metrics.add(parsed.batch, scores)
    result = metrics.result()
    if not result["rows"]:
        raise no_data()
    return result


def predictions(model: Model, options: InputOptions) -> Iterator[bytes]:
    """JSON Lines, a batch at a time: score, probability where the loss gives one, class, tag."""
    rows = 0
    for parsed, scores in _scored(model, options, labelled=False):
        rows += parsed.batch.rows
        yield b"".join(map(json_line, _records(model, parsed.batch, scores)))
    if not rows:
        raise no_data()


def score_batches(
    model: Model, options: InputOptions, source: Source | RowSource | None = None
) -> Iterator[NDArray[np.float32]]:
    """The scores of all rows, some at a time: rows x outputs."""
    for _, scores in _scored(model, options, labelled=False, source=source):
        yield scores.copy()


def decisions(model: Model, scores: NDArray[np.float32]) -> NDArray[Any]:
    """What scores mean: numbers, or the places of labels."""
    if model.kind == "numbers":
        return scores[:, 0]
    return (scores[:, 0] > 0).astype(int) if model.kind == "binary" else scores.argmax(axis=1)


def _scored(
    model: Model, options: InputOptions, *, labelled: bool, source: Source | RowSource | None = None
) -> Iterator[tuple[Parsed, NDArray[np.float32]]]:
    predictor = model.predictor()
    labels = LabelMap(model.kind, [to_bytes(label) for label in model.labels], growing=False)
    rows, met = 0, False
    with closing(make_reading(options, source, usual=as_trained(model, options))) as reading:
        if labelled and reading.format == "columns" and options.targets is None:
            raise UsageError("--targets is missing", hint="a file with one label a line, for each sample")
        if isinstance(source, RowSource):
            model.check_kmers(*(reading.kmers or (None, None)), what="the model does not fit")
        for parsed, batch in _rows(model, options, reading):
            labels.resolve(parsed.batch)
            if labelled:
                _check_labels(model, parsed)
            scores = predictor.predict(batch)
            rows += parsed.batch.rows
            met = met or bool((scores != model.intercepts).any())
            yield parsed, scores
        if source is None and rows and not met and len(model.selection):
            reading.note(
                "no feature of the model was met: is the stream read as it was in training? "
                f"It was taken for {reading.format}"
            )


def _rows(model: Model, options: InputOptions, reading: AnyReading) -> Iterator[tuple[Parsed, Batch]]:
    """What is told of some rows, and what is scored of them; the rows of `columns` are their samples."""
    if reading.format != "columns":
        for parsed in reading.batches():
            yield parsed, parsed.batch
        return
    from fsstream.samples import sample_rows

    if reading.format_options.normalize != "none":
        raise UsageError("--normalize is of whole rows, and a line of columns is a feature")
    yield from sample_rows(reading, options.targets, model.known_keys())


def _check_labels(model: Model, parsed: Parsed) -> None:
    """Every row has a label; with two classes or numbers it must be one the model can be right about."""
    batch = parsed.batch
    for row in np.flatnonzero(np.isnan(batch.targets)).tolist():
        label = batch.labels()[row]
        if not label:
            raise row_fault(parsed.block, batch, row, "a label", "only labelled rows can be evaluated")
        if model.kind != "classes":
            expected = " or ".join(model.labels) if model.labels else "a number as label"
            raise row_fault(parsed.block, batch, row, expected, "the model was trained on these")


def _records(model: Model, batch: Batch, scores: NDArray[np.float32]) -> Iterator[dict[str, Any]]:
    tags = batch.tags()
    columns = _columns(model, scores)
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        record = dict(zip(columns, values, strict=True))
        if tags and tags[row]:
            record["tag"] = to_text(tags[row])
        yield record


def _columns(model: Model, scores: NDArray[np.float32]) -> dict[str, Any]:
    if model.kind == "numbers":
        return {"score": scores[:, 0]}
    best = decisions(model, scores)
    if model.kind == "binary":
        columns: dict[str, Any] = {"score": scores[:, 0]}
        if model.loss == "logistic":
            columns["probability"] = (1 / (1 + np.exp(-scores[:, 0].astype(np.float64)))).astype(np.float32)
    else:
        rows = np.arange(len(scores))
        columns = {"score": scores[rows, best]}
        if model.loss == "softmax":
            shares = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
            columns["probability"] = (shares[rows, best] / shares.sum(axis=1)).astype(np.float32)
    columns["class"] = [model.labels[index] for index in best]
    return columns
