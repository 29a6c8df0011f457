"""C of fgm where rows are dense and wide: tried on rows that no feature was selected by."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from fsstream.algorithms.fgm.reduced import ReducedProblem
from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_rounds import batches, gone_on, learner, outcome, run

K = 20
LEAST_GAIN = 0.01


def planted_weights(seed, width):
    rng = np.random.default_rng([seed, 1])
    w = np.zeros(width)
    w[rng.choice(width, K, replace=False)] = rng.uniform(0.2, 1, K)
    return w


def wide(seed, flipped=0.0, loss="squared-hinge", rows=400, width=300):
    """A few of many columns say the label, or all but a share of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width)).astype(np.float32).astype(np.float64)
    u = X @ planted_weights(seed, width)
    y = u if loss == "squared" else np.sign(u) * np.where(rng.random(rows) < flipped, -1, 1)
    return X, y


def least_loss(problem, w, b):
    """At the best scale of the weights."""
    u = problem.X @ w - b
    found = minimize_scalar(
        lambda s: oracle.loss_value(problem.loss, problem.y, problem.costs, np.exp(s) * u),
        bounds=(-5.5, 5.5),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return found.fun


def tried(X, y, loss, shift, C):
    """What C becomes, by the slow twin of the rounds and of the last refit."""
    held = oracle.held_out(len(y))
    most = 256 * C
    while True:
        costs = np.full(len(y), C)
        rounds = oracle.Rounds(X[~held], y[~held], costs[~held], loss, shift, B=2, tolerance=1e-8)
        columns = sorted(j for d in rounds.run(K // 2).chosen for j in d)
        group = [list(range(K))]
        rest = oracle.Reduced(X[held][:, columns], y[held], costs[held], group, loss, shift)
        best, least = 1.0, np.inf
        for factor in 4.0 ** np.arange(5):
            if factor * C > 1.001 * most:
                break
            now = factor * costs[~held]
            problem = oracle.Reduced(X[~held][:, columns], y[~held], now, group, loss, shift)
            w, b = problem.apg(np.zeros(K), 0.0, 1e-7, restart=True)
            measured = least_loss(rest, w, b)
            if measured >= (1 - LEAST_GAIN) * least:
                break
            best, least = factor, measured
        C *= best
        if best == 1.0 or 0.999 * most < C:
            return C


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic", "squared"])
def test_it_is_what_the_slow_twin_finds(loss, shift):
    for seed in range(2):
        X, y = wide(seed, loss=loss)
        fgm = learner(K, loss, shift=shift)
        run(fgm, batches(X, y))
        C = 10.0 / np.mean(np.sum(X**2, axis=1))
        assert fgm.facts()["C"] == pytest.approx(tried(X, y, loss, shift, C), rel=1e-5)


def test_it_grows_where_labels_have_no_noise_and_stays_where_they_have():
    for seed in range(4):
        for flipped in (0.0, 0.2):
            X, y = wide(seed, flipped, rows=800)
            fgm = learner(K)
            run(fgm, batches(X, y))
            times = fgm.facts()["C"] * np.mean(np.sum(X**2, axis=1)) / 10
            assert times > 3.9 if flipped == 0.0 else times == pytest.approx(1.0, rel=1e-5)


def test_more_of_what_matters_is_found():
    found = {"rule": 0, "tried": 0}
    for seed in range(4):
        X, y = wide(seed, rows=500, width=800)
        costs = {"rule": 10 / np.mean(np.sum(X**2, axis=1)), "tried": 0.0}
        relevant = {b"%d" % j for j in np.flatnonzero(planted_weights(seed, 800))}
        for name, C in costs.items():
            fgm = learner(K, C=C)
            run(fgm, batches(X, y))
            found[name] += len(relevant & set(outcome(fgm)[0]))
    assert found["tried"] > found["rule"]


NO_GUESS = {
    "C is given": ({}, {"C": 0.5}),
    "the literal rule": ({}, {"rule": "paper"}),
    "products": ({}, {"degree": 2}),
    "expansions": ({}, {"expand": "gaussian"}),
    "groups": ({}, {"groups": {0: ["a"]}}),
    "few rows": ({"rows": 200}, {}),
    "few columns": ({"width": 80}, {}),
}


@pytest.mark.parametrize("case", NO_GUESS)
def test_it_is_not_tried_where_it_is_no_guess(case, monkeypatch):
    shape, parameters = NO_GUESS[case]
    monkeypatch.setattr(ReducedProblem, "try_costs", lambda problem: pytest.fail("it was tried"))
    fgm = learner(K, **parameters)
    run(fgm, batches(*wide(0, **shape)))
    assert fgm.facts()["generated"] >= K


@pytest.mark.parametrize("memory", [1 << 28, 1 << 20], ids=["rows in memory", "scans"])
def test_a_run_that_is_stopped_while_it_is_tried_ends_with_the_same_bits(memory):
    rows = batches(*wide(1), pieces=3)
    whole = learner(K, memory=memory)
    passes = run(whole, rows)
    assert (passes == 1) == (memory == 1 << 28)
    for at in range(1, passes, 9):
        assert outcome(gone_on(lambda: learner(K, memory=memory), rows, at)) == outcome(whole)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic", "squared"])
@pytest.mark.parametrize("counts", ["held out", "learned from"])
def test_rows_that_count_for_nothing_say_nothing(counts, loss, shift):
    X, y = wide(2, loss=loss)
    importance = (oracle.held_out(len(y)) == (counts == "held out")).astype(float)
    fgm = learner(K, loss, shift=shift)
    run(fgm, batches(X, y, importance=importance))
    assert len(fgm.selection()) > 0
    assert fgm.facts()["C_of_last_refit"] == fgm.facts()["C"]
