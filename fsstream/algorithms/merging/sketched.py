"""Descent over a store of weights: sketches and tables are averaged, active features read from the merged.

In: the states of `Sgd` kernels. Out: one state. A feature that is active in one shard and not in another has
there what the sketch says of it. Where more are active than there is room for, the k largest stay and the
others hand over to the sketch what it does not know of them, as in the kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.merging.shards import Features
from fsstream.errors import UsageError
from fsstream.state import under

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fsstream._native import BlockSketch, CountSketch
    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]
    Sketch = CountSketch | BlockSketch
    Store = Callable[[Shards], State]

ONE = np.ones(1)
_COUNTS = ("dropped", "prunes", "collisions")

# Places in the array `sgd` (native/learn/sgd.cpp) and in `scales` (native/learn/sketched_weights.cpp), where
# the third number is the scale of the exact weights or, of estimated ones, what is owed to the sketch.
INTERCEPT, LARGEST_TARGET = 0, 3
SKETCH_SCALE, THRESHOLD, OWN_SCALE = 0, 1, 2


def descent(shards: Shards, store: Store) -> State:
    """The numbers of the descent, and what the store makes of its own."""
    numbers = [state["sgd"] for state in shards.states]
    merged = shards.total(numbers)
    merged[INTERCEPT] = shards.mean([number[INTERCEPT] for number in numbers])
    merged[LARGEST_TARGET] = max(number[LARGEST_TARGET] for number in numbers)
    return {"sgd": merged, "rows": shards.count("rows"), **store(shards)}


def class_descent(shards: Shards, store: Store, classes: int) -> State:
    """One store a class, matched by label; a shard that never met a class has no weights for it."""
    merged = {"descent": shards.total("descent"), "rows": shards.count("rows")}
    intercepts = []
    for state, own in zip(shards.states, shards.classes, strict=True):
        spread = np.zeros(classes)
        spread[own] = state["intercepts"]
        intercepts.append(spread)
    merged["intercepts"] = shards.mean(intercepts)
    for number in range(classes):
        part = store(_of_class(shards, number))
        merged |= {f"{number}/{name}": array for name, array in part.items()}
    return merged


def _of_class(shards: Shards, number: int) -> Shards:
    """The stores of one class; empty ones where it was never met."""
    parts: list[Any] = []
    for state, own in zip(shards.states, shards.classes, strict=True):
        place = np.flatnonzero(own == number).tolist()
        parts.append(under(f"{place[0]}/", state) if place else None)
    some = next(part for part in parts if part is not None)
    nothing = {name: array[:0] for name, array in some.items()}
    nothing |= {name: np.zeros_like(some[name]) for name in _COUNTS if name in some}
    nothing["scale"] = ONE
    return shards.with_states([nothing if part is None else part for part in parts])


def table(shards: Shards) -> State:
    """Feature hashing: the mean of the tables, and nothing else."""
    tables = [state["table"] * state["scale"][0] for state in shards.states]
    return {"table": shards.mean(tables).astype(np.float32), "scale": ONE}


def thresholded(k: int) -> Store:
    """iht: the k largest of the averaged weights."""

    def store(shards: Shards) -> State:
        features = Features.union(shards)
        weights = shards.mean(_spread(shards, features, "weights"))
        kept, _ = features.best(np.abs(weights), k)
        return {**_seated(features, shards, kept, weights), "dropped": shards.count("dropped")}

    return store


def accumulated(k: int, room: int) -> Store:
    """batch-iht: all weights of the tables; the k largest, when that is more than a table holds."""

    def store(shards: Shards) -> State:
        features = Features.union(shards)
        weights = shards.mean(_spread(shards, features, "weights"))
        kept = np.arange(len(weights))
        if len(kept) >= room:
            kept, _ = features.best(np.abs(weights), k)
        seated = _seated(features, shards, kept, weights.astype(np.float32))
        return {**seated, "prunes": shards.count("prunes")}

    return store


def weight_median(k: int, sketch: CountSketch) -> Store:
    """awm: the k largest beside the mean of the sketches."""

    def store(shards: Shards) -> State:
        features = Features.union(shards)
        cells = [state["sketch"] * state["scale"][0] * state["memory_scale"][0] for state in shards.states]
        others = _asked(features, sketch, cells)
        weights = shards.mean(_spread(shards, features, "weights", others))
        sketch.fill(shards.mean(cells).astype(np.float32))
        kept, left = features.best(np.abs(weights), k)
        hand_over(sketch, features.keys[left], weights[left])
        dropped = shards.count("dropped")
        return {
            **_seated(features, shards, kept, weights),
            "dropped": dropped,
            "sketch": sketch.cells(),
            "memory_scale": ONE,
        }

    return store


def sketched(k: int, sketch: Sketch, *, exact: bool) -> Store:
    """mission with constant steps: the mean of the sketches, and the candidates of all."""

    def store(shards: Shards) -> State:
        if not exact and any(state["scales"][OWN_SCALE] != 1 for state in shards.states):
            raise UsageError("what gamma takes is still owed to the sketch", hint="merge without gamma")
        features = Features.union(shards, "active_")
        cells = [state["sketch"] * state["scales"][SKETCH_SCALE] for state in shards.states]
        merged = shards.mean(cells).astype(np.float32)
        if exact:
            true = [state["active_weights"] * state["scales"][OWN_SCALE] for state in shards.states]
            others = _asked(features, sketch, cells)
            weights = shards.mean([features.spread(i, own, others[i]) for i, own in enumerate(true)])
            sketch.fill(merged)
        else:
            sketch.fill(merged)
            weights = sketch.query(features.keys).astype(np.float64)
        unit = OWN_SCALE if exact else SKETCH_SCALE
        threshold = min(state["scales"][THRESHOLD] * state["scales"][unit] for state in shards.states)
        kept, left = np.arange(len(weights)), np.empty(0, np.int64)
        if len(weights) >= 2 * k:
            kept, left = features.best(np.abs(weights), k)
            threshold = float(np.abs(weights[kept]).min())
        if exact:
            hand_over(sketch, features.keys[left], weights[left])
        return {
            **features.arrays(kept, "active_"),
            "active_weights": (weights[kept] if exact else np.zeros(len(kept))).astype(np.float32),
            "sketch": sketch.cells(),
            "scales": np.array([1.0, threshold, 1.0, 0.0]),
            "prunes": shards.count("prunes"),
            "collisions": shards.count("collisions"),
        }

    return store


def hand_over(sketch: Sketch, keys: NDArray[np.uint64], amounts: NDArray[np.float64]) -> None:
    """The sketch gets what it does not know, one key after the other, so that asking gives the amounts."""
    for place, key in enumerate(np.split(keys, len(keys)) if len(keys) else []):
        sketch.add(key, amounts[place : place + 1].astype(np.float32) - sketch.query(key))


def _asked(features: Features, sketch: Sketch, cells: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
    answers = []
    for own in cells:
        sketch.fill(own.astype(np.float32))
        answers.append(sketch.query(features.keys))
    return answers


def _spread(
    shards: Shards, features: Features, name: str, others: Sequence[NDArray[Any]] | None = None
) -> list[NDArray[np.float64]]:
    """The weights of each shard in their true size, in the places of the union."""
    return [
        features.spread(shard, state[name] * state["scale"][0], 0.0 if others is None else others[shard])
        for shard, state in enumerate(shards.states)
    ]


def _seated(
    features: Features, shards: Shards, kept: NDArray[np.int64], weights: NDArray[np.float64]
) -> State:
    return {
        **features.arrays(kept),
        "weights": weights[kept],
        "scale": ONE,
        "collisions": shards.count("collisions"),
    }
