"""Draws that hang on a seed and on numbers of rows alone, however rows come in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsstream.numerics import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def draws(seed: int, purpose: int, first: int, count: int) -> NDArray[np.uint64]:
    """64 random bits for each of the numbers `first`, ...; those of another purpose know nothing of them."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    start = np.uint64((seed * 0x9E3779B97F4A7C15 + purpose * 0xD1B54A32D192ED03) & (2**64 - 1))
    return _mixed(_mixed(numbers) ^ start)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
