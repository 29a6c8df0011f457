"""The outer loop of fgm against its numpy twin, and what it promises about scans."""

import numpy as np
import pytest

from fsstream import _native
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import LimitError
from tests.oracle import fgm_oracle as oracle

LOSSES = ("squared-hinge", "logistic", "squared")


def planted(seed, rows=300, width=80, relevant=12, loss="squared-hinge", shift=0.0, density=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width)) * (rng.random((rows, width)) < density)
    X = X.astype(np.float32).astype(np.float64)
    w = np.zeros(width)
    w[rng.choice(width, relevant, replace=False)] = rng.normal(size=relevant)
    u = X @ w + shift
    return X, (u if loss == "squared" else np.where(u > 0, 1.0, -1.0))


def batches(X, y, pieces=1, named=False, importance=None, names=None):
    """Rows of the columns' names (their numbers, `f` and the number, or those given), absent where zero."""
    if named:
        names = [b"f%d" % j for j in range(X.shape[1])]
    of_columns = range(X.shape[1]) if names is None else [_native.key_of_name(name) for name in names]
    keys = np.array(of_columns, np.uint64)
    out = []
    for rows in np.array_split(np.arange(len(y)), pieces):
        row, column = np.nonzero(X[rows])
        starts = np.searchsorted(row, np.arange(len(rows) + 1)).astype(np.uint64)
        weight = None if importance is None else importance[rows].astype(np.float32)
        out.append(
            _native.Batch.from_arrays(
                starts,
                keys[column],
                X[rows][row, column].astype(np.float32),
                y[rows].astype(np.float32),
                weight,
                None if names is None else [names[j] for j in column.tolist()],
            )
        )
    return out


def learner(
    k, loss="squared-hinge", shift=False, memory=1 << 28, threads=1, groups=None, seed=0, **parameters
):
    common = Common(k=k, memory=memory, intercept=shift, threads=threads, groups=groups, seed=seed)
    return Fgm(common, Fgm.Parameters(**parameters), Task(loss, ("-1", "1")))


def run(fgm, rows):
    passes = 0
    while True:
        for batch in rows:
            fgm.update(batch)
        passes += 1
        if not fgm.end_pass():
            return passes


def gone_on(fresh, rows, passes):
    """What a run saved behind so many passes becomes, in another that goes on from there."""
    first = fresh()
    for _ in range(passes):
        for batch in rows:
            first.update(batch)
        assert first.end_pass()
    second = fresh()
    second.restore(first.state())
    assert second.end_pass()
    run(second, rows)
    return second


def outcome(fgm):
    found = fgm.selection()
    return dict(zip(found.raw_names, found.weights.tolist(), strict=True)), fgm.intercepts().tolist()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("literal", [False, True])
def test_rounds_are_those_of_the_numpy_twin(loss, shift, literal):
    """The same features in the same rounds; by the paper's rule the weights of (30) as they are."""
    for seed in range(3):
        X, y = planted(seed, loss=loss, shift=0.5 if shift else 0.0)
        twin = oracle.Rounds(X, y, np.full(len(y), 10.0), loss, shift, B=4, literal=literal).run(3)
        chosen = list(dict.fromkeys(j for d in twin.chosen for j in d))
        rule = {"rule": "paper"} if literal else {"trim": 1.0}
        fgm = learner(len(chosen), loss, shift, B=4, C=10.0, tolerance=1e-12, **rule)
        run(fgm, batches(X, y))
        weights, intercept = outcome(fgm)
        assert {int(name) for name in weights} == set(chosen)
        # Without restart the paper's solver may stop on its first step uphill.
        np.testing.assert_allclose(
            fgm.facts()["objective"], -np.array(twin.theta), rtol=1e-2 if literal else 1e-4
        )
        if literal:
            total = np.zeros(X.shape[1])
            np.add.at(total, [j for d in twin.chosen for j in d], twin.weights)
            ours = np.array([weights[b"%d" % j] for j in chosen])
            np.testing.assert_allclose(ours, total[chosen], atol=0.02 * np.abs(total).max())
            assert intercept[0] == pytest.approx(-twin.bias, abs=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_bounds_of_lemma_1(loss):
    """theta_t grows, phi_t falls, and the optimum lies between them."""
    X, y = planted(4, loss=loss)
    fgm = learner(40, loss, B=4, C=10.0, tolerance=1e-12, rule="paper")
    run(fgm, batches(X, y))
    lower = np.array(fgm.facts()["lower_bounds"])
    upper = np.array(fgm.facts()["upper_bounds"])
    assert len(lower) >= 9
    scale = np.abs(lower).max()
    assert np.all(np.diff(lower) >= -1e-7 * scale)
    assert np.all(np.diff(upper) <= 1e-7 * scale)
    assert np.all(lower <= upper + 1e-7 * scale)


def test_literal_rounds_close_the_gap():
    """Theorem 2: with d free to repeat features the bounds meet (checked on the twin)."""
    X, y = planted(5, rows=120, width=20, relevant=5)
    twin = oracle.Rounds(X, y, np.full(len(y), 1.0), "squared-hinge", False, B=3, literal=True).run(60)
    assert twin.phi[-1] - twin.theta[-1] < 1e-3 * abs(twin.theta[-1])


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("rule", ["trim", "paper"])
def test_scans_give_the_same_bits_as_rows_in_memory(shift, rule):
    """Also however the rows are cut into batches."""
    X, y = planted(6, shift=0.3)
    kept = learner(20, shift=shift, rule=rule)
    assert run(kept, batches(X, y)) == 1
    # 32 KB for rows and 16 KB of columns: the 300 rows of 48 features do not fit.
    scanned = learner(20, shift=shift, rule=rule, memory=1 << 17)
    passes = run(scanned, batches(X, y, pieces=7))
    assert not scanned.facts()["rows_in_memory"]
    assert passes == 2 * scanned.facts()["rounds"]
    assert outcome(scanned) == outcome(kept)


def test_names_of_text_features_cost_one_more_scan():
    X, y = planted(7)
    fgm = learner(10)
    assert run(fgm, batches(X, y, named=True)) == 2
    numbered = learner(10)
    run(numbered, batches(X, y))
    weights, _ = outcome(fgm)
    assert all(name.startswith(b"f") for name in weights)
    assert len(weights) == len(outcome(numbered)[0]) == 10


@pytest.mark.parametrize("k", [1, 2, 7, 33, 80, 200])
@pytest.mark.parametrize("rule", ["trim", "paper"])
def test_exactly_k(k, rule):
    X, y = planted(8)
    fgm = learner(k, rule=rule)
    run(fgm, batches(X, y))
    weights, _ = outcome(fgm)
    assert len(weights) == min(k, X.shape[1])


@pytest.mark.parametrize("memory", [1 << 28, 1 << 17])
def test_resume_anywhere_gives_the_same_bits(memory):
    X, y = planted(9)
    rows = batches(X, y, pieces=5)
    whole = learner(16, memory=memory, shift=True)
    run(whole, rows)
    for stop_pass in range(0, 12, 3):
        first = learner(16, memory=memory, shift=True)
        more = True
        for _ in range(stop_pass):
            if not more:
                break
            for batch in rows:
                first.update(batch)
            more = first.end_pass()
        if not more:
            continue
        for batch in rows[:2]:
            first.update(batch)
        second = learner(16, memory=memory, shift=True)
        second.restore(first.state())
        for batch in rows[2:]:
            second.update(batch)
        assert second.end_pass()
        run(second, rows)
        assert outcome(second) == outcome(whole)


def test_importance_is_a_cost():
    """A row of importance 3 counts as three rows."""
    X, y = planted(10, rows=150)
    importance = np.where(np.arange(len(y)) % 3 == 0, 3.0, 1.0)
    repeated = np.repeat(np.arange(len(y)), importance.astype(int))
    weighted = learner(12, C=2.0, tolerance=1e-10)
    run(weighted, batches(X, y, importance=importance))
    copied = learner(12, C=2.0, tolerance=1e-10)
    run(copied, batches(X[repeated], y[repeated]))
    ours, theirs = outcome(weighted)[0], outcome(copied)[0]
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert ours[name] == pytest.approx(theirs[name], rel=1e-2, abs=1e-3)


def test_shift_starts_from_the_bias_alone():
    """A feature that is 1 in every row has no score once sum alpha_i y_i = 0."""
    X, y = planted(11, shift=1.5)
    X[:, 0] = 1.0
    fgm = learner(5, shift=True)
    run(fgm, batches(X, y))
    assert b"0" not in outcome(fgm)[0]
    without = learner(5, shift=False)
    run(without, batches(X, y))
    assert b"0" in outcome(without)[0]


@pytest.mark.parametrize("shift", [False, True])
def test_sketched_scores_choose_the_exact_features(shift):
    """The table of 20,000 features does not fit 64 KB: c is sketched, candidates are scored exactly."""
    rng = np.random.default_rng(13)
    X, y = planted(13, rows=200, width=30, relevant=8, density=1.0)
    noise = np.zeros((200, 20000))
    noise[rng.integers(0, 200, 20000), np.arange(20000)] = 0.05
    wide = np.hstack([X, noise])
    exact = learner(10, shift=shift, trim=1.5)
    run(exact, batches(wide, y))
    assert exact.facts()["scores"] == "exact"
    sketched = learner(10, shift=shift, memory=1 << 18, trim=1.5)
    passes = run(sketched, batches(wide, y, pieces=3, named=False))
    assert sketched.facts()["scores"] == "sketch"
    assert passes == 2 * sketched.facts()["rounds"]
    assert outcome(sketched) == outcome(exact)


def test_memory_is_a_limit():
    X, y = planted(12, width=200)
    with pytest.raises(LimitError):
        run(learner(100, memory=1 << 14), batches(X, y))


@pytest.mark.parametrize("parameters", [{}, {"expand": "gaussian"}, {"degree": 2}], ids=str)
@pytest.mark.parametrize("density", [0.2, 1.0])
def test_threads_change_no_bit(density, parameters):
    """Rows and columns enough that the sums of a round are shared among threads."""
    X, y = planted(14, rows=9000, width=70, density=density)
    rows = batches(X, y)
    outcomes = []
    for threads in (1, 2, 5):
        fgm = learner(12 if parameters else 40, shift=True, threads=threads, **parameters)
        run(fgm, rows)
        outcomes.append((outcome(fgm), fgm.facts()["objective"]))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_threads_change_no_bit_of_groups():
    X, y = planted(15, rows=9000, width=60, density=1.0)
    table = {j: (f"g{j // 4}",) for j in range(60)}
    rows = batches(X, y)
    outcomes = []
    for threads in (1, 3):
        fgm = learner(8, threads=threads, groups=table)
        run(fgm, rows)
        outcomes.append((outcome(fgm), fgm.selection().groups))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("memory", [1 << 28, 1 << 17])
@pytest.mark.parametrize("parameters", [{}, {"expand": "gaussian"}], ids=str)
def test_rows_with_the_keys_of_the_row_before_change_no_bit(memory, parameters):
    """Numbers are looked up once for a run of such rows; in batches of one row no row repeats another's."""
    X, y = planted(17, rows=500, width=40, density=1.0)
    X[30:60] *= np.arange(40) % 3 > 0
    X[100:103, 7] = 0
    X[200:260:2, :5] = 0
    X[300] = 0
    outcomes = []
    for pieces in (1, len(y)):
        fgm = learner(8, memory=memory, **parameters)
        run(fgm, batches(X, y, pieces=pieces))
        assert fgm.facts()["rows_in_memory"] == (memory == 1 << 28)
        outcomes.append((outcome(fgm), fgm.facts()["objective"]))
    assert outcomes[0] == outcomes[1]


def test_rounds_stop_by_rule_37():
    """At the first round that brings less than a share of the objective without features, not below k."""
    X, y = planted(16)
    whole = learner(5, B=2, C=1.0, trim=8.0, rule="paper")
    run(whole, batches(X, y))
    course = [0.5 * len(y), *whole.facts()["objective"]]
    share = 0.02
    wanted = next(t for t in range(3, len(course)) if course[t - 1] - course[t] <= share * course[0])
    assert wanted < len(course) - 1
    stopped = learner(5, B=2, C=1.0, trim=8.0, rule="paper", stop=share)
    run(stopped, batches(X, y))
    assert stopped.facts()["objective"] == course[1 : wanted + 1]
    assert len(outcome(stopped)[0]) == 5


def test_rounds_stop_by_rule_36():
    """Once the bounds are close, and they stay apart in every round but the last two."""
    X, y = planted(17, rows=120, width=20, relevant=5)
    fgm = learner(4, B=3, C=1.0, trim=4.5, rule="paper", gap=0.5, tolerance=1e-9)
    run(fgm, batches(X, y))
    lower, upper = (np.array(fgm.facts()[side]) for side in ("lower_bounds", "upper_bounds"))
    apart = (upper - lower) / np.abs(lower)
    enough = np.flatnonzero(apart <= 0.5)
    assert fgm.facts()["generated"] < 18
    assert len(enough) == 1
    assert enough[0] == len(apart) - 1
