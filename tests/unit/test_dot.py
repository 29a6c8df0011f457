"""Dot products: the documented order of summation, bit for bit, whatever the registers."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream import _native

LENGTHS = [0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 1023, 1024, 1025, 5000]
KINDS = [
    (np.int16, np.float32),
    (np.int16, np.float64),
    (np.float32, np.float32),
    (np.float32, np.float64),
    (np.float64, np.float64),
]


def draw(length, kind, seed):
    values = np.random.default_rng(seed).standard_normal(length)
    return (values * 8000).astype(kind) if kind == np.int16 else values.astype(kind)


def lane_sum(products):
    """Element i into lane i % 16 in input order, then l and l+8, +4, +2, +1."""
    lanes = np.zeros(16)
    for begin in range(0, len(products), 16):
        part = products[begin : begin + 16]
        lanes[: len(part)] += part
    for half in (8, 4, 2, 1):
        lanes = lanes[:half] + lanes[half : 2 * half]
    return lanes[0]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kinds", KINDS)
def test_dot_adds_in_the_documented_order(length, kinds):
    x, y = draw(length, kinds[0], 1), draw(length, kinds[1], 2)
    assert _native.dot(x, y) == lane_sum(x.astype(np.float64) * y.astype(np.float64))


@pytest.mark.parametrize("length", LENGTHS)
def test_wider_registers_change_no_bit(length):
    x, y = draw(length, np.float32, 3), draw(length, np.float64, 4)
    assert _native.dot(x, y) == _native.dot_baseline(x, y)
    codes = draw(length, np.int16, 3)
    assert _native.dot(codes, y) == _native.dot_baseline(codes, y)
    r = y.astype(np.float32)
    assert _native.screen_moments(x, r) == _native.screen_moments(x, r, baseline=True)


@pytest.mark.parametrize("length", [*LENGTHS, 200_000])
def test_the_screen_is_as_exact_as_promised(length):
    x, r = draw(length, np.float32, 5) + np.float32(3), draw(length, np.float32, 6)
    wide_x, wide_r = x.astype(np.float64), r.astype(np.float64)
    found = _native.screen_moments(x, r)
    for sum_found, terms in zip(found, (wide_x * wide_r, wide_x, wide_x**2), strict=True):
        assert abs(sum_found - terms.sum()) <= 8e-6 * np.abs(terms).sum()
