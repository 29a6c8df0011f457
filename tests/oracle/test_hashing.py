"""The dense ceiling against its slow twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fsstream
from fsstream._native import Batch
from fsstream.algorithms.hashing import Hashing, HashingParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.task import turned
from fsstream.training import learner_like
from tests.cli import command
from tests.oracle.mission_oracle import Dense, MissionOracle, as_rows
from tests.oracle.test_mission import LOSSES, batch_of, draw_rows

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        ("logistic", "binary"),
        ("squared", "numbers"),
        ("softmax", "classes"),
        ("hinge", "classes"),
    ],
)
def test_a_model_predicts_what_the_learner_would_say(loss: str, kind: str, tmp_path: Path) -> None:
    """The scores that a row is given before it is learned are those of the model, read back from its file."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 9))
    y = {
        "binary": np.where(X[:, 0] > 0, "b", "a"),
        "numbers": X[:, 0] - 2 * X[:, 3],
        "classes": np.array(["u", "v", "w"])[np.argmax(X[:, :3], axis=1)],
    }[kind]
    settings = {"algo": "hashing", "set": {"bits": 5}, "loss": loss, "passes": 3, "learning_rate": 0.02}
    fsstream.select(X[:100], y[:100], **settings).model.save(tmp_path / "model")
    model = fsstream.load_model(tmp_path / "model")
    found = model.scores(X[100:]).reshape(20, -1)
    starts, keys = np.array([0, 9], np.uint64), np.arange(9, dtype=np.uint64)
    for row, expected in zip(X[100:], found, strict=True):
        learner = learner_like(model, model.state_labels)
        learner.restore(model.state)
        one = Batch.from_arrays(starts, keys, row.astype(np.float32), np.zeros(1, np.float32))
        sign = -1 if turned(kind, model.state_labels) else 1
        np.testing.assert_allclose(expected, sign * np.ravel(learner.update(one)), rtol=1e-5, atol=1e-6)
    truth = y[100:]
    right = model.predict(X[100:])
    if kind == "numbers":
        assert np.corrcoef(right, truth)[0, 1] > 0.9
    else:
        assert np.mean(right == truth) >= 0.65


def test_a_table_has_nothing_to_transform_to(tmp_path: Path) -> None:
    X, y = np.eye(4), ["a", "b"] * 2
    fsstream.select(X, y, algo="hashing").model.save(tmp_path / "model")
    done = command.fsstream("transform", str(tmp_path / "model"), stdin=b"a 1:1\n")
    assert done.returncode == 2
    assert b"hashing selects nothing" in done.stderr
