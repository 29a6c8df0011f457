"""The last refit of fgm: its C is chosen by rows held out."""

import numpy as np
import pytest

from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_groups import grouped, planted_groups
from tests.oracle.test_fgm_rounds import batches, learner, run


def held_out_loss(X, y, costs, factor, loss, seed):
    """Of the rows that are held out, by the weights that the others give."""
    held = oracle.held_out(len(y), seed)
    problem = oracle.Reduced(X[~held], y[~held], factor * costs[~held], [list(range(X.shape[1]))], loss)
    w, _ = problem.apg(np.zeros(X.shape[1]), 0.0, 1e-9, restart=True)
    rest = oracle.Reduced(X[held], y[held], costs[held], [list(range(X.shape[1]))], loss)
    return rest.objective(w, 0.0) - 0.5 * w @ w


def best_factor(X, y, costs, loss, seed):
    """The first in a row of which the next loses more; smaller ones are looked at first."""
    for row in (4.0 ** -np.arange(4), 4.0 ** np.arange(4 if loss == "logistic" else 1)):
        losses = [held_out_loss(X, y, costs, factor, loss, seed) for factor in row]
        best = next((n for n in range(len(row) - 1) if losses[n + 1] >= losses[n]), len(row) - 1)
        if best > 0:
            break
    return row[best]


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
@pytest.mark.parametrize("by_groups", [False, True])
def test_last_refit_takes_the_cost_that_held_out_rows_want(by_groups, loss):
    factors = set()
    for seed, noise in ((0, 0.0), (1, 0.0), (2, 0.3)):
        X, y, _, table = planted_groups(seed, rows=600, relevant=6)
        y = y * np.where(np.random.default_rng(seed).random(len(y)) < noise, -1, 1)
        fgm = grouped(6, table, loss=loss) if by_groups else learner(12, loss, seed=seed + 5)
        run(fgm, batches(X, y))
        facts = fgm.facts()
        columns = sorted(int(name) for name in fgm.selection().raw_names)
        costs = np.full(len(y), facts["C"])
        best = best_factor(X[:, columns], y, costs, loss, 0 if by_groups else seed + 5)
        assert facts["C_of_last_refit"] == best * facts["C"]
        factors.add(best)
        problem = oracle.Reduced(X[:, columns], y, best * costs, [list(range(len(columns)))], loss)
        w, _ = problem.apg(np.zeros(len(columns)), 0.0, 1e-12, restart=True)
        ours = dict(zip(fgm.selection().raw_names, fgm.selection().weights.tolist(), strict=True))
        np.testing.assert_allclose([ours[b"%d" % j] for j in columns], w, rtol=2e-2, atol=2e-3 * max(abs(w)))
    assert len(factors) > 1
    assert loss == "logistic" or max(factors) == 1.0


def test_cost_stays_where_it_is_given_or_features_are_expanded():
    X, y, _, table = planted_groups(3, rows=600)
    for fgm in (
        grouped(3, table, C=0.1),
        grouped(3, table, rule="paper"),
        learner(2, "logistic", expand="gaussian"),
    ):
        run(fgm, batches(X, y))
        assert fgm.facts()["C_of_last_refit"] in (0.0, fgm.facts()["C"])
    free = grouped(3, table)
    run(free, batches(X, y))
    assert free.facts()["C_of_last_refit"] > free.facts()["C"]


@pytest.mark.parametrize("place", range(5))
def test_rows_that_repeat_with_a_period_of_five_are_on_both_sides(place):
    """Every fifth row was held out; where those say nothing of the others, the least C was taken."""
    X, y, _, _ = planted_groups(0, rows=1000, relevant=6)
    noisy = np.arange(len(y)) % 5 == place
    y = np.where(noisy, np.random.default_rng(1).choice([-1.0, 1.0], len(y)), y)
    fgm = learner(12, "logistic")
    run(fgm, batches(X, y))
    assert fgm.facts()["C_of_last_refit"] >= fgm.facts()["C"]
