"""Planted problems: streams whose informative features are known, after the papers' own.

In: a Problem. Out: text, piece by piece, in fixed memory, and the truth: the planted features with their
weights, in the form of a selection. `seed` plants, `draw` draws the rows: a test set is another draw.

    mission     Gaussian rows, y = x.w with weights of 1; informative columns may be attenuated (5.1, 5.2)
    os          Gaussian columns, Gaussian weights, noise 0.1, n = 1.2 s log2 p (5); format `columns`
    fgm         Gaussian rows, weights uniform in (0, 1), y = sign(x.w - shift) (8.2, 8.4)
    fgm-groups  groups of ten columns, Gaussian weights in some of them, y = sign(x.w) (8.6.1)
    b-arda      rows of presence whose features are the rarer the higher their number, as many informative
                ones in each octave; y = sign(x.w): what adaptive steps are for (the paper has real data only)
    sparse-rf   y = sum of w_j cos(a_j.x + b_j) over few random features of few inputs, and noise
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsstream._native import Batch, RowWriter, key_of_name, line_writer
from fsstream.errors import UsageError
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHUNK_ENTRIES = 1 << 18
DECIMALS = 4
GROUP = 10


@dataclass(frozen=True)
class Problem:
    """What is planted. None: as in the paper."""

    kind: str
    rows: int | None = None
    features: int | None = None
    relevant: int | None = None
    noise: float | None = None
    task: str | None = None  # regression or classes
    attenuation: float | None = None
    shift: float | None = None
    seed: int = 0
    draw: int = 0

    def settled(self) -> Problem:
        """With the defaults of its kind; UsageError for what the kind has no use for."""
        known = KINDS[self.kind]
        for name in ("rows", "features", "relevant", "noise", "task", "attenuation", "shift"):
            if getattr(self, name) is not None and name not in known:
                raise UsageError(f"--{name} has no use with {self.kind}")
        filled = {name: value for name, value in known.items() if getattr(self, name) is None}
        problem = dataclasses.replace(self, **filled)  # type: ignore[arg-type]
        assert problem.features is not None
        assert problem.relevant is not None
        units = problem.features // (GROUP if self.kind == "fgm-groups" else 1)
        if problem.relevant > units and self.kind != "sparse-rf":
            raise UsageError(f"--relevant {problem.relevant} of {units} cannot be planted")
        if self.kind == "os" and not problem.rows:
            # n = 1.2 s log2 p
            rows = int(1.2 * problem.relevant * math.log2(max(problem.features, 2)))
            return dataclasses.replace(problem, rows=max(rows, 2))
        return problem


# What means something to a kind, with its default.
KINDS: dict[str, dict[str, float | int | str]] = {
    "mission": {"rows": 200, "features": 1000, "relevant": 5, "noise": 0.0, "attenuation": 1.0},
    "os": {"rows": 0, "features": 2000, "relevant": 100, "noise": 0.1, "task": "regression"},
    "fgm": {"rows": 4096, "features": 4096, "relevant": 300, "shift": 0.0},
    "fgm-groups": {"rows": 4096, "features": 4000, "relevant": 20},
    "b-arda": {"rows": 10_000, "features": 10_000, "relevant": 100},
    "sparse-rf": {"rows": 5000, "features": 10, "relevant": 20, "noise": 0.05},
}


class Planted:
    """The truth of a problem, and its text."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem.settled()
        assert self.problem.features is not None
        assert self.problem.relevant is not None
        self.features, self.relevant = self.problem.features, self.problem.relevant
        rng = np.random.default_rng([self.problem.seed, 1])
        count, kind = self.relevant, self.problem.kind
        if kind == "fgm-groups":
            chosen = np.sort(rng.choice(self.features // GROUP, count, replace=False))
            self.groups: list[int] | None = [int(group) + 1 for group in chosen for _ in range(GROUP)]
            self.places = (chosen[:, None] * GROUP + np.arange(GROUP)).ravel()
            self.weights = rng.standard_normal(len(self.places))
        elif kind == "sparse-rf":
            self.groups = None
            self.places = np.arange(min(3, self.features))  # the inputs that matter
            self.directions = rng.standard_normal((count, len(self.places)))
            self.phases = rng.uniform(0, 2 * math.pi, count)
            self.amplitudes = rng.standard_normal(count)
            self.weights = np.abs(self.amplitudes[:, None] * self.directions).sum(axis=0)
        else:
            self.groups = None
            share = 1 / np.arange(1, self.features + 1) if kind == "b-arda" else np.ones(self.features)
            self.places = np.sort(rng.choice(self.features, count, replace=False, p=share / share.sum()))
            self.weights = {
                "mission": np.ones(count), "os": rng.standard_normal(count), "fgm": rng.random(count),
                "b-arda": rng.choice([-1.0, 1.0], count),
            }[kind]  # fmt: skip

    def truth(self) -> Selection:
        """The planted features; of `sparse-rf` the inputs, by how strongly they act."""
        names = [b"%d" % (place + 1) for place in self.places]
        groups = None if self.groups is None else [f"g{group}" for group in self.groups]
        return Selection(names, self.weights.astype(np.float32), None, groups).ranked()

    def group_table(self) -> bytes:
        """For --groups: feature, TAB, group."""
        return b"".join(b"%d\tg%d\n" % (j + 1, j // GROUP + 1) for j in range(self.features))

    def texts(self) -> Iterator[bytes]:
        """The rows; of `os` the columns."""
        rows = self.problem.rows
        assert rows is not None
        rng = np.random.default_rng([self.problem.seed, 2, self.problem.draw])
        if self.problem.kind == "os":
            yield from self._columns(rng, rows)
            return
        writer = row_writer(self.features)
        chunk = max(1, CHUNK_ENTRIES // self.features)
        for first in range(0, rows, chunk):
            yield self._rows(rng, min(chunk, rows - first), writer)

    def targets(self) -> bytes:
        """Of `os`, once its columns are written: one a line."""
        return b"".join(label + b"\n" for label in self._labels(self._responses))

    def _rows(self, rng: np.random.Generator, count: int, writer: RowWriter) -> bytes:
        if self.problem.kind == "b-arda":
            share = 0.5 / np.sqrt(1 + np.arange(self.features))
            values = (rng.random((count, self.features)) < share).astype(np.float64)
        else:
            values = np.round(rng.standard_normal((count, self.features)), DECIMALS)
        labels = self._labels(self._respond(values, rng))
        if self.problem.attenuation not in (None, 1.0):
            values[:, self.places] = np.round(values[:, self.places] / self.problem.attenuation, DECIMALS)
        at, keys = np.nonzero(values)
        starts = np.searchsorted(at, np.arange(count + 1))
        batch = Batch.from_arrays(
            starts.astype(np.uint64), (keys + 1).astype(np.uint64), values[at, keys].astype(np.float32),
            np.zeros(count, np.float32), labels=labels,
        )  # fmt: skip
        text, problem = writer.write(batch)
        assert problem is None
        return text

    def _respond(self, values: Floats, rng: np.random.Generator) -> Floats:
        chosen = values[:, self.places]
        if self.problem.kind == "sparse-rf":
            waves = np.cos((chosen[:, None, :] * self.directions).sum(axis=2) + self.phases)
            response = (waves * self.amplitudes).sum(axis=1)
        else:
            response = (chosen * self.weights).sum(axis=1) - (self.problem.shift or 0.0)
        noise = self.problem.noise or 0.0
        return np.asarray(response + noise * rng.standard_normal(len(values)) if noise else response)

    def _columns(self, rng: np.random.Generator, rows: int) -> Iterator[bytes]:
        response = np.zeros(rows)
        weight_of = dict(zip(self.places.tolist(), self.weights.tolist(), strict=True))
        starts, samples = np.array([0, rows], np.uint64), np.arange(1, rows + 1, dtype=np.uint64)
        for place in range(self.features):
            column = np.round(rng.standard_normal(rows), DECIMALS)
            response += weight_of.get(place, 0.0) * column
            name = b"%d" % (place + 1)
            writer = line_writer("columns", np.array([key_of_name(name)], np.uint64), [name])
            one = np.zeros(1, np.float32)
            batch = Batch.from_arrays(starts, samples, column.astype(np.float32), one, labels=[name])
            yield writer.write(batch)[0]
        noise = self.problem.noise or 0.0
        self._responses = response + noise * rng.standard_normal(rows)

    def _labels(self, response: Floats) -> list[bytes]:
        if self.problem.kind in ("mission", "sparse-rf") or self.problem.task == "regression":
            return [b"%.6f" % value for value in response]
        return [b"1" if value > 0 else b"-1" for value in response]


def row_writer(features: int) -> RowWriter:
    """Libsvm lines of features 1, 2, ..."""
    pieces = [b" %d:" % number for number in range(1, features + 1)]
    return line_writer("libsvm", np.arange(1, features + 1, dtype=np.uint64), pieces)
