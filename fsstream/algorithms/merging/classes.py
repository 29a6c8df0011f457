"""Softmax: the weights of all classes side by side, the classes matched by their labels.

In: the states of `SoftmaxLearner` kernels, and that of a new one for all classes, which says how wide its
sketch is. Out: one state. Sketches are folded to the narrowest first, which is what they would hold had they
been so narrow from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import CountSketch
from fsstream.algorithms.merging.newton import PRIOR, Known, unit_of
from fsstream.algorithms.merging.shards import Features

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards

    State = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Shape:
    """What a kernel was made with."""

    k: int
    depth: int
    seed: int
    exact: bool
    adaptive: bool


def softmax(shards: Shards, new: Mapping[str, NDArray[Any]], shape: Shape) -> State:
    """numbers: scale, evidence of the intercepts, spread, squares, entries, losses, their weight, fading."""
    numbers = np.stack([state["softmax"] for state in shards.states])
    fading = numbers[:, 7].copy()
    numbers[:, 1] *= fading
    merged = shards.total(list(numbers))
    merged[0] = merged[7] = 1.0
    lanes = _Lanes(shards, new, shape)
    counts = shards.count("rows")
    counts[2] = lanes.width
    weights, shared, known, cells = lanes.weights(fading.tolist())
    claims = np.abs(weights)
    if known is not None:
        claims *= (unit_of(known.evidence) * known.stature(PRIOR * merged[2] / max(int(counts[0]), 1)))[
            :, None
        ]
    on, thresholds = lanes.choose(claims, lanes.thresholds(fading))
    places = np.arange(len(lanes.features.keys))
    evidence = np.zeros((len(places), 2)) if known is None else known.evidence
    room = max(int(new["kept_shape"][0]), 2 * len(places))
    kept = weights if shape.exact else np.zeros_like(weights)
    return {
        **lanes.features.arrays(places, "active_"),
        "active_weights": np.zeros(len(places), np.float32),
        "collisions": shards.count("collisions"),
        "kept_shape": np.array([room, lanes.lanes], np.uint64),
        "kept_weights": kept.astype(np.float32).ravel(),
        "kept_evidence": evidence.astype(np.float32).ravel(),
        "kept_on": on.astype(np.uint8).ravel(),
        "softmax": merged,
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
        self.scales = [float(state["softmax"][0]) for state in shards.states]
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

    def weights(
        self, fading: list[float]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Known | None, NDArray[np.float64]]:
        """Of each feature and class; the shared evidence, and that of each feature; the merged sketch."""
        shards = self.shards
        shared = [
            folded_evidence(state["evidence_cells"].reshape(-1, 2), self.width) for state in shards.states
        ]
        known = None
        if self.shape.adaptive:
            known = Known.of(shards, self.features, self.sketch, fading, kept="kept_evidence", shared=shared)
        evidence = shards.total(shared) if known is None else known.cells
        cells = [self.cells(i) for i in range(len(shards.states))]
        merged = shards.mean(cells)
        if not self.shape.exact:
            return self.asked(merged), evidence, known, merged
        each = []
        for i in range(len(shards.states)):
            elsewhere = self.asked(cells[i])
            if known is not None:
                met = known.each[i][:, 1:] > 0
                elsewhere = np.where(met, elsewhere / unit_of(known.each[i])[:, None], 0.0)
            own = self.spread(i, self.rows(i, "kept_weights")) * self.scales[i]
            each.append(self.features.spread(i, own, elsewhere))
        return shards.mean(each), evidence, known, merged

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


def folded_evidence(cells: NDArray[Any], width: int) -> NDArray[np.float64]:
    """Of two cells the one of more evidence."""
    cells = cells.astype(np.float64)
    while len(cells) > width:
        half = len(cells) // 2
        more = cells[half:, 1] > cells[:half, 1]
        cells = np.where(more[:, None], cells[half:], cells[:half])
    return cells
