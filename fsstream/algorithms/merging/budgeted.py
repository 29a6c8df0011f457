"""The learners on a budget: sums over rows are added, weights averaged, and who is kept decided anew.

In: the states of the kernels of B-ARDA, B-AMD, OFS and SOFS. Out: one state.

    b-arda   sums of gradients and of their squares: what one learner would hold that was given these
             gradients, each of which was taken at its own shard's weights
    b-amd    weights are averaged, squares added
    ofs      weights are averaged
    sofs     weights are averaged, precisions added (a feature begins with precision 1); of the features that
             have a weight in some shard those of the largest precision keep it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.merging.shards import Features
from fsstream.algorithms.merging.sketched import hand_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream._native import CountMin, CountSketch
    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]


def b_arda(
    shards: Shards, *, k: int, delta: float, weighted: bool, stores: tuple[CountSketch, CountMin] | None
) -> State:
    """rate: logs and rows that eta is found from, and tau, which is lambda eta t."""
    features = Features.union(shards)
    rate = shards.total("rate")
    rate[2] = shards.total([state["rate"][2:] for state in shards.states])[0]
    each = {name: [state[name] for state in shards.states] for name in ("sums", "squares")}
    others: dict[str, list[Any]] = {name: [0.0] * len(shards.states) for name in each}
    cells = {"sum_cells": np.empty(0, np.float32), "square_cells": np.empty(0, np.float32)}
    if stores is not None:
        for name, column, store in _beside(stores):
            for i, state in enumerate(shards.states):
                store.fill(state[name])
                others[column][i] = store.query(features.keys)
            store.fill(shards.total(name).astype(np.float32))
    bias = {name: shards.total([own[:1] for own in each[name]]) for name in each}
    own = {
        name: shards.total([features.spread(i, v[1:], others[name][i]) for i, v in enumerate(each[name])])
        for name in each
    }
    kept = np.arange(len(features.keys))
    if stores is not None:
        spread = delta + np.sqrt(own["squares"])
        pull = np.abs(own["sums"]) * (np.sqrt(spread) if weighted else 1.0)
        kept, left = features.best(pull / (rate[2] + spread), 2 * k)
        hand_over(stores[0], features.keys[left], own["sums"][left])
        stores[1].raise_to(features.keys[left], own["squares"][left].astype(np.float32))
        cells = {name: store.cells() for name, _, store in _beside(stores)}
    return {
        **features.arrays(kept),
        "sums": np.concatenate([bias["sums"], own["sums"][kept]]),
        "squares": np.concatenate([bias["squares"], own["squares"][kept]]),
        "rate": rate,
        "steps": shards.count("steps"),
        "collisions": shards.count("collisions"),
        **cells,
    }


def _beside(
    stores: tuple[CountSketch, CountMin],
) -> tuple[tuple[str, str, CountSketch], tuple[str, str, CountMin]]:
    """The cells of each sketch, what they hold, and the sketch."""
    return ("sum_cells", "sums", stores[0]), ("square_cells", "squares", stores[1])


def b_amd(shards: Shards, *, k: int, delta: float, weighted: bool, squares_of: CountMin | None) -> State:
    """The members come first among the keys. bias: weight, squares, logs and rows that eta is found from."""
    features = Features.union(shards)
    weights, squares = [], []
    for i, state in enumerate(shards.states):
        missing: Any = 0.0
        if squares_of is not None:
            squares_of.fill(state["cells"])
            missing = squares_of.query(features.keys)
        own = np.zeros(len(state["keys"]))
        own[: len(state["weights"])] = state["weights"]
        weights.append(features.spread(i, own))
        squares.append(features.spread(i, state["squares"], missing))
    mean, total = shards.mean(weights), shards.total(squares)
    scores = np.abs(mean) * (delta + np.sqrt(total) if weighted else 1.0)
    members, left = features.best(np.where(mean != 0, scores, -1.0), min(k, int(np.count_nonzero(mean))))
    cells = np.empty(0, np.float32)
    if squares_of is not None:
        squares_of.fill(shards.total("cells").astype(np.float32))
        squares_of.raise_to(features.keys[left], total[left].astype(np.float32))
        cells, left = squares_of.cells(), left[:0]
    order = np.concatenate([members, left])
    bias = shards.total("bias")
    bias[0] = shards.mean([state["bias"][0] for state in shards.states])
    return {
        **features.arrays(order),
        "squares": total[order],
        "weights": mean[members],
        "scores": scores[members],
        "bias": bias,
        "cells": cells,
        "collisions": shards.count("collisions"),
    }


def ofs(shards: Shards, *, k: int) -> State:
    """numbers: intercept, scale, |v|^2, logs and rows that eta is found from."""
    features = Features.union(shards)
    weights = shards.mean(
        [features.spread(i, state["weights"] * state["numbers"][1]) for i, state in enumerate(shards.states)]
    )
    kept, _ = features.best(np.abs(weights), k)
    numbers = shards.total("numbers")
    numbers[0] = shards.mean([state["numbers"][0] for state in shards.states])
    numbers[1], numbers[2] = 1.0, float(weights[kept] @ weights[kept])
    return {
        **features.arrays(kept),
        "weights": weights[kept],
        "numbers": numbers,
        "steps": shards.count("steps"),
        "collisions": shards.count("collisions"),
    }


def sofs(shards: Shards, *, k: int) -> State:
    """The first weight and precision are the intercept's; members are places among the keys."""
    features = Features.union(shards)
    weights = []
    for i, state in enumerate(shards.states):
        own = np.zeros(len(state["keys"]))
        own[state["members"].astype(np.int64)] = state["weights"][1:]
        weights.append(features.spread(i, own))
    mean = shards.mean(weights)
    gained = shards.total(
        [features.spread(i, state["precisions"][1:] - 1.0) for i, state in enumerate(shards.states)]
    )
    members, _ = features.best(np.where(mean != 0, gained, -1.0), min(k, int(np.count_nonzero(mean))))
    bias = shards.mean([state["weights"][0] for state in shards.states])
    bias_gained = shards.total([state["precisions"][0] - 1.0 for state in shards.states])
    return {
        **features.arrays(np.arange(len(features.keys))),
        "precisions": 1.0 + np.concatenate([[bias_gained], gained]),
        "members": members.astype(np.uint64),
        "weights": np.concatenate([[bias], mean[members]]),
        "collisions": shards.count("collisions"),
    }
