"""A count-sketch written from the paper: slow, one key at a time.

Cells and signs are the kernel's: 32-bit halves of mix64(key ^ seed_q), bit 31 the sign.
Arithmetic is float32 per cell, as in the kernel, so results can be compared bit for bit.
"""

from __future__ import annotations

import numpy as np

MASK = (1 << 64) - 1
F = np.float32


def mix64(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def seeds(seed: int, count: int) -> list[int]:
    """The first numbers of the SplitMix64 sequence."""
    return [mix64((seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK) for i in range(count)]


class SketchOracle:
    def __init__(self, depth: int, width: int, seed: int) -> None:
        self.depth, self.width = depth, width
        self.words = seeds(seed, 4)
        self.cells = np.zeros((depth, width), dtype=F)

    def places(self, key: int) -> list[tuple[int, int, F]]:
        """(row, cell, sign) of a key."""
        out = []
        for row in range(self.depth):
            half = (mix64(key ^ self.words[row // 2]) >> (32 * (row % 2))) & 0xFFFFFFFF
            out.append((row, half & (self.width - 1), F(-1) if half >> 31 else F(1)))
        return out

    def add(self, key: int, amount: F) -> None:
        for row, cell, sign in self.places(key):
            self.cells[row, cell] += sign * F(amount)

    def query(self, key: int) -> F:
        return F(np.median([sign * self.cells[row, cell] for row, cell, sign in self.places(key)]))
