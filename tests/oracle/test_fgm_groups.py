"""Groups in fgm: whole groups by |c_G|^2, overlapping and in trees, against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsstream._native import key_of_name
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.fgm.groups import Layout
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import LimitError
from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_rounds import batches, gone_on, run


def grouped(k, table, shift=False, memory=1 << 28, loss="logistic", **parameters):
    groups = None if table is None else {key_of_name(name): groups for name, groups in table.items()}
    common = Common(k=k, memory=memory, intercept=shift, groups=groups)
    return Fgm(common, Fgm.Parameters(**parameters), Task(loss, ("-1", "1")))


def planted_groups(seed, rows=400, groups=20, size=4, relevant=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, groups * size)).astype(np.float32).astype(np.float64)
    w = np.zeros((groups, size))
    w[rng.choice(groups, relevant, replace=False)] = rng.normal(size=(relevant, size))
    table = {b"%d" % j: (f"g{j // size:02d}",) for j in range(groups * size)}
    return X, np.where(X @ w.ravel() > 0, 1.0, -1.0), np.flatnonzero(np.abs(w).sum(1)), table


def test_planted_groups_are_found_whole():
    for seed in range(4):
        X, y, relevant, table = planted_groups(seed)
        fgm = grouped(3, table)
        run(fgm, batches(X, y))
        found = fgm.selection()
        assert found.groups is not None
        assert set(found.groups) == {f"g{j:02d}" for j in relevant}
        assert len(found) == 12
        for name, group in zip(found.raw_names, found.groups, strict=True):
            assert table[name] == (group,)


def test_first_round_is_algorithm_2():
    X, y, _, table = planted_groups(5)
    fgm = grouped(4, table, B=4, C=1.0, trim=1.0)
    run(fgm, batches(X, y))
    c = X.T @ oracle.start_residuals("logistic", y, np.ones(len(y)), False)
    best = np.argsort(-(c.reshape(20, 4) ** 2).sum(1))[:4]
    assert set(fgm.selection().groups) == {f"g{j:02d}" for j in best}


@pytest.mark.parametrize("memory", [1 << 28, 1 << 18])
def test_scanned_groups_have_the_bits_of_rows_in_memory(memory):
    X, y, _, table = planted_groups(6)
    kept = grouped(6, table, shift=True)
    run(kept, batches(X, y))
    scanned = grouped(6, table, shift=True, memory=memory)
    run(scanned, batches(X, y, pieces=5))
    assert scanned.facts()["rows_in_memory"] == (memory == 1 << 28)
    assert scanned.selection().weights.tolist() == kept.selection().weights.tolist()
    assert scanned.selection().groups == kept.selection().groups


def test_overlapping_groups_share_columns():
    """Feature 0 stands in both groups; it is written once, and both groups are whole."""
    X, y, _, _ = planted_groups(7, groups=5)
    table = {b"%d" % j: ("left",) for j in range(1, 6)} | {b"%d" % j: ("right",) for j in range(6, 10)}
    table[b"0"] = ("left", "right")
    fgm = grouped(2, table, B=1, trim=1.0)
    run(fgm, batches(X[:, :10], y))
    found = fgm.selection()
    assert sorted(found.raw_names) == [b"%d" % j for j in range(10)]
    assert set(found.groups) == {"left", "right"}


def test_features_without_a_group_stand_alone():
    X, y, _, table = planted_groups(8)
    lone = {name: groups for name, groups in table.items() if int(name) >= 8}
    fgm = grouped(40, lone, trim=1.0)
    run(fgm, batches(X, y))
    found = fgm.selection()
    labels = dict(zip(found.raw_names, found.groups, strict=True))
    assert labels[b"3"] == "3"
    assert labels[b"9"] == "g02"


@settings(deadline=None)
@given(st.data())
def test_pruned_tree_is_the_unpruned_one(data):
    """Remark 2: subtrees whose root scores below the best found so far are never looked into."""
    leaves = data.draw(st.integers(1, 30))
    paths = [data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4)) for _ in range(leaves)]
    names = sorted({"/".join(path[: d + 1]) for path in paths for d in range(len(path))})
    group = [names.index("/".join(p[: d + 1])) for p in paths for d in range(len(p))]
    feature = [leaf for leaf, p in enumerate(paths) for _ in range(len(p))]
    squares = np.array(data.draw(st.lists(st.integers(0, 5), min_size=leaves, max_size=leaves)), float)
    layout = Layout(names, np.array(group), np.array(feature))
    count = data.draw(st.integers(1, 6))
    taken = set(data.draw(st.lists(st.integers(0, len(names) - 1), max_size=3)))
    pruned = layout.best(squares, count, taken, pruned=True)
    looked_at = layout.scored
    plain = layout.best(squares, count, taken, pruned=False)
    assert [score for _, score in pruned] == [score for _, score in plain]
    assert looked_at <= len(names)


def test_tree_by_names_like_paths():
    X, y, _, table = planted_groups(9)
    tree = {name: (f"root{int(g[0][1:]) // 10}/{g[0]}",) for name, g in table.items()}
    fgm = grouped(3, tree, groups="tree", trim=1.0, B=1)
    run(fgm, batches(X, y))
    labels = set(fgm.selection().groups)
    # A root holds all below it and scores highest, so the roots come first and own every column.
    assert labels == {"root0", "root1"}
    assert fgm.facts()["generated"] == 3


def with_noise(X, seed=13, width=20_000):
    """The table of these columns does not fit 64 KB; each noise column has one entry."""
    rng = np.random.default_rng(seed)
    noise = np.zeros((len(X), width))
    noise[rng.integers(0, len(X), width), np.arange(width)] = 0.05
    return np.hstack([X, noise])


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_sketched_features_stand_alone_beside_listed_groups(shift, loss):
    """Listed groups are exact, what is in none is sketched and re-scored: the same outcome."""
    X, y, _, table = planted_groups(11, rows=100)
    listed = {name: groups for name, groups in table.items() if int(name) >= 40}
    wide = with_noise(X)
    exact = grouped(30, listed, shift, loss=loss, trim=1.5)
    run(exact, batches(wide, y))
    assert exact.facts()["scores"] == "exact"
    sketched = grouped(30, listed, shift, memory=1 << 18, loss=loss, trim=1.5)
    passes = run(sketched, batches(wide, y, pieces=3))
    assert sketched.facts()["scores"] == "sketch"
    assert passes <= 3 * sketched.facts()["rounds"]
    kinds = {group.startswith("g") for group in sketched.selection().groups}
    assert kinds == {True, False}
    ours, wanted = by_name(sketched), by_name(exact)
    assert {name: group for name, (_, group) in ours.items()} == {n: g for n, (_, g) in wanted.items()}
    # Columns are numbered as they were collected: sums in another order, to the inner tolerance.
    np.testing.assert_allclose(
        [ours[name][0] for name in wanted], [weight for weight, _ in wanted.values()], rtol=1e-2, atol=1e-4
    )
    for bound in ("lower_bounds", "upper_bounds"):
        np.testing.assert_allclose(sketched.facts()[bound], exact.facts()[bound], rtol=1e-3)


def by_name(fgm):
    found = fgm.selection()
    return {
        name: (weight, group)
        for name, weight, group in zip(found.raw_names, found.weights.tolist(), found.groups, strict=True)
    }


def test_sketched_groups_resume():
    X, y, _, table = planted_groups(12, rows=100)
    listed = {name: groups for name, groups in table.items() if int(name) >= 40}
    rows = batches(with_noise(X), y, pieces=3)

    def fresh():
        return grouped(30, listed, memory=1 << 18, trim=1.5)

    whole = fresh()
    run(whole, rows)
    assert by_name(gone_on(fresh, rows, 12)) == by_name(whole)


def test_listed_features_that_do_not_fit_are_a_limit():
    X, y, _, _ = planted_groups(13, rows=100)
    table = {b"%d" % j: ("all",) for j in range(20_080)}
    with pytest.raises(LimitError, match="--groups"):
        run(grouped(2, table, memory=1 << 18), batches(with_noise(X), y))


@pytest.mark.parametrize("memory", [1 << 28, 1 << 18])
def test_what_is_listed_and_not_in_the_stream_is_counted_and_changes_nothing(memory):
    """It counted as groups, of which the rows then seemed to have many small ones."""
    X, y, _, table = planted_groups(14, rows=100)
    rows = batches(X if memory == 1 << 28 else with_noise(X), y)
    table = {name: groups for name, groups in table.items() if int(name) >= 40}
    few, most = ({b"none%d" % j: (f"n{j}",) for j in range(count)} for count in (40, 50))
    told = []
    for more in ({}, few, most):
        fgm = grouped(10, table | more, memory=memory)
        run(fgm, rows)
        told.append((by_name(fgm), fgm.facts()["C"], list(fgm.remarks())))
    (plain, C, silent), (same, _, still), (again, unchanged, [remark]) = told
    assert (same, again, unchanged) == (plain, plain, C)
    assert (silent, still) == ([], [])
    assert remark.startswith("--groups: 40 of the 90 features it lists are in the stream")
