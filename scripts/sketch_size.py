"""How large a count-sketch MISSION needs: Figure 3, its twin with sparse rows, and why they differ.

Sizes are cells in three rows, widths powers of two. A draw is given to the identity sketch and, where
that finds the support, to count-sketches of the width at hand, which doubles until one finds it, too: what
is left after all draws is the smallest sketch that found each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from planted_regression import SETTLED, Rule, SparseDraw, planted, planted_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from planted_regression import Draw

K, DENSE_ROWS = 5, 100
DEPTH = 3
NARROWEST, WIDEST = 16, 1 << 24
COOLED = {"passes": 200, "full": True, "cooling": 20}
RATE = 0.1  # of a Rule
IDENTITY = Rule("mission", {"sketch": "identity"}, **COOLED)
ENTRIES_A_COLUMN = 20  # of sparse rows: so many tell the support


def dense(p: int, seed: int) -> Draw:
    """Figure 3: Gaussian rows, all columns filled."""
    return planted(DENSE_ROWS, p, K, seed)


def sparse(p: int, seed: int, entries: int) -> SparseDraw:
    """Rows of so many entries, as many as give each column the same number of entries."""
    return planted_sparse(max(DENSE_ROWS, ENTRIES_A_COLUMN * p // entries), p, K, seed, entries)


def sizes(
    dimensions: Iterable[int],
    trials: int,
    draw: Callable[[int, int], Draw | SparseDraw],
    sketch: Callable[[int], Rule | Literal],
) -> list[float]:
    """Cells for each p, told as they come; `sketch(width)` is what is to find the draws."""
    cells: list[float] = []
    width = NARROWEST
    print("| p | draws | identity sketch finds | cells |\n|---|---|---|---|")
    for p in dimensions:
        found = 0
        for seed in range(trials):
            given = draw(p, seed)
            if not IDENTITY.finds(given):
                continue
            found += 1
            while width < WIDEST and not sketch(width).finds(given):
                width *= 2
        cells.append(float(DEPTH * width))
        print(f"| {p:,} | {trials} | {found} | {cells[-1]:,.0f} |", flush=True)
    return cells


def learner(width: int) -> Rule:
    """MISSION, all weights in a sketch of that width: k to 2 k features count, as candidates are pruned."""
    return Rule("mission", {"sketch_width": width, "active": "estimated"}, **COOLED)


@dataclass(frozen=True)
class Literal:
    """Algorithm 1 to the letter: after each step the k heaviest of all columns count, as the sketch has them.

    S <- gamma S + (1 - gamma) sketch(top k), by linearity, with the gamma of the learner.
    """

    width: int

    def finds(self, draw: Draw | SparseDraw) -> bool:
        """Whether exactly the support is selected."""
        rng = np.random.default_rng(self.width)
        p = draw.rows.shape[1]
        places = rng.integers(0, self.width, (DEPTH, p), dtype=np.int32)
        signs = rng.choice(np.array([-1, 1], np.float32), (DEPTH, p))
        cells = np.zeros((DEPTH, self.width), np.float32)
        top, weights = np.arange(K), np.zeros(K, np.float32)
        for step in range(IDENTITY.passes):
            residual = draw.targets - draw.scores(top, weights)
            if not np.linalg.norm(residual) > SETTLED * np.linalg.norm(draw.targets):
                break
            columns, gradient = draw.gradient(residual)
            estimates = np.empty((DEPTH, p), np.float32)
            for row, place, sign, estimate in zip(cells, places, signs, estimates, strict=True):
                added = np.float32(RATE) * sign[columns] * gradient
                row[:] += np.bincount(place[columns], added, self.width).astype(np.float32)
                estimate[:] = sign * row[place]
            claims = np.median(estimates, axis=0)
            top = np.sort(np.argpartition(-np.abs(claims), K)[:K])
            weights = claims[top]
            gamma = max(0.5, 1 - 0.001 * 2 ** (step / IDENTITY.cooling))
            cells *= np.float32(gamma)
            for row, place, sign in zip(cells, places, signs, strict=True):
                np.add.at(row, place[top], np.float32(1 - gamma) * sign[top] * weights)
        return set(top.tolist()) == draw.support


def fits(dimensions: np.ndarray, cells: list[float], laws: dict[str, np.ndarray]) -> dict[str, list[float]]:
    """Powers of two: cells, the power of p nearest to them, and each law times what brings it nearest."""
    curves = {"cells": np.log2(cells)}
    power = np.polyfit(np.log2(dimensions), curves["cells"], 1)[0]
    for name, law in {f"p^{power:.2f}": dimensions**power, **laws}.items():
        factor = np.mean(curves["cells"] - np.log2(law))
        curves[name] = factor + np.log2(law)
        off = np.sqrt(np.mean((curves[name] - curves["cells"]) ** 2))
        print(f"{2**factor:.3g} {name}: off by a factor of {2**off:.2f}")
    return {name: curve.tolist() for name, curve in curves.items()}


def first_step(dimensions: Iterable[int], trials: int, share: float = 0.5) -> list[float]:
    """Cells from which on what a sketch of the first gradient has heaviest is of the support.

    The first gradient is X'y / n. Given y, its entries off the support are Gaussian of variance |y|^2 / n^2.
    """
    rng = np.random.default_rng(0)
    cells: list[float] = []
    width = NARROWEST
    print("| p | cells |\n|---|---|")
    for p in dimensions:
        while sum(stands_out(rng, p, width) for _ in range(trials)) < share * trials:
            width = round(width * 2**0.25)
        cells.append(float(DEPTH * width))
        print(f"| {p:,} | {cells[-1]:,.0f} |", flush=True)
    return cells


def stands_out(rng: np.random.Generator, p: int, width: int) -> bool:
    """Whether what a sketch of one draw's first gradient holds to be heaviest is of the support."""
    columns = rng.standard_normal((DENSE_ROWS, K))
    y = columns.sum(axis=1)
    gradient = rng.standard_normal(p) * np.linalg.norm(y)
    gradient[:K] = y @ columns
    read = np.empty((DEPTH, p))
    for row in read:
        places, signs = rng.integers(0, width, p), rng.choice((-1.0, 1.0), p)
        row[:] = signs * np.bincount(places, signs * gradient, width)[places]
    claims = np.abs(np.median(read, axis=0))
    return bool(claims.argmax() < K)
