"""The last refit of fgm: with logistic loss its C is chosen by rows held out."""

import numpy as np
import pytest

from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_groups import grouped, planted_groups
from tests.oracle.test_fgm_rounds import batches, learner, run


def held_out_loss(X, y, costs, factor):
    """Of every fifth row, by the weights that the others give."""
    held = np.arange(len(y)) % 5 == 4
    problem = oracle.Reduced(X[~held], y[~held], factor * costs[~held], [list(range(X.shape[1]))], "logistic")
    w, _ = problem.apg(np.zeros(X.shape[1]), 0.0, 1e-9, restart=True)
    rest = oracle.Reduced(X[held], y[held], costs[held], [list(range(X.shape[1]))], "logistic")
    return rest.objective(w, 0.0) - 0.5 * w @ w


@pytest.mark.parametrize("by_groups", [False, True])
def test_last_refit_takes_the_cost_that_held_out_rows_want(by_groups):
    factors = set()
    for seed, noise in ((0, 0.0), (1, 0.0), (2, 0.3)):
        X, y, _, table = planted_groups(seed, rows=600, relevant=6)
        y = y * np.where(np.random.default_rng(seed).random(len(y)) < noise, -1, 1)
        fgm = grouped(6, table) if by_groups else learner(12, "logistic")
        run(fgm, batches(X, y))
        facts = fgm.facts()
        columns = sorted(int(name) for name in fgm.selection().raw_names)
        costs = np.full(len(y), facts["C"])
        losses = [held_out_loss(X[:, columns], y, costs, 4.0**n) for n in range(4)]
        best = next((n for n in range(3) if losses[n + 1] >= losses[n]), 3)
        assert facts["C_of_last_refit"] == 4.0**best * facts["C"]
        factors.add(best)
        problem = oracle.Reduced(X[:, columns], y, 4.0**best * costs, [list(range(len(columns)))], "logistic")
        w, _ = problem.apg(np.zeros(len(columns)), 0.0, 1e-12, restart=True)
        ours = dict(zip(fgm.selection().raw_names, fgm.selection().weights.tolist(), strict=True))
        np.testing.assert_allclose([ours[b"%d" % j] for j in columns], w, rtol=2e-2, atol=2e-3 * max(abs(w)))
    assert len(factors) > 1


def test_cost_stays_where_it_is_given_or_the_loss_is_another():
    X, y, _, table = planted_groups(3, rows=600)
    for fgm in (
        grouped(3, table, C=0.1),
        grouped(3, table, rule="paper"),
        grouped(3, table, loss="squared-hinge"),
        learner(8),
        learner(2, "logistic", expand="gaussian"),
    ):
        run(fgm, batches(X, y))
        assert fgm.facts()["C_of_last_refit"] in (0.0, fgm.facts()["C"])
    free = grouped(3, table)
    run(free, batches(X, y))
    assert free.facts()["C_of_last_refit"] > free.facts()["C"]
