"""Namespaces as groups in fgm: exact while the table holds their features, else the largest are sketched."""

import numpy as np
import pytest

from fsstream import _native
from fsstream.errors import LimitError
from tests.oracle.test_fgm_groups import by_name, grouped, planted_groups
from tests.oracle.test_fgm_rounds import batches, gone_on, run

SMALL_TABLE = 1 << 18  # --memory of which a quarter holds some hundred features


def with_ids(X, seed=13, width=20_000, value=0.05, spaces=1):
    """Beside the planted namespaces of four features some of many, each feature in one row."""
    rng = np.random.default_rng(seed)
    ids = np.zeros((len(X), width))
    ids[rng.integers(0, len(X), width), np.arange(width)] = value
    names = [b"ns%d^f%d" % (j // 4, j) for j in range(X.shape[1])]
    return np.hstack([ids, X]), [b"id%d^%d" % (j % spaces, j) for j in range(width)] + names


def test_namespaces_are_groups():
    X, y, relevant, _ = planted_groups(10)
    fgm = grouped(3, None, groups="namespace")
    run(fgm, batches(X, y, names=[b"ns%d^f%d" % (j // 4, j) for j in range(X.shape[1])]))
    found = fgm.selection()
    assert set(found.groups) == {f"ns{j}" for j in relevant}
    assert all(
        name.split(b"^")[0].decode() == group
        for name, group in zip(found.raw_names, found.groups, strict=True)
    )


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("spaces", [1, 3])
def test_large_namespaces_leave_the_others_exact(shift, spaces):
    X, y, _, _ = planted_groups(11, rows=100)
    wide, names = with_ids(X, spaces=spaces)
    exact, sketched = (
        grouped(6, None, shift, memory=memory, groups="namespace", C=1.0, trim=1.0)
        for memory in (1 << 28, SMALL_TABLE)
    )
    run(exact, batches(wide, y, names=names))
    passes = run(sketched, batches(wide, y, pieces=3, names=names))
    assert (exact.facts()["scores"], sketched.facts()["scores"]) == ("exact", "sketch")
    assert passes == 2 * sketched.facts()["rounds"]
    ours, wanted = by_name(sketched), by_name(exact)
    assert {name: group for name, (_, group) in ours.items()} == {n: g for n, (_, g) in wanted.items()}
    # Columns are numbered as they were collected: sums in another order, to the inner tolerance.
    np.testing.assert_allclose(
        [ours[name][0] for name in wanted], [weight for weight, _ in wanted.values()], rtol=1e-2
    )
    np.testing.assert_allclose(sketched.facts()["upper_bounds"], exact.facts()["upper_bounds"], rtol=1e-3)


@pytest.mark.parametrize("shift", [False, True])
def test_score_of_a_large_namespace_is_estimated_without_bias(shift):
    """In the first round and in a later one, over the draws of the sketch."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 900)), rng.choice([-1.0, 1.0], 60)
    names = [b"big^%d" % j if j < 850 else b"small^%d" % j for j in range(900)]
    rows = batches(X, y, pieces=2, names=names)
    X = X.astype(np.float32).astype(np.float64)
    r = rng.normal(size=60)
    slope, offset = 2.0, 0.7 if shift else 0.0
    first, later = [], []
    for seed in range(60):
        scores = _native.FeatureScores(1 << 15, 1 << 14, shift, seed)
        scores.note_namespaces()
        for batch in rows:
            scores.load(batch)
        scores.finish_load(slope, offset)
        exact = scores.scores()
        np.testing.assert_allclose(exact, X[:, 850:].T @ (slope * y + offset), rtol=1e-12)
        numbers, squares = scores.large_namespaces()
        assert [scores.namespaces()[1][number] for number in numbers] == [b"big"]
        first.append(squares[0])
        scores.start(r)
        scores.add(rows[0], 0)
        scores.add(rows[1], 30)
        later.append(scores.large_namespaces()[1][0])
    for estimates, weights in ((first, slope * y + offset), (later, r)):
        truth = float(np.sum((X[:, :850].T @ weights) ** 2))
        error = np.std(estimates) / len(estimates) ** 0.5
        assert 0.0 < error < 0.05 * truth
        # The median of three leans a little below the mean.
        assert abs(np.mean(estimates) - truth) < 3 * error + 0.03 * truth


def test_large_namespaces_resume():
    X, y, _, _ = planted_groups(12, rows=100)
    wide, names = with_ids(X)
    rows = batches(wide, y, pieces=3, names=names)

    def fresh():
        return grouped(8, None, memory=SMALL_TABLE, groups="namespace")

    whole = fresh()
    run(whole, rows)
    assert by_name(gone_on(fresh, rows, 4)) == by_name(whole)


def test_large_namespaces_among_the_best_are_a_limit():
    """Their features cannot become columns; the message says which one it is."""
    X, y, _, _ = planted_groups(14, rows=100)
    wide, names = with_ids(X, value=2.0)
    with pytest.raises(LimitError, match="'id0' is one of the 4 best") as told:
        run(grouped(4, None, memory=SMALL_TABLE, groups="namespace"), batches(wide, y, names=names))
    assert "--ignore 'id0^*'" in told.value.hint


def test_many_large_namespaces_are_a_limit():
    X, y, _, _ = planted_groups(15, rows=100)
    wide, names = with_ids(X, spaces=40)
    with pytest.raises(LimitError, match="more than eight"):
        run(grouped(2, None, memory=SMALL_TABLE, groups="namespace"), batches(wide, y, names=names))
