"""The means of a table's columns: what all shards have is that of their rows, and no shard's scores change.

In: the states of `Newton` or `SoftmaxLearner` kernels. Out: the same with intercepts for the means of all,
and these means (native/learn/column_means.hpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards

ON, ROWS = 0, 1  # places in the array `table`, which native/learn/column_means.cpp writes
COUNTS = 4  # numbers in it
CENTRED = 2  # rows from which on means are taken off
LARGEST_SQUARE = 1e26  # native/learn/evidence.hpp


def columns_of(shards: Shards) -> dict[str, NDArray[Any]]:
    """The columns that each shard with rows has, if each is a table."""
    counts = shards.count("table")
    counts[ON] = min(state["table"][ON] for state in shards.states)
    known = [state for state in shards.states if state["table"][ROWS] > 0]
    keys = known[0]["table_keys"] if known and counts[ON] else np.empty(0, np.uint64)
    for state in known[1:]:
        keys = keys[np.isin(keys, state["table_keys"])]
    weights = [float(state["table_weight"][0]) for state in known]
    means, squares, missing = np.zeros(len(keys)), np.zeros(len(keys)), np.zeros(len(keys), np.uint64)
    for state, weight in zip(known, weights, strict=True):
        order = np.argsort(state["table_keys"])
        places = order[np.searchsorted(state["table_keys"], keys, sorter=order)]
        means += weight / sum(weights) * state["table_means"][places]
        both = state["table_variances"][places] + state["table_means"][places] ** 2
        squares += weight / sum(weights) * both
        missing += state["table_missing"][places]
    return {
        "table": counts,
        "table_weight": np.array([sum(weights)], dtype=np.float64),
        "table_keys": keys,
        "table_means": means,
        "table_variances": np.maximum(squares - means**2, 0),
        "table_missing": missing,
    }


def with_means_of(
    state: Mapping[str, NDArray[Any]], columns: Mapping[str, NDArray[Any]], intercept: int, scale: int
) -> dict[str, NDArray[Any]]:
    """A state of `Newton` that scores rows as before when these are the means of its columns."""
    moved = _moved(state, columns)
    numbers = state["newton"].copy()
    numbers[intercept] += numbers[scale] * float(state["active_weights"].astype(np.float64) @ moved)
    return {**state, "newton": numbers, "active_evidence": _evidence(state, columns, "active_evidence")}


def with_class_means_of(
    state: Mapping[str, NDArray[Any]], columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """The same of a state of `SoftmaxLearner`: a class's score is of the features that are active for it."""
    lanes = int(state["kept_shape"][1])
    weights, on = (state[name].reshape(-1, lanes) for name in ("kept_weights", "kept_on"))
    counted = weights.astype(np.float64) * on
    intercepts = state["intercepts"] + (_moved(state, columns) @ counted)[: len(state["intercepts"])]
    return {**state, "intercepts": intercepts, "kept_evidence": _evidence(state, columns, "kept_evidence")}


def _moved(state: Mapping[str, NDArray[Any]], columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    keys = state["active_keys"]
    return at(columns, "table_means", keys) - at(state, "table_means", keys)


def _evidence(
    state: Mapping[str, NDArray[Any]], columns: Mapping[str, NDArray[Any]], name: str
) -> NDArray[np.float32]:
    """Units are of what is left of values: their squares grow by that of what a mean moved."""
    evidence = state[name].reshape(-1, 2).astype(np.float64)
    squares = np.minimum(_moved(state, columns) ** 2, LARGEST_SQUARE)
    if state["table"][ROWS] < CENTRED:  # and its one row was learned as it is
        variances = np.minimum(at(columns, "table_variances", state["active_keys"]), LARGEST_SQUARE)
        squares = np.where(variances > 0, variances, squares)
        evidence[variances > 0, 0] = 0
    evidence[:, 0] += evidence[:, 1] * squares
    return evidence.astype(np.float32).ravel()


def at(state: Mapping[str, NDArray[Any]], name: str, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """What the columns say of some features: 0 of others, and before the second row of a table."""
    values = np.zeros(len(keys))
    if state["table"][ON] == 0 or state["table"][ROWS] < CENTRED or len(state["table_keys"]) == 0:
        return values
    order = np.argsort(state["table_keys"])
    places = order[np.minimum(np.searchsorted(state["table_keys"], keys, sorter=order), len(order) - 1)]
    found = state["table_keys"][places] == keys
    values[found] = state[name][places[found]]
    return values
