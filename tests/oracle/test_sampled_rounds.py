"""Rounds on a sample of the rows: which rows, and that the end is the same problem over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fsstream import _native
from fsstream.algorithms import sparse_rf
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.sparse_rf import SparseRf, SparseRfParameters

from .online_data import batch_of
from .random_features_oracle import objective
from .test_random_features import learned, problem_data

SAMPLED: dict[str, Any] = {"draw": 10, "rounds": 4, "round_rows": 8}


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_rf, "FEWEST_ROWS", 64)


@pytest.mark.parametrize(("rows", "count"), [(10, 3), (1000, 64), (7, 7), (5, 9), (0, 3)])
def test_a_sample_has_one_row_of_each_stretch(rows: int, count: int) -> None:
    chosen = _native.spread_rows(rows, count)
    taken = min(rows, count)
    assert len(chosen) == taken
    for i, row in enumerate(chosen.tolist()):
        assert i * rows // taken <= row < (i + 1) * rows // taken


def test_columns_of_a_sample_are_the_rows_chosen() -> None:
    X, y = problem_data(1, 90, 3, "squared")
    rows = _native.InputRows(1 << 24)
    rows.load(batch_of(X, y))
    chosen = np.array([0, 5, 31, 60, 89], np.uint32)
    plain = _native.FeatureMap("plain", np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    problem = _native.SparseProblem("squared", y[chosen], np.ones(5, np.float32), True)
    problem.fill_kept(plain, rows, chosen)
    filler = _native.ColumnFiller(problem, plain, rows, chosen)
    for part in np.array_split(np.arange(90), 7):
        filler.add(batch_of(X[part], y[part]), int(part[0]))
    for j in range(3):
        assert np.array_equal(problem.column(j), X[chosen, j])
        assert np.array_equal(problem.column(3 + j), X[chosen, j])
    for wrong in (chosen[:4], chosen[::-1].copy(), chosen + np.uint32(1)):
        with pytest.raises(ValueError, match="not the rows of the problem"):
            problem.fill_kept(plain, rows, wrong)


@pytest.mark.parametrize("loss", ["squared", "squared-hinge", "logistic"])
def test_the_end_is_solved_on_all_rows(loss: str) -> None:
    X, y = problem_data(2, 3000, 3, loss)
    learner = learned(X, y, loss, l1=0.003, tolerance=1e-4, **SAMPLED)
    facts, machine = learner.facts(), learner.machine
    sizes = facts["rows_in_rounds"]
    assert len(sizes) == len(facts["objectives"]) == 5
    assert sizes == sorted(sizes)
    assert 64 <= sizes[0] < sizes[-2] < sizes[-1] == 3000
    Phi = np.column_stack([machine.problem.column(j) for j in range(len(machine.numbers))]).astype(float)
    w, b = machine.problem.weights, machine.problem.intercept
    whole = objective(loss, Phi, y.astype(float), np.ones(3000), w, b, 0.003, 0.0)
    assert facts["objectives"][-1] == pytest.approx(whole, abs=1e-9)
    level = objective(loss, Phi, y.astype(float), np.ones(3000), 0 * w, b, 0.0, 0.0)
    assert facts["gap"] <= 1.5e-4 * level
    every_row = learned(X, y, loss, l1=0.003, tolerance=1e-4, **SAMPLED | {"round_rows": 0})
    assert set(every_row.facts()["rows_in_rounds"]) == {3000}
    assert facts["objectives"][-1] == pytest.approx(every_row.facts()["objectives"][-1], rel=0.1)


@pytest.mark.parametrize("aim", [{"l1": 0.01}, {"k": 12}])
def test_rows_that_are_read_again_give_the_same_bits(aim: dict[str, Any]) -> None:
    X, y = problem_data(3, 4000, 12, "squared-hinge")
    kept = learned(X, y, "squared-hinge", **aim, **SAMPLED)
    small = learned(X, y, "squared-hinge", memory=1_200_000, pieces=7, **aim, **SAMPLED)
    assert kept.facts()["rows_in_rounds"][0] < 4000
    assert kept.machine.rows.all_kept
    assert not small.machine.rows.all_kept
    assert np.array_equal(kept.machine.problem.weights, small.machine.problem.weights)
    assert kept.selection().raw_names == small.selection().raw_names
    assert len(kept.selection()) == aim.get("k", len(kept.selection()))


@pytest.mark.parametrize("aim", [{"l1": 0.01}, {"k": 8}])
@pytest.mark.parametrize("interrupted", range(12))
def test_a_run_goes_on_from_any_scan(aim: dict[str, Any], interrupted: int) -> None:
    """Twice: a second checkpoint while the first one's columns are being filled again loses nothing."""
    X, y = problem_data(4, 3000, 12, "logistic")

    def fresh() -> SparseRf:
        return SparseRf(Common(memory=1_000_000, **aim), SparseRfParameters(**SAMPLED), Task("logistic"))

    def resumed(learner: SparseRf) -> SparseRf:
        learner.update(batch_of(X[:700], y[:700]))
        other = fresh()
        other.restore(learner.state())
        other.update(batch_of(X[700:], y[700:]))
        return other

    whole = learned(X, y, "logistic", memory=1_000_000, **aim, **SAMPLED)
    assert not whole.machine.rows.all_kept
    learner = fresh()
    for _ in range(interrupted):
        learner.update(batch_of(X, y))
        if not learner.end_pass():
            return
    learner = resumed(learner)
    assert learner.end_pass()
    learner = resumed(learner)
    while learner.end_pass():
        learner.update(batch_of(X, y))
    assert learner.selection().raw_names == whole.selection().raw_names
    assert np.array_equal(learner.machine.problem.weights, whole.machine.problem.weights)
    assert learner.facts()["objectives"] == whole.facts()["objectives"]


def test_threads_change_no_bit_of_a_sampled_run() -> None:
    X, y = problem_data(7, 4000, 3, "squared-hinge")
    found = [learned(X, y, "squared-hinge", k=15, threads=threads, **SAMPLED) for threads in (1, 3)]
    assert found[0].facts()["rows_in_rounds"][0] < 4000
    assert np.array_equal(found[0].machine.problem.weights, found[1].machine.problem.weights)
    assert found[0].selection().raw_names == found[1].selection().raw_names


def test_a_checkpoint_remembers_the_rows_of_each_round() -> None:
    X, y = problem_data(5, 3000, 3, "squared")
    learner = learned(X, y, "squared", k=10, **SAMPLED)
    other = SparseRf(Common(k=10), SparseRfParameters(**SAMPLED), Task("squared"))
    other.restore(learner.state())
    rounds = learner.facts()["rows_in_rounds"]
    assert other.rows_in_rounds == rounds[:-1], "the last one, on all rows, is done anew"
    while other.end_pass():
        other.update(batch_of(X, y))
    assert other.facts()["rows_in_rounds"] == rounds


def test_the_literal_rule_takes_all_rows() -> None:
    X, y = problem_data(6, 2000, 3, "squared")
    facts = learned(X, y, "squared", l1=0.01, rule="paper", **SAMPLED).facts()
    assert set(facts["rows_in_rounds"]) == {2000}
