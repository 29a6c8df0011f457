"""Keys of names: a canonical number is itself, any other name its MurmurHash3."""

from __future__ import annotations

import random

import mmh3
import pytest

from fsstream._native import key_of_name, murmur3_64


def test_published_value() -> None:
    assert murmur3_64(b"") == 0
    assert murmur3_64(b"The quick brown fox jumps over the lazy dog") == 0xE34BBC7BBC071B6C


def names_equal_mmh3(rounds: int, seed: int) -> None:
    """Random bytes of every length from 0 to 200, `rounds` of each; equal to the mmh3 package."""
    rng = random.Random(seed)
    for _ in range(rounds):
        for size in range(201):
            name = rng.randbytes(size)
            assert murmur3_64(name) == mmh3.hash64(name, 0, signed=False)[0]


def test_random_names() -> None:
    names_equal_mmh3(500, seed=1)


@pytest.mark.parametrize(
    "name",
    [b"0", b"7", b"10", b"18446744073709551615", b"9999999999999999999", b"10000000000000000000"],
)
def test_canonical_numbers(name: bytes) -> None:
    assert key_of_name(name) == int(name)


@pytest.mark.parametrize(
    "name",
    [
        b"", b"00", b"07", b"+1", b"-1", b"1.0", b"1a", b"a1", b"18446744073709551616",
        b"99999999999999999999", b"100000000000000000000", b"1 ", b"\xb2",
    ],
)  # fmt: skip
def test_other_names(name: bytes) -> None:
    assert key_of_name(name) == mmh3.hash64(name, 0, signed=False)[0]
