"""The B-ARDA kernel with store = sketch against its plain twin."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream import _native

from .online_data import batch_of
from .sketched_b_arda_oracle import SketchedBArda


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("lam", [0.0, 1e-2])
@pytest.mark.parametrize("width", [64, 4096])
@pytest.mark.parametrize("spread", [1, 2**53 - 1])
def test_a_crowded_working_set(loss, lam, width, spread):
    """Features outnumber the slots, so many leave and come back; keys as cells, and keys that are hashed."""
    rng = np.random.default_rng(width)
    d, n = 300, 150
    rows = np.where(rng.random((n, d)) < 0.08, rng.normal(size=(n, d)), 0.0).astype(np.float32).astype(float)
    targets = np.where(rows[:, :10].sum(axis=1) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    keys = spread * np.arange(1, d + 1, dtype=np.uint64)
    options = {"budget": 12, "eta": 0.1, "lam": lam, "loss": loss, "seed": 3}
    oracle = SketchedBArda(width=width, **options)
    kernel = _native.budgeted("b-arda", sketch_width=width, **options)
    scores = kernel.update(batch_of(rows, targets, keys))
    came = set()
    for x, y, score in zip(rows, targets, scores, strict=True):
        entries = np.flatnonzero(x)
        u = oracle.step([int(k) for k in keys[entries]], [float(v) for v in x[entries]], y)
        assert score == pytest.approx(u, rel=1e-5, abs=1e-6)
        came |= oracle.sums.keys()
    assert len(came) > 3 * len(oracle.sums), "slots changed hands"
    names, weights = kernel.chosen()
    assert {int(name) for name in names} == oracle.members
    for name, weight in zip(names, weights, strict=True):
        assert weight == pytest.approx(oracle.weight(int(name)), rel=1e-5)
