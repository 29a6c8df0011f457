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


class BlockOracle(SketchOracle):
    """The same rows, but the cells of one key in one block of 16 numbers, whose last part holds pairs."""

    def __init__(self, depth: int, width: int, seed: int) -> None:
        super().__init__(depth, width, seed)
        self.part = 16 >> depth.bit_length()  # numbers of a block that one row owns
        self.blocks = max(width // self.part, 1)
        self.cells = np.zeros((self.blocks, 16), dtype=F)

    def digits(self, key: int) -> tuple[int, list[int]]:
        """The block of a key, then a cell and a sign for each row, then a pair."""
        mixed = mix64(key ^ self.words[0])
        bits, digits = mixed >> 32, []
        for base in [*[self.part, 2] * self.depth, self.part // 2]:
            digits.append(bits % base)
            bits //= base
        return mixed % self.blocks, digits

    def places(self, key: int) -> list[tuple[int, int, F]]:
        """(block, number in it, sign) of a key in each row."""
        block, digits = self.digits(key)
        return [
            (block, row * self.part + digits[2 * row], F(-1) if digits[2 * row + 1] else F(1))
            for row in range(self.depth)
        ]

    @property
    def pairs(self) -> int:
        return self.blocks * self.part // 2

    def pair(self, key: int) -> tuple[int, int]:
        """Block and first number of the pair of a key."""
        block, digits = self.digits(key)
        return block, 16 - self.part + 2 * digits[-1]
