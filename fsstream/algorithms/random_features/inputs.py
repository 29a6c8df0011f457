"""Scales of the inputs and widths of the kernel, from the first scan.

In: the statistics and a sample of the rows. Out: Inputs, the width, the reach of perceptrons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsstream.basis import Inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream._native import InputRows

THRESHOLDS = ("data", "uniform")
SCALES = ("standard", "log", "range", "none")
SAMPLED_ROWS = 1000
SAMPLED_CELLS = 4_000_000  # fewer rows are sampled of very wide data
CELL = 48  # bytes that comparing sampled rows takes a cell
ANCHORS = 256  # rows that thresholds of perceptrons are drawn from; the model keeps them
ANCHOR_CELLS = 1 << 18  # fewer of very wide data
SHIFTS = 8  # each sampled row is compared with so many others


def inputs_of(rows: InputRows, scale: str) -> Inputs:
    """How the inputs are seen; one that does not vary is not seen at all."""
    mean, variance, smallest, largest = rows.moments()
    if scale == "none":
        centres, spread = np.zeros(rows.inputs), np.ones(rows.inputs)
    elif scale == "range":
        centres, spread = smallest, largest - smallest
    else:
        centres, spread = mean, np.sqrt(variance)
    inverses = np.divide(1.0, spread, out=np.zeros(rows.inputs), where=spread > 0)
    return Inputs(rows.names(), rows.keys, centres, inverses, scale == "log")


def sample_of(rows: InputRows, memory: int) -> NDArray[np.float32]:
    """Rows spread evenly over what is in memory, dense, as they are."""
    count = min(SAMPLED_CELLS, memory // CELL) // max(rows.inputs, 1)
    return rows.sample(max(2, min(SAMPLED_ROWS, count)))


def anchors_of(rows: InputRows) -> NDArray[np.float32]:
    """Rows spread evenly over what is in memory, few enough to be kept in a model."""
    return rows.sample(max(2, min(ANCHORS, ANCHOR_CELLS // max(rows.inputs, 1))))


def scaled(sample: NDArray[np.float32], inputs: Inputs) -> NDArray[np.float64]:
    """The rows as the kernel sees them."""
    return (sample.astype(np.float64) - inputs.centres) * inputs.inverses


def median_distance(points: NDArray[np.float64], kernel: str) -> float:
    """Between rows of a sample, in the norm of the kernel; 1 when they are all the same.

    Four digits: enough for a width, and the same ones on every machine.
    """
    found = []
    for shift in range(1, min(SHIFTS, len(points) - 1) + 1):
        apart = points - np.roll(points, shift, axis=0)
        norm = np.abs(apart).sum(axis=1) if kernel == "laplacian" else np.sqrt((apart**2).sum(axis=1))
        found.append(norm)
    distances = np.concatenate(found or [np.zeros(1)])
    distances = distances[distances > 0]
    return float(f"{np.median(distances):.4g}") if len(distances) else 1.0
