"""What the number of a random feature stands for, against numpy, and which kernel the features make."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream.basis import KERNELS

from .random_features_oracle import draw, features
from .test_random_features import basis_of


@settings(max_examples=30, deadline=None)
@given(
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 2**63),
    number=st.integers(0, 2**40),
    keys=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6, unique=True),
    width=st.floats(0.1, 10),
)
def test_a_feature_is_what_its_number_says(kernel, seed, number, keys, width):
    direction, offset = draw(kernel, seed, number, keys, width, reach=2.0)
    basis = basis_of(kernel, np.array(keys, dtype=np.uint64), width, 2.0, seed)
    X = np.random.default_rng(1).normal(size=(20, len(keys))).astype(np.float32)
    projected = X @ direction + offset
    found = basis.map_of(np.array([number], dtype=np.uint64)).of(X)[:, 0]
    clear = np.abs(projected) > 1e-4 if kernel == "perceptron" else np.abs(projected) < 1e3
    assert found[clear] == pytest.approx(features(kernel, direction, offset, X)[clear], abs=3e-3)
    assert np.abs(found).max() <= math.sqrt(2) * (1 + 1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**63), number=st.integers(0, 2**40), count=st.integers(1, 9))
def test_a_plane_goes_by_a_row_that_was_kept(seed, number, count):
    keys = np.array([3, 2**60, 7], dtype=np.uint64)
    anchors = np.random.default_rng(seed % 1000).normal(size=(count, 3)).astype(np.float32)
    direction, offset = draw("perceptron", seed, number, keys.tolist(), 1.0, 1.0, anchors.astype(float))
    basis = replace(basis_of("perceptron", keys, seed=seed), anchors=anchors)
    directions, offsets = basis.draw(np.array([number], dtype=np.uint64))
    assert directions[:, 0] == pytest.approx(direction, abs=1e-6)
    assert offsets[0] == pytest.approx(offset, abs=1e-5)


def test_planes_by_rows_part_the_rows_whatever_an_outlier_says():
    X = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    X[0] = 1e4
    numbers = np.arange(400, dtype=np.uint64)
    keys = np.arange(4, dtype=np.uint64)
    wide = basis_of("perceptron", keys, reach=2e4)
    shares = {
        name: np.mean(np.abs(basis.map_of(numbers).of(X[1:]).mean(axis=0)) < 1)
        for name, basis in {"uniform": wide, "data": replace(wide, anchors=X)}.items()
    }
    assert shares["uniform"] < 0.1
    assert shares["data"] > 0.9


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_features_stand_for_their_kernel(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)).astype(np.float32)
    Z = basis_of(kernel, np.arange(4, dtype=np.uint64), 1.5).map_of(np.arange(40_000, dtype=np.uint64)).of(X)
    apart = X[:, None, :] - X[None, :, :]
    if kernel == "gaussian":
        expected = np.exp(-(apart**2).sum(-1) / (2 * 1.5**2))
    else:
        expected = np.exp(-np.abs(apart).sum(-1) / 1.5)
    assert np.abs(Z.astype(np.float64) @ Z.T / 40_000 - expected).max() < 0.03


def test_perceptrons_stand_for_the_negative_distance():
    X = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    Z = (
        basis_of("perceptron", np.arange(3, dtype=np.uint64), reach=6.0)
        .map_of(np.arange(40_000, dtype=np.uint64))
        .of(X)
    )
    inner = Z.astype(np.float64) @ Z.T / 40_000
    distance = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(-1))
    slope = np.polyfit(distance.ravel(), inner.ravel(), 1)[0]
    assert np.abs(inner - (1 + slope * distance)).max() < 0.03
    assert slope < 0


def test_groups_and_order_of_features_do_not_matter():
    basis = basis_of("laplacian", np.arange(5, dtype=np.uint64))
    numbers = np.arange(300, dtype=np.uint64)
    directions, offsets = basis.draw(numbers)
    some, some_offsets = basis.draw(numbers[[200, 7]])
    assert np.array_equal(some, directions[:, [200, 7]])
    assert np.array_equal(some_offsets, offsets[[200, 7]])
