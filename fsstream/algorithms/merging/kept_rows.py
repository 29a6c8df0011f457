"""The rows of short shards are those of one short stream, as long as they fit (native/learn/kept_rows.hpp).

In: the states of `Newton` kernels. Out: the rows of all, and the candidates that left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.merging.shards import Features

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import BlockSketch
    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]

ENTRY, ROW = 12, 64  # bytes that the kernel counts
JOINED = ("keys", "values", "targets", "importance")


def rows_of(shards: Shards, room: int) -> State:
    """Of all shards, one after the other; none where a shard has not kept its own or they are too many."""
    if room == 0:
        return {}
    none = {"0/kept": np.zeros(1, dtype=np.uint64)}
    if not all(whole(state) for state in shards.states):
        return none
    joined = {
        f"0/waiting_{name}": np.concatenate([state[f"0/waiting_{name}"] for state in shards.states])
        for name in JOINED
    }
    if ENTRY * len(joined["0/waiting_keys"]) + ROW * len(joined["0/waiting_targets"]) > room:
        return none
    sizes = [np.diff(state["0/waiting_starts"].astype(np.int64)) for state in shards.states]
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.uint64)
    alike = ("naming", "lengths", "names")  # all have keys only
    return {
        "0/kept": np.ones(1, dtype=np.uint64),
        **joined,
        "0/waiting_starts": starts,
        **{f"0/waiting_{name}": shards.states[0][f"0/waiting_{name}"] for name in alike},
    }


def whole(state: Mapping[str, NDArray[Any]]) -> bool:
    """Whether all rows are there; with too little --memory not even that is said."""
    return "0/kept" in state and bool(state["0/kept"][0])


def left_features(
    shards: Shards, features: Features, kept: NDArray[np.int64], sketch: BlockSketch, k: int
) -> State:
    """Of all known by name that are not active any more, the k with the heaviest weights in the sketch."""
    both = shards.with_states([*shards.states, *shards.part("1/").states])
    known = Features.union(both, "active_")
    away = np.flatnonzero(~np.isin(known.keys, features.keys[kept]))
    heaviest = np.argsort(-np.abs(sketch.query(known.keys[away])), kind="stable")[:k]
    places = np.sort(away[heaviest])
    arrays = {
        **known.arrays(places, "active_"),
        "active_weights": np.zeros(len(places), dtype=np.float32),
        "collisions": np.zeros(1, dtype=np.uint64),
    }
    return {f"1/{name}": array for name, array in arrays.items()}
