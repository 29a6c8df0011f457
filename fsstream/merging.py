"""Models trained on shards of a stream -> one model.

In: models of one backend under equal options. Out, when all hold their learner's state (`--with-state`):
a model, with state, of one learner that took over all of theirs: weights and sketches averaged by rows,
counts, moments and sums of gradients added, the active features found anew (algorithms/merging). Else a model
with the average of the selections by rows:

    w = sum of rows_s w_s / sum of rows_s

A feature that a shard did not select counts there with weight 0, because that is what the shard predicts
with; of the averages the k largest stay, for each class. Neither is what one stream would have
given: each shard has learned, and chosen, for itself. Backends whose weights mean nothing outside their run
refuse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.merging.shards import Shards
from fsstream.errors import UsageError, fitting
from fsstream.model import Model, name_classes
from fsstream.selection import Selection
from fsstream.task import canonical_order
from fsstream.training import differing, find_backend, learner_like, model_of_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

_READING = ("kmer", "canonical", "ngrams", "normalize", "keep", "ignore")


def merge(models: Sequence[Model], names: Sequence[str]) -> Model:
    """One model of several; `names` are for messages."""
    stateful = [model.state is not None for model in models]
    _check(models, names, of_states=all(stateful))
    if all(stateful):
        return _learners(models, names)
    if any(stateful):
        with_state, without = names[stateful.index(True)], names[stateful.index(False)]
        raise UsageError(
            f"{with_state} holds its learner's state, and {without} does not",
            hint="train all with --with-state, or none",
        )
    with fitting("a model"):
        return _selections(models)


def _learners(models: Sequence[Model], names: Sequence[str]) -> Model:
    """One learner of the states of several."""
    first = models[0]
    if first.kind == "binary":
        labels = first.state_labels
        for model, name in zip(models, names, strict=True):
            if model.state_labels != labels:
                raise UsageError(
                    f"{names[0]} and {name} met their labels in another order",
                    hint="the first 10,000 rows of a shard should hold both labels: shuffle the stream",
                )
    else:
        labels = _labels([model.state_labels for model in models])
    place = {label: number for number, label in enumerate(labels)}
    classes = [np.array([place[label] for label in model.state_labels], np.int64) for model in models]
    with fitting("a model"):
        learner = learner_like(first, labels)
    shards = Shards([model.state or {} for model in models], [model.rows for model in models], classes)
    with fitting("a model"), np.errstate(divide="raise", over="raise", invalid="raise"):
        learner.merge(shards)
    return model_of_learner(
        learner,
        labels,
        with_state=True,
        kind=first.kind,
        loss=first.loss,
        options=first.options,
        reading=first.reading,
        rows=sum(model.rows for model in models),
    )


def _selections(models: Sequence[Model]) -> Model:
    """The average of what was selected."""
    rows = np.array([model.rows for model in models], dtype=np.float64)
    shares = rows / rows.sum()
    labels = models[0].labels if models[0].kind == "binary" else _labels([model.labels for model in models])
    place = {label: number for number, label in enumerate(labels)}
    outputs = max(model.outputs for model in models)
    parts: dict[tuple[int, bytes], list[float]] = {}  # of sums that are rounded once: in any order the same
    own_intercepts: list[list[float]] = [[] for _ in range(max(outputs, len(labels)) if outputs > 1 else 1)]
    for model, share in zip(models, shares, strict=True):
        chosen = model.selection
        classes = [place[str(label)] for label in chosen.classes or ()] or [0] * len(chosen)
        for number, name, weight in zip(classes, chosen.raw_names, chosen.weights.tolist(), strict=True):
            parts.setdefault((number, name), []).append(share * weight)
        own = [place[label] for label in model.labels] if model.outputs > 1 else [0]
        for number, intercept in zip(own, model.intercepts.tolist(), strict=True):
            own_intercepts[number].append(share * intercept)
    features = sorted(parts)
    merged = Selection(
        [name for _, name in features],
        np.array([math.fsum(parts[feature]) for feature in features], dtype=np.float32),
        [number for number, _ in features] if models[0].selection.classes is not None else None,
    )
    first = models[0]
    return Model(
        _largest(name_classes(merged, labels), first.options.get("k")),
        np.array([math.fsum(own) for own in own_intercepts], dtype=np.float32),
        first.kind,
        first.loss,
        labels,
        first.options,
        first.reading,
        rows=int(rows.sum()),
    )


def _check(models: Sequence[Model], names: Sequence[str], *, of_states: bool) -> None:
    """Refuse what cannot be one."""
    first = models[0]
    algo = str(first.options.get("algo"))
    chosen = find_backend(algo)
    refusal = chosen.state_refusal if of_states else chosen.merge_refusal
    if refusal is not None:
        raise UsageError(
            f"models of {algo} cannot be merged: {refusal}",
            hint="train one on all shards"
            if chosen.state_refusal is not None
            else "train with --with-state: whole learners can be merged",
        )
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
    unequal = [pair for pair in pairs if pair[1] != pair[2]]
    return [
        *unequal,
        *differing(first.options, other.options),
        *differing(first.reading, other.reading, _READING),
    ]


def _labels(labels: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All labels: as every shard has them, else in an order that does not hang on that of the shards."""
    if all(own == labels[0] for own in labels):
        return labels[0]
    return canonical_order({label for own in labels for label in own})


def _largest(selection: Selection, k: int | None) -> Selection:
    """The k largest |weight| of each class; what averages to 0 is no feature."""
    taken: dict[Any, int] = {}
    kept = []
    for index in selection.order:
        label = None if selection.classes is None else selection.classes[index]
        if selection.weights[index] and (k is None or taken.get(label, 0) < k):
            taken[label] = taken.get(label, 0) + 1
            kept.append(index)
    return selection.at(kept)
