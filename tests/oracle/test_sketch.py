"""The count-sketch: the oracle's cells, unbiased, within the paper's bound (1), linear."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import BlockSketch, CountSketch
from tests.oracle.sketch_oracle import BlockOracle, SketchOracle

depths = st.sampled_from((1, 3, 5, 7))
seeds = st.integers(0, 2**64 - 1)
BOTH = {CountSketch: SketchOracle, BlockSketch: BlockOracle}
kinds = st.sampled_from(list(BOTH))


def draw(seed: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    keys = rng.choice(np.uint64(2) ** np.arange(64, dtype=np.uint64), size) + rng.integers(
        0, 99, size, dtype=np.uint64
    )
    return keys, rng.normal(size=size).astype(np.float32)


@settings(deadline=None, max_examples=40)
@given(kind=kinds, depth=depths, seed=seeds, bits=st.integers(1, 8), draw_seed=st.integers(0, 999))
def test_cells_and_queries_are_the_oracles(kind, depth, seed, bits, draw_seed):
    keys, amounts = draw(draw_seed, 50)
    sketch, twin = kind(depth, 1 << bits, seed), BOTH[kind](depth, 1 << bits, seed)
    sketch.add(keys, amounts)
    for key, amount in zip(keys.tolist(), amounts, strict=True):
        twin.add(key, amount)
    assert sketch.cells().tobytes() == twin.cells.tobytes()
    np.testing.assert_array_equal(sketch.query(keys), [twin.query(key) for key in keys.tolist()])


@settings(deadline=None, max_examples=20)
@given(depth=depths, seed=seeds, bits=st.integers(3, 8))
def test_evidence_lies_in_the_last_part_of_a_block(depth, seed, bits):
    keys, _ = draw(seed % 999, 50)
    twin = BlockOracle(depth, 1 << bits, seed)
    first = 16 - twin.part
    wanted = [(block * twin.part + number - first) // 2 for block, number in map(twin.pair, keys.tolist())]
    assert BlockSketch(depth, 1 << bits, seed).evidence_places(keys).tolist() == wanted


@settings(deadline=None, max_examples=40)
@given(kind=kinds, depth=depths, seed=seeds, draw_seed=st.integers(0, 999))
def test_the_sketch_of_a_sum_is_the_sum_of_the_sketches(kind, depth, seed, draw_seed):
    keys, _ = draw(draw_seed, 60)
    # Whole numbers, so that float32 sums are exact in any order.
    amounts = np.random.default_rng(draw_seed).integers(-99, 100, 60).astype(np.float32)
    whole, left, right = (kind(depth, 32, seed) for _ in range(3))
    whole.add(keys, amounts)
    left.add(keys[:25], amounts[:25])
    right.add(keys[25:], amounts[25:])
    left.merge(right)
    assert left.cells().tobytes() == whole.cells().tobytes()


@pytest.mark.parametrize("kind", BOTH)
def test_sketches_of_another_seed_are_not_added(kind):
    with pytest.raises(ValueError, match="another shape or seed"):
        kind(3, 32, 1).merge(kind(3, 32, 2))


@pytest.mark.parametrize("kind", BOTH)
def test_estimates_are_unbiased(kind):
    keys = np.arange(200, dtype=np.uint64)
    truth = np.random.default_rng(1).normal(size=200).astype(np.float32)
    errors = np.empty((400, 200))
    for seed in range(400):
        sketch = kind(3, 64, seed)
        sketch.add(keys, truth)
        errors[seed] = sketch.query(keys) - truth
    standard_error = errors.std(axis=0) / np.sqrt(400)
    # 200 means of 400 draws: each within 5 standard errors, their mean within 4 of its own.
    assert np.all(np.abs(errors.mean(axis=0)) < 5 * standard_error)
    assert abs(errors.mean()) < 4 * errors.mean(axis=1).std() / np.sqrt(400)


@pytest.mark.parametrize("depth", [3, 5, 7])
def test_estimates_keep_the_bound(depth):
    """|query - truth| <= eps |truth|_2 with eps^2 = 8 / width in all but few queries."""
    keys = np.arange(2000, dtype=np.uint64)
    truth = (np.random.default_rng(2).normal(size=2000) / np.arange(1, 2001)).astype(np.float32)
    bound = np.sqrt(8 / 256) * np.linalg.norm(truth)
    outside = 0.0
    for seed in range(20):
        sketch = CountSketch(depth, 256, seed)
        sketch.add(keys, truth)
        outside += np.mean(np.abs(sketch.query(keys) - truth) > bound) / 20
    # A row is outside with probability 1/8 at most; most of the rows must be.
    allowed = {3: 0.043, 5: 0.016, 7: 0.0061}
    assert outside <= allowed[depth]
