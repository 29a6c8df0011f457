"""The dense ceiling against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream.algorithms.hashing import Hashing, HashingParameters
from fsstream.algorithms.learner import Common, Task
from tests.oracle.mission_oracle import Dense, MissionOracle, as_rows
from tests.oracle.test_mission import LOSSES, batch_of, draw_rows


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from(LOSSES),
    bits=st.integers(1, 8),
    l2=st.sampled_from((0.0, 0.01)),
    intercept=st.booleans(),
)
def test_equals_the_oracle(seed, loss, bits, l2, intercept):
    data = draw_rows(seed, 80, 40, loss)
    common = Common(learning_rate=0.02, l2=l2, intercept=intercept, seed=seed)
    hashing = Hashing(common, HashingParameters(bits=bits), Task(loss))
    twin = MissionOracle(Dense(bits, seed), loss, 0.02, l2, intercept=intercept)
    scores = hashing.update(batch_of(data))
    expected = [
        twin.learn(keys, values, float(y), float(h))
        for (keys, values), y, h in zip(as_rows(*data[:3]), *data[3:], strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-5)
    assert hashing.intercepts()[0] == pytest.approx(twin.intercept, rel=1e-3, abs=1e-5)
    cells = np.asarray(hashing.state()["table"])
    np.testing.assert_allclose(cells, twin.store.table.cells[0], rtol=1e-3, atol=1e-4)


def test_nothing_is_selected():
    hashing = Hashing(Common(learning_rate=0.1), HashingParameters(bits=4), Task("logistic"))
    hashing.update(batch_of(draw_rows(1, 30, 20, "logistic")))
    assert len(hashing.selection()) == 0
