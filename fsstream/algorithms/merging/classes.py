"""Softmax: the weights of all classes side by side, the classes matched by their labels.

In: the states of `SoftmaxLearner` kernels, and that of a new one for all classes, which says how wide its
sketch is. Out: one state. Sketches are folded to the narrowest first, which is what they would hold had they
been so narrow from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import CountSketch
from fsstream.algorithms.merging.column_means import columns_of, with_class_means_of
from fsstream.algorithms.merging.newton import prior_evidence, stature, unit_of
from fsstream.algorithms.merging.shards import Features

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]


class Number(IntEnum):
    """The places in the array `softmax`, in the order in which native/learn/softmax_state.cpp writes them."""

    SCALE = 0
    INTERCEPT_EVIDENCE = 1
    ENTRIES = 2  # of the prior
    SQUARES = 3
    ENTRIES_SEEN = 4
    LATE_LOSSES = 5
    LATE_WEIGHT = 6
    FADING = 7
    LOSSES = 8
    PLAIN_LOSSES = 9  # without any feature


@dataclass(frozen=True)
class Shape:
    """What a kernel was made with."""

    k: int
    depth: int
    seed: int
    exact: bool
    adaptive: bool


def softmax(shards: Shards, new: Mapping[str, NDArray[Any]], shape: Shape) -> State:
    """The learner of all rows."""
    columns = columns_of(shards)
    shards = shards.with_states([with_class_means_of(state, columns) for state in shards.states])
    each = np.stack([state["softmax"] for state in shards.states])
    fading = each[:, Number.FADING]
    each[:, Number.INTERCEPT_EVIDENCE] *= fading
    numbers = shards.total(list(each))
    numbers[Number.SCALE] = numbers[Number.FADING] = 1.0
    lanes = _Lanes(shards, new, shape)
    counts = shards.count("rows")
    counts[2] = lanes.width
    shared, evidence = lanes.evidence(fading.tolist())
    weights, cells = lanes.weights(evidence)
    claims = np.abs(weights)
    if shape.adaptive:
        classes = max(lanes.classes, 2)
        prior = prior_evidence(
            float(numbers[Number.ENTRIES]),
            float(numbers[Number.LOSSES]),
            float(numbers[Number.PLAIN_LOSSES]),
            int(counts[0]),
        )
        prior *= 4 * (classes - 1) / classes**2
        claims *= (unit_of(evidence) * stature(evidence, prior))[:, None]
    on, thresholds = lanes.choose(claims, lanes.thresholds(fading))
    places = np.arange(len(lanes.features.keys))
    room = max(int(new["kept_shape"][0]), 2 * len(places))
    kept = weights if shape.exact else np.zeros_like(weights)
    return {
        **columns,
        **lanes.features.arrays(places, "active_"),
        "active_weights": np.zeros(len(places), np.float32),
        "collisions": shards.count("collisions"),
        "kept_shape": np.array([room, lanes.lanes], np.uint64),
        "kept_weights": kept.astype(np.float32).ravel(),
        "kept_evidence": evidence.astype(np.float32).ravel(),
        "kept_on": on.astype(np.uint8).ravel(),
        "softmax": numbers,
        "rows": counts,
        "intercepts": shards.mean(
            [lanes.spread(i, state["intercepts"])[: lanes.classes] for i, state in enumerate(shards.states)]
        ),
        "thresholds": thresholds.astype(np.float32),
        "sketch": cells.astype(np.float32).ravel(),
        "evidence_cells": shared.astype(np.float32).ravel(),
    }


class _Lanes:
    """The weights of all shards, in the lanes and the width of the merged."""

    def __init__(self, shards: Shards, new: Mapping[str, NDArray[Any]], shape: Shape) -> None:
        self.shards, self.shape = shards, shape
        self.classes, self.lanes = len(new["intercepts"]), int(new["kept_shape"][1])
        self.width = min(int(state["rows"][2]) for state in (new, *shards.states))
        self.scales = [float(state["softmax"][Number.SCALE]) for state in shards.states]
        self.features = Features.union(shards, "active_")
        self.sketch = CountSketch(shape.depth, self.width, shape.seed)

    def spread(self, shard: int, values: NDArray[Any]) -> NDArray[np.float64]:
        """One number a class of a shard's own, in the lanes of the merged."""
        own = self.shards.classes[shard]
        spread = np.zeros((*values.shape[:-1], self.lanes))
        spread[..., own] = values[..., : len(own)]
        return spread

    def rows(self, shard: int, name: str) -> NDArray[Any]:
        """Of one array: a row for each feature that the shard keeps."""
        state = self.shards.states[shard]
        return state[name].reshape(len(state["active_keys"]), int(state["kept_shape"][1]))

    def cells(self, shard: int) -> NDArray[np.float64]:
        """A shard's sketch, depth x width x lanes, in true size."""
        state = self.shards.states[shard]
        own = state["sketch"].reshape(self.shape.depth, -1, int(state["kept_shape"][1]))
        return self.spread(shard, folded(own, self.width) * self.scales[shard])

    def evidence(self, fading: list[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The shared C of all shards, and P and C of each feature.

        Where a shard does not keep it, in the unit that it has elsewhere.
        """
        shards, features = self.shards, self.features
        if not self.shape.adaptive:
            return np.empty(0), np.zeros((len(features.keys), 2))
        width = min(len(state["evidence_cells"]) for state in shards.states)
        shared = [
            folded_counts(state["evidence_cells"] * faded, width)
            for state, faded in zip(shards.states, fading, strict=True)
        ]
        kept = shards.total(
            [
                features.spread(i, state["kept_evidence"].reshape(-1, 2) * fading[i])
                for i, state in enumerate(shards.states)
            ]
        )
        places = self.sketch.evidence_places(features.keys) & np.uint32(width - 1)
        elsewhere = shards.total(
            [np.where(features.has(i), 0.0, own[places]) for i, own in enumerate(shared)]
        )
        square = unit_of(kept) ** 2
        return shards.total(shared), kept + elsewhere[:, None] * np.stack([square, np.ones_like(square)], 1)

    def weights(self, evidence: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each feature and class, and the merged sketch, less what a shard had in it of these."""
        shards, features = self.shards, self.features
        cells = [self.cells(i) for i in range(len(shards.states))]
        if not self.shape.exact:
            merged = shards.mean(cells)
            return self.asked(merged), merged
        unit = unit_of(evidence)[:, None]
        each = []
        for i, sketch in enumerate(cells):
            absent = ~features.has(i)
            elsewhere = np.where(absent[:, None], self.asked(sketch), 0.0)
            cells[i] = self.without(sketch, features.keys[absent], elsewhere[absent])
            own = self.spread(i, self.rows(i, "kept_weights")) * self.scales[i]
            each.append(features.spread(i, own, elsewhere / unit))
        return shards.mean(each), shards.mean(cells)

    def without(
        self, cells: NDArray[np.float64], keys: NDArray[np.uint64], taken: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The cells when features took weights with them, lane by lane."""
        left = cells.copy()
        for lane in range(self.classes if len(keys) else 0):
            self.sketch.fill(np.ascontiguousarray(cells[:, :, lane], dtype=np.float32).ravel())
            self.sketch.add(keys, -taken[:, lane].astype(np.float32))
            left[:, :, lane] = self.sketch.cells().reshape(cells.shape[:2])
        return left

    def asked(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """What cells say of each feature, lane by lane."""
        answers = np.zeros((len(self.features.keys), self.lanes))
        for lane in range(self.classes if len(answers) else 0):
            self.sketch.fill(np.ascontiguousarray(cells[:, :, lane], dtype=np.float32).ravel())
            answers[:, lane] = self.sketch.query(self.features.keys)
        return answers

    def thresholds(self, fading: NDArray[np.float64]) -> NDArray[np.float64]:
        """The lowest of the shards' own; a shard that does not know a class lets everything in."""
        lowest = np.full(self.classes, np.inf)
        for i, state in enumerate(self.shards.states):
            own = np.zeros(self.classes)
            own[self.shards.classes[i]] = state["thresholds"] * (self.scales[i] * fading[i] ** 0.25)
            lowest = np.minimum(lowest, own if self.shape.k else -1.0)
        return lowest

    def choose(
        self, claims: NDArray[np.float64], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Which features stay candidates of which class, and what the next must exceed."""
        k = self.shape.k
        on = np.zeros((len(self.features.keys), self.lanes), dtype=bool)
        for i in range(len(self.shards.states)):
            on |= self.features.spread(i, self.spread(i, self.rows(i, "kept_on"))) > 0
        for c in range(self.classes):
            rows = np.flatnonzero(on[:, c])
            if k and len(rows) >= 2 * k:
                order = rows[np.argsort(-claims[rows, c], kind="stable")]
                on[order[k:], c] = False
                thresholds[c] = claims[order[k - 1], c]
        return on, thresholds


def folded(cells: NDArray[Any], width: int) -> NDArray[np.float64]:
    """depth x width x lanes: cell i + width is added to cell i until there are so few."""
    cells = cells.astype(np.float64)
    while cells.shape[1] > width:
        half = cells.shape[1] // 2
        cells = cells[:, :half] + cells[:, half:]
    return cells


def folded_counts(cells: NDArray[Any], width: int) -> NDArray[np.float64]:
    """Of two cells the larger."""
    cells = cells.astype(np.float64)
    while len(cells) > width:
        half = len(cells) // 2
        cells = np.maximum(cells[:half], cells[half:])
    return cells
