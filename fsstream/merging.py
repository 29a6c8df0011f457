"""Models trained on shards of a stream -> one model.

In: models of one backend under equal options. Out: a model with the average of their weights by rows:

    w = sum of rows_s w_s / sum of rows_s

A feature that a shard did not select counts there with weight 0, because that is what the shard predicts
with; of the averages the k largest stay, for each class. It is not what one stream would have
given: each shard has chosen for itself. Backends whose weights mean nothing outside their run refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.errors import UsageError
from fsstream.model import Model, name_classes
from fsstream.selection import Selection
from fsstream.training import find_backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What may differ between shards: it decides where things lie, or nothing.
_FREE = frozenset({"memory"})
_READING = ("kmer", "canonical", "ngrams", "normalize", "keep", "ignore")


def merge(models: Sequence[Model], names: Sequence[str]) -> Model:
    """One model of several; `names` are for messages."""
    _check(models, names)
    rows = np.array([model.rows for model in models], dtype=np.float64)
    shares = rows / rows.sum()
    labels = _labels(models)
    place = {label: number for number, label in enumerate(labels)}
    outputs = max(model.outputs for model in models)
    sums: dict[tuple[int, bytes], float] = {}
    intercepts = np.zeros(max(outputs, len(labels)) if outputs > 1 else 1)
    for model, share in zip(models, shares, strict=True):
        chosen = model.selection
        classes = [place[str(label)] for label in chosen.classes or ()] or [0] * len(chosen)
        for number, name, weight in zip(classes, chosen.raw_names, chosen.weights.tolist(), strict=True):
            sums[number, name] = sums.get((number, name), 0.0) + share * weight
        own = [place[label] for label in model.labels] if model.outputs > 1 else [0]
        intercepts[own] += share * model.intercepts
    merged = Selection(
        [name for _, name in sums],
        np.array(list(sums.values()), dtype=np.float32),
        [number for number, _ in sums] if models[0].selection.classes is not None else None,
    )
    first = models[0]
    return Model(
        _largest(name_classes(merged, labels), first.options.get("k")),
        intercepts.astype(np.float32),
        first.kind,
        first.loss,
        labels,
        first.options,
        first.reading,
        rows=int(rows.sum()),
    )


def _check(models: Sequence[Model], names: Sequence[str]) -> None:
    """Refuse what has no average."""
    first = models[0]
    algo = str(first.options.get("algo"))
    refusal = find_backend(algo).merge_refusal
    if refusal is not None:
        raise UsageError(f"models of {algo} cannot be merged: {refusal}", hint="train one on all shards")
    for model, name in zip(models, names, strict=True):
        if not model.rows:
            raise UsageError(f"{name} does not say how many rows it was learned from", hint="train it again")
        for what, ours, theirs in _differences(first, model):
            raise UsageError(
                f"{names[0]} and {name} differ in {what}: {ours!r} and {theirs!r}",
                hint="shards are trained with equal options",
            )


def _differences(first: Model, other: Model) -> list[tuple[str, Any, Any]]:
    pairs: list[tuple[str, Any, Any]] = [
        ("what is predicted", first.kind, other.kind),
        ("loss", first.loss, other.loss),
    ]
    if first.kind == "binary":
        pairs.append(("labels", list(first.labels), list(other.labels)))
    pairs += _entries(first.options, other.options, [key for key in first.options if key not in _FREE])
    pairs += _entries(first.reading, other.reading, _READING)
    return [pair for pair in pairs if pair[1] != pair[2]]


def _entries(ours: Mapping[str, Any], theirs: Mapping[str, Any], keys: Sequence[str]) -> list[Any]:
    def plain(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    return [(f"--{key.replace('_', '-')}", plain(ours.get(key)), plain(theirs.get(key))) for key in keys]


def _labels(models: Sequence[Model]) -> tuple[str, ...]:
    """All labels, in order of first appearance."""
    return tuple(dict.fromkeys(label for model in models for label in model.labels))


def _largest(selection: Selection, k: int | None) -> Selection:
    """The k largest |weight| of each class; what averages to 0 is no feature."""
    taken: dict[Any, int] = {}
    kept = []
    for index in selection.order:
        label = None if selection.classes is None else selection.classes[index]
        if selection.weights[index] and (k is None or taken.get(label, 0) < k):
            taken[label] = taken.get(label, 0) + 1
            kept.append(index)
    classes = None if selection.classes is None else [str(selection.classes[index]) for index in kept]
    return Selection([selection.raw_names[index] for index in kept], selection.weights[kept], classes)
