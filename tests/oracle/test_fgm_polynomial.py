"""Degree 2 in fgm: the pruned worst case against every product written down."""

import numpy as np
import pytest

from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import LimitError
from fsstream.model import Model
from fsstream.pairs import pair_name, split_pair
from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_rounds import batches, gone_on, outcome, run

GAMMA = 4.0


def expanded(X):
    """The paper's map without its constant: names and columns."""
    width = X.shape[1]
    names = [b"%d" % i for i in range(width)]
    columns = [np.sqrt(2 * GAMMA) * X[:, i] for i in range(width)]
    for i in range(width):
        for j in range(i, width):
            names.append(pair_name(b"%d" % i, b"%d" % j))
            columns.append(GAMMA * X[:, i] * X[:, j] * (1 if i == j else np.sqrt(2)))
    return names, np.column_stack(columns)


def planted(seed, rows=200, width=30, negative=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width)) * (rng.random((rows, width)) < 0.3) * np.exp(-np.arange(width) / 6)
    X = (X if negative else np.abs(X)).astype(np.float32).astype(np.float64)
    u = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + 0.5 * X[:, 3]
    return X, np.where(u > np.median(u), 1.0, -1.0)


def learner(k, memory=1 << 28, loss="squared-hinge", shift=False, **parameters):
    common = Common(k=k, memory=memory, intercept=shift)
    return Fgm(common, Fgm.Parameters(degree=2, gamma=GAMMA, **parameters), Task(loss, ("-1", "1")))


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic", "squared"])
def test_rounds_are_those_of_the_map_written_down(negative, loss):
    for seed in range(3):
        X, y = planted(seed, negative=negative)
        names, phi = expanded(X)
        twin = oracle.Rounds(phi, y, np.full(len(y), 0.5), loss, False, B=4).run(3)
        fgm = learner(12, loss=loss, B=4, C=0.5, trim=1.0, tolerance=1e-12)
        run(fgm, batches(X, y))
        weights, _ = outcome(fgm)
        assert set(weights) == {names[j] for d in twin.chosen for j in d}


def test_few_products_are_summed(monkeypatch):
    """The bound leaves most features out, and one that starts too small is enlarged."""
    monkeypatch.setattr("fsstream.algorithms.fgm.polynomial.FIRST_SET", 2)
    X, y = planted(3, rows=300, width=60, negative=False)
    fgm = learner(8, B=4, C=0.5, trim=1.0)
    run(fgm, batches(X, y))
    sets = fgm.facts()["products_summed_of"]
    assert 2 < max(sets) < 60
    names, phi = expanded(X)
    twin = oracle.Rounds(phi, y, np.full(len(y), 0.5), "squared-hinge", False, B=4).run(1)
    first = learner(4, B=4, C=0.5, trim=1.0)
    run(first, batches(X, y))
    assert set(outcome(first)[0]) == {names[j] for j in twin.chosen[0]}


@pytest.mark.parametrize("named", [False, True])
def test_scanned_products_have_the_bits_of_rows_in_memory(named):
    X, y = planted(4, rows=900)
    kept = learner(10, shift=True)
    run(kept, batches(X, y, named=named))
    scanned = learner(10, shift=True, memory=1 << 17)
    run(scanned, batches(X, y, pieces=6, named=named))
    assert not scanned.facts()["rows_in_memory"]
    assert outcome(scanned) == outcome(kept)


def test_weights_are_those_of_the_plain_products():
    """Predicting with products of raw values gives the decision values of the machine."""
    X, y = planted(5)
    fgm = learner(10, shift=True)
    run(fgm, batches(X, y))
    weights, intercept = outcome(fgm)
    u = np.full(len(y), intercept[0])
    for name, weight in weights.items():
        u += weight * np.prod([X[:, int(factor)] for factor in split_pair(name)], axis=0)
    np.testing.assert_allclose(u, fgm._machine.problem.decision, atol=1e-4)


def test_the_model_predicts_with_products():
    """What `predict` computes from the names alone are the decision values of the machine."""
    X, y = planted(7)
    fgm = learner(10, shift=True)
    rows = batches(X, y)
    run(fgm, rows)
    model = Model(
        fgm.selection(),
        fgm.intercepts(),
        "binary",
        "squared-hinge",
        ("-1", "1"),
        {"algo": "fgm", "set": {"degree": 2}},
    )
    scores = model.predictor().predict(rows[0])
    np.testing.assert_allclose(scores[:, 0], fgm._machine.problem.decision, atol=1e-4)


def test_resume_in_the_middle():
    X, y = planted(6, rows=900)
    rows = batches(X, y, pieces=4)

    def fresh():
        return learner(8, memory=1 << 17)

    whole = fresh()
    run(whole, rows)
    assert outcome(gone_on(fresh, rows, 9)) == outcome(whole)


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [(b"b", b"a", b"a*b"), (b"a", b"a", b"a*a"), (b"x*y", b"\\", b"\\\\*x\\*y"), (b"10", b"9", b"10*9")],
)
def test_names_of_products(a, b, name):
    assert pair_name(a, b) == name
    assert split_pair(name) == tuple(sorted((a, b)))
    assert split_pair(b"plain") == (b"plain",)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_sketched_bounds_choose_the_exact_products(negative, named):
    """The table of 20,000 features does not fit 64 KB: bounds are sketched and still bounds."""
    X, y = planted(8, negative=negative)
    rng = np.random.default_rng(8)
    noise = np.zeros((len(X), 20_000))
    noise[rng.integers(0, len(X), 20_000), np.arange(20_000)] = 0.01
    wide = np.hstack([X, noise])
    exact = learner(8, B=4, C=0.5, trim=1.5)
    run(exact, batches(wide, y, named=named))
    assert exact.facts()["scores"] == "exact"
    sketched = learner(8, memory=1 << 18, B=4, C=0.5, trim=1.5)
    run(sketched, batches(wide, y, pieces=3, named=named))
    assert sketched.facts()["scores"] == "sketch"
    assert outcome(sketched) == outcome(exact)


def test_products_that_may_matter_and_cannot_be_summed_are_a_limit():
    """Every feature may be part of the largest product, and only a few hundred can be summed."""
    rng = np.random.default_rng(9)
    X = np.zeros((100, 20_000))
    X[rng.integers(0, 100, 20_000), np.arange(20_000)] = 1.0
    y = np.where(rng.random(100) < 0.5, 1.0, -1.0)
    with pytest.raises(LimitError, match="products"):
        run(learner(2, memory=1 << 18), batches(X, y))
