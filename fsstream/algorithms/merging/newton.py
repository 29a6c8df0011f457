"""Adaptive steps: sketches of contributions are averaged, evidence is added.

In: the states of `Newton` kernels. Out: one state.
What the kernels say of a feature holds here, too (native/learn/newton.hpp): the sketch holds w sqrt(P / C),
and its claim is |w| sqrt(P / C) (C + L)^(1/4), with the evidence of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms.merging.column_means import COUNTS, columns_of, with_means_of
from fsstream.algorithms.merging.kept_rows import left_features, rows_of, whole
from fsstream.algorithms.merging.shards import Features
from fsstream.algorithms.merging.sketched import hand_over
from fsstream.errors import CorruptError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import BlockSketch
    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]


class Number(IntEnum):
    """The places in the array `newton`, in the order in which native/learn/newton_state.cpp writes them."""

    INTERCEPT = 0
    INTERCEPT_EVIDENCE = 1
    ENTRIES = 2
    THRESHOLD = 3
    LATE_LOSSES = 4
    LATE_WEIGHT = 5
    FADING = 6
    LOSSES = 7
    PLAIN_LOSSES = 8  # without any feature
    TARGETS = 9
    ROWS_WEIGHT = 10
    SCALE = 11
    SCALE_EVIDENCE = 12
    ROWS_REPEAT = 13
    LOAD = 14  # what a shared pair holds of others
    SEEDED = 15  # began with an earlier model


FADED = [Number.INTERCEPT_EVIDENCE, Number.THRESHOLD, Number.SCALE_EVIDENCE, Number.LOAD]
SIZES = {"newton": len(Number), "trust": 22, "table": COUNTS}  # numbers in those arrays
LEAST_OWN = 0.1  # of the evidence in a shared pair


def newton(shards: Shards, k: int, sketch: BlockSketch, part: int, room: int = 0) -> State:
    """One output; with room for so many bytes of rows of short shards."""
    checked(shards)
    columns = columns_of(shards)
    shards = shards.with_states(
        [with_means_of(state, columns, Number.INTERCEPT, Number.SCALE) for state in shards.states]
    )
    shards = with_one_scale(shards, part)
    numbers = merged_numbers(shards)
    counts = shards.count("rows")
    features = Features.union(shards, "active_")
    known = Known.of(shards, features, sketch, part)
    weights = known.mean_weights(shards, sketch)
    unit = unit_of(known.evidence)
    prior = prior_evidence(
        float(numbers[Number.ENTRIES]),
        float(numbers[Number.LOSSES]),
        float(numbers[Number.PLAIN_LOSSES]),
        int(counts[0]),
    )
    claims = np.abs(weights) * unit * stature(known.evidence, prior)
    kept, left = np.arange(len(weights)), np.empty(0, np.int64)
    if len(weights) >= 2 * k:
        kept, left = features.best(claims, k)
        numbers[Number.THRESHOLD] = float(claims[kept].min()) ** 4
    sketch.fill(shards.mean("sketch").astype(np.float32))
    hand_over(sketch, features.keys[left], weights[left] * unit[left])
    leave_evidence(known.cells, known.places[left], known.evidence[left])
    kept_rows = rows_of(shards, room)
    if whole(kept_rows):
        kept_rows |= left_features(shards, features, kept, sketch, k)
    return {
        **kept_rows,
        **columns,
        **features.arrays(kept, "active_"),
        "active_weights": weights[kept].astype(np.float32),
        "active_evidence": known.evidence[kept].astype(np.float32).ravel(),
        "newton": numbers,
        "rows": counts,
        "calibration": shards.mean("calibration"),
        "trust": trust(shards),
        "sketch": with_pairs(sketch.cells(), known.cells, part),
        "collisions": shards.count("collisions"),
    }


def merged_numbers(shards: Shards) -> NDArray[np.float64]:
    """Sums, where they are not means: evidence with what has faded taken off."""
    numbers = np.stack([state["newton"] for state in shards.states])
    numbers[:, FADED] *= numbers[:, [Number.FADING]]
    merged = shards.total(list(numbers))
    merged[Number.INTERCEPT] = shards.mean(list(numbers[:, Number.INTERCEPT]))
    merged[Number.FADING] = 1.0
    merged[Number.SCALE] = numbers[0, Number.SCALE]
    for flag in (Number.ROWS_REPEAT, Number.SEEDED):
        merged[flag] = numbers[:, flag].max()
    return merged


def checked(shards: Shards) -> None:
    """CorruptError for states of other versions."""
    for name, size in SIZES.items():
        if any(name not in state or len(state[name]) != size for state in shards.states):
            raise CorruptError(f"the saved state is of another version: wrong size of {name}")


def with_one_scale(shards: Shards, part: int) -> Shards:
    """The same weights, with the mean of the shards' scales for all (native/learn/common_scale.hpp)."""
    scale = float(shards.mean([state["newton"][Number.SCALE] for state in shards.states]))
    return shards.with_states([in_scale(state, scale, part) for state in shards.states])


def in_scale(state: Mapping[str, NDArray[Any]], scale: float, part: int) -> Mapping[str, NDArray[Any]]:
    """A state whose weights times `scale` are what its weights times its own scale were.

    Evidence has the square of a scale in it, a threshold the fourth power of a weight times evidence.
    """
    grown = float(state["newton"][Number.SCALE]) / scale
    if grown == 1.0:
        return state
    numbers = state["newton"].copy()
    numbers[Number.THRESHOLD] *= grown**2
    numbers[Number.SCALE] = scale
    numbers[Number.LOAD] /= grown**2
    blocks = state["sketch"].reshape(-1, 16).astype(np.float64)
    blocks[:, :-part] *= grown
    blocks[:, -part:] /= grown**2
    changed = {
        "newton": numbers,
        "sketch": blocks.astype(np.float32).ravel(),
        "active_weights": (state["active_weights"] * grown).astype(np.float32),
        "active_evidence": (state["active_evidence"] / grown**2).astype(np.float32),
    }
    return {**state, **changed}


def trust(shards: Shards) -> NDArray[np.float64]:
    """How far weights were to be trusted in the mean shard (native/learn/trust.hpp).

    The prior's share in what is known falls as the shards' evidence is added up, but not what it held back.
    """
    merged = shards.mean("trust")
    sums = merged[2:].reshape(4, 5)
    shares = np.array(shards.shares)
    sums[2] *= shares @ shares
    sums[:, 2] *= shares @ shares
    return merged


def prior_evidence(entries: float, losses: float, plain_losses: float, rows: int) -> float:
    """What stands behind a weight of 0 before any row (native/learn/prior.hpp)."""
    left = max(losses / plain_losses, 0.2) if losses < plain_losses else 1.0
    return float(0.3 * left**3 * entries / max(rows, 1))


def pairs_of(cells: NDArray[np.float32], part: int) -> NDArray[np.float32]:
    """The evidence in a sketch of blocks: the last `part` of every 16 numbers."""
    return cells.reshape(-1, 16)[:, 16 - part :].reshape(-1, 2)


def with_pairs(cells: NDArray[np.float32], evidence: NDArray[np.float64], part: int) -> NDArray[np.float32]:
    """The same sketch with other evidence."""
    blocks = cells.reshape(-1, 16).copy()
    blocks[:, 16 - part :] = evidence.reshape(-1, part)
    return blocks.ravel()


@dataclass(frozen=True)
class Known:
    """The evidence (P, C) of the features of a union: each shard's, and their sum."""

    features: Features
    each: list[NDArray[np.float64]]
    evidence: NDArray[np.float64]
    cells: NDArray[np.float64]  # the sum of the shared ones
    places: NDArray[np.uint32]  # of the features' cells

    @classmethod
    def of(cls, shards: Shards, features: Features, sketch: BlockSketch, part: int) -> Known:
        """With what has faded taken off, and of a shared pair what is others'."""
        places = sketch.evidence_places(features.keys)
        each, cells = [], []
        for i, state in enumerate(shards.states):
            fading, load = state["newton"][[Number.FADING, Number.LOAD]].tolist()
            shared = pairs_of(state["sketch"], part).astype(np.float64)
            own = state["active_evidence"].reshape(-1, 2)
            each.append(fading * features.spread(i, own, own_part(shared[places], load)))
            cells.append(shared * fading)
        return cls(features, each, shards.total(each), shards.total(cells), places)

    def mean_weights(self, shards: Shards, sketch: BlockSketch) -> NDArray[np.float64]:
        """By rows; where a feature is not active in a shard, what its sketch says."""
        each = []
        for i, state in enumerate(shards.states):
            elsewhere = self.weights_elsewhere(i, sketch, state["sketch"])
            each.append(self.features.spread(i, state["active_weights"], elsewhere))
        return shards.mean(each)

    def weights_elsewhere(
        self, shard: int, sketch: BlockSketch, cells: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """What a shard's sketch says of the features that are not active there."""
        sketch.fill(np.ascontiguousarray(cells))
        met = self.each[shard][:, 1] > 0
        return np.where(met, sketch.query(self.features.keys) / unit_of(self.each[shard]), 0.0)


def own_part(evidence: NDArray[np.float64], load: float) -> NDArray[np.float64]:
    """What a pair says of one feature, when others have left so much in it (native/learn/evidence.hpp)."""
    counts = evidence[:, 1:]
    own: NDArray[np.float64] = np.maximum(
        evidence * (1 - load / np.where(counts > 0, counts, 1)), LEAST_OWN * evidence
    )
    return own


def stature(evidence: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    """(C + L)^(1/4)."""
    grown: NDArray[np.float64] = (evidence[:, 1] + prior) ** 0.25
    return grown


def unit_of(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """sqrt(P / C), the size of a typical entry; 1 before there was one."""
    scaled, count = evidence[:, 0], evidence[:, 1]
    return np.where(scaled > 0, np.sqrt(scaled / np.where(count > 0, count, 1)), 1.0)


def leave_evidence(
    cells: NDArray[np.float64], places: NDArray[np.uint32], evidence: NDArray[np.float64]
) -> None:
    """The larger evidence stays in a cell."""
    for place, own in zip(places.tolist(), evidence, strict=True):
        if own[1] > cells[place, 1]:
            cells[place] = own
