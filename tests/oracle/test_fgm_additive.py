"""Additive kernels in fgm: the expansion that is never written down against the one that is."""

import numpy as np
import pytest

from fsstream import _native
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task
from fsstream.errors import UsageError
from fsstream.expansion import Expansion, part_name, split_part
from fsstream.model import Model
from fsstream.model_file import parse_model
from tests.oracle import fgm_oracle as oracle
from tests.oracle.test_fgm_rounds import batches, gone_on, outcome, run

KERNELS = ("histogram", "gaussian")
SHAPE = {"histogram": 1.0, "gaussian": 0.25}


def places(values, low, high, kernel, shape):
    """t of each value, in 0 .. 1."""
    if kernel == "histogram":
        return np.minimum(np.abs(values) / max(abs(low), abs(high)), 1) ** shape
    return np.clip((values - low) / (high - low), 0, 1) if high > low else np.zeros(len(values))


def features_of(t, kernel, shape):
    """Values x features, from the formulas."""
    if kernel == "histogram":
        return np.clip(100 * t[:, None] - np.arange(100), 0, 1) / 10
    level = shape * np.sqrt(np.pi / 2)
    columns = [np.full(len(t), np.sqrt(level))]
    for m in range(1, 6):
        size = np.sqrt(2 * level * np.exp(-0.5 * (shape * np.pi * m) ** 2))
        columns += [size * np.cos(np.pi * m * t), size * np.sin(np.pi * m * t)]
    return np.column_stack(columns)


def expanded(X, kernel, shape=None):
    """Rows x (feature, part): zeros have no features."""
    shape = SHAPE[kernel] if shape is None else shape
    parts = []
    for x in X.T:
        held = x != 0
        low, high = (x[held].min(), x[held].max()) if held.any() else (0.0, 0.0)
        out = np.zeros((len(x), 100 if kernel == "histogram" else 11))
        out[held] = features_of(places(x[held], low, high, kernel, shape), kernel, shape)
        parts.append(out)
    return np.hstack(parts)


def planted(seed, rows=240, width=12, loss="squared-hinge"):
    """Only functions of single features matter, and none of them is linear."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, width)) * (rng.random((rows, width)) < 0.8)
    X = X.astype(np.float32).astype(np.float64)
    u = np.cos(3 * X[:, 0]) + np.abs(X[:, 1]) - X[:, 2] ** 2 / 2
    return X, (u if loss == "squared" else np.where(u > np.median(u), 1.0, -1.0))


def learner(k, kernel, memory=1 << 28, loss="squared-hinge", shift=False, **parameters):
    common = Common(k=k, memory=memory, intercept=shift)
    return Fgm(common, Fgm.Parameters(expand=kernel, **parameters), Task(loss, ("-1", "1")))


@pytest.mark.parametrize(("kernel", "shape"), [("histogram", 1.0), ("histogram", 0.5), ("gaussian", 0.25)])
def test_features_are_those_of_the_formulas(kernel, shape):
    rng = np.random.default_rng(0)
    values = rng.uniform(-2, 3, 400).astype(np.float32)
    ours = _native.AdditiveMap(kernel, shape).expand(values, -2.0, 3.0)
    theirs = features_of(places(values.astype(float), -2.0, 3.0, kernel, shape), kernel, shape)
    # Between its knots the Gaussian map is a straight line.
    np.testing.assert_allclose(ours, theirs, atol=2e-6 if kernel == "histogram" else 2e-4)


@pytest.mark.parametrize("exponent", [1.0, 0.5, 2.0])
def test_products_of_histogram_features_are_the_kernel(exponent):
    """min(|x|^a, |z|^a), exactly where one of both is a hundredth."""
    t = np.arange(1, 101) / 100
    values = (t ** (1 / exponent)).astype(np.float32)
    phi = _native.AdditiveMap("histogram", exponent).expand(values, 0.0, 1.0).astype(float)
    np.testing.assert_allclose(phi @ phi.T, np.minimum.outer(t, t), atol=2e-5)


def test_products_of_gaussian_features_are_the_kernel():
    t = np.linspace(0.001, 1, 200).astype(np.float32)
    phi = _native.AdditiveMap("gaussian", 0.25).expand(t, 0.001, 1.0).astype(float)
    gap = np.subtract.outer(t, t) / 0.999
    np.testing.assert_allclose(phi @ phi.T, np.exp(-(gap**2) / 2 / 0.25**2), atol=2e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic", "squared"])
def test_rounds_are_those_of_the_map_written_down(kernel, loss):
    """The same groups round by round, and the optimum of the reduced problem over them."""
    X, y = planted(1, loss=loss)
    phi = expanded(X, kernel)
    size = phi.shape[1] // X.shape[1]
    costs = np.full(len(y), 0.3)
    r, chosen, groups, weights = oracle.start_residuals(loss, y, costs, False), [], [], np.zeros(0)
    for _ in range(3):
        squares = ((phi.T @ r).reshape(-1, size) ** 2).sum(1)
        fresh = sorted(set(range(len(squares))) - set(chosen), key=lambda j: -squares[j])[:2]
        chosen += fresh
        columns = np.concatenate([np.arange(j * size, (j + 1) * size) for j in chosen])
        groups.append(list(range(len(weights), len(weights) + 2 * size)))
        weights = np.concatenate([weights, np.zeros(2 * size)])
        problem = oracle.Reduced(phi[:, columns], y, costs, groups, loss)
        weights, _ = problem.apg(weights, 0.0, 1e-10, restart=True)
        r = oracle.residuals(loss, y, costs, phi[:, columns] @ weights)
    fgm = learner(6, kernel, loss=loss, B=2, C=0.3, trim=1.0, tolerance=1e-10)
    run(fgm, batches(X, y))
    assert set(fgm.selection().groups) == {str(j) for j in chosen}
    assert fgm.facts()["objective"][-1] == pytest.approx(problem.objective(weights, 0.0), rel=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_over_a_run_are_those_over_its_columns(kernel):
    """dots, squares and decision values of the cache, whether rows are dense or sparse."""
    rng = np.random.default_rng(2)
    for density in (0.2, 0.9):
        X = rng.normal(size=(150, 2)) * (rng.random((150, 2)) < density)
        X = X.astype(np.float32).astype(np.float64)
        y = np.where(X[:, 0] ** 2 > 0.3, 1.0, -1.0)
        fgm = learner(2, kernel, trim=1.0, B=2, C=1.0)
        run(fgm, batches(X, y))
        cache, phi = fgm._machine.problem.columns, expanded(X, kernel)
        order = [int(name) for name in dict.fromkeys(name.split(b"#")[0] for name in fgm._machine.names)]
        size = phi.shape[1] // 2
        phi = np.hstack([phi[:, j * size : (j + 1) * size] for j in order])
        columns, r = np.arange(2 * size, dtype=np.uint32), rng.normal(size=150)
        np.testing.assert_allclose(cache.dots(columns, r), phi.T @ r, rtol=2e-3, atol=5e-3)
        np.testing.assert_allclose(cache.square_sums(columns, r**2), (phi**2).T @ r**2, rtol=5e-3, atol=5e-3)
        weights = fgm._machine.problem.by_column()
        np.testing.assert_allclose(fgm._machine.problem.decision, phi @ weights, atol=5e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_planted_functions_are_found(kernel):
    X, y = planted(3, rows=1200)
    fgm = learner(3, kernel, shift=True)
    run(fgm, batches(X, y))
    assert set(fgm.selection().groups) == {"0", "1", "2"}
    # The Gaussian is too wide here for all of cos(3 x); no linear model gets beyond 0.6.
    assert np.mean(np.sign(fgm._machine.problem.decision) == y) > 0.8


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("named", [False, True])
def test_scans_give_the_bits_of_rows_in_memory(kernel, named):
    """Also when the sums of only some features fit a scan."""
    X, y = planted(4, rows=900)
    kept = learner(4, kernel, shift=True)
    run(kept, batches(X, y, named=named))
    scanned = learner(4, kernel, shift=True, memory=1 << 16)
    passes = run(scanned, batches(X, y, pieces=6, named=named))
    assert not scanned.facts()["rows_in_memory"]
    assert passes > 2 * scanned.facts()["rounds"]
    assert outcome(scanned) == outcome(kept)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_model_predicts_and_survives_its_file(kernel):
    X, y = planted(5)
    fgm = learner(3, kernel, shift=True)
    rows = batches(X, y)
    run(fgm, rows)
    told = {"kind": "binary", "loss": "squared-hinge", "labels": ("-1", "1"), "options": {"algo": "fgm"}}
    model = Model(fgm.selection(), fgm.intercepts(), basis=fgm.basis(), **told)
    again = parse_model(model.to_bytes(), "a model")
    for each in (model, again):
        scores = each.predictor().predict(rows[0])
        np.testing.assert_allclose(scores[:, 0], fgm._machine.problem.decision, atol=1e-3)
    assert again.basis.described() == model.basis.described()


def test_values_outside_the_range_count_as_its_end():
    native = _native.AdditiveMap("gaussian", 0.25)
    inside, outside = (native.expand(np.array(v, np.float32), -1.0, 2.0) for v in ([-1, 2], [-9, 7]))
    assert inside.tolist() == outside.tolist()
    assert not native.expand(np.zeros(1, np.float32), -1.0, 2.0).any()


def test_resume_in_the_middle():
    X, y = planted(6, rows=900)
    rows = batches(X, y, pieces=4)

    def fresh():
        return learner(4, "gaussian", memory=1 << 16)

    whole = fresh()
    run(whole, rows)
    assert outcome(gone_on(fresh, rows, 4)) == outcome(whole)


def test_names_of_parts():
    assert split_part(part_name(b"a#1", 7)) == (b"a#1", 7)
    for name in (b"a", b"a#", b"a#b", b"a#12345"):
        with pytest.raises(ValueError, match="not a part"):
            split_part(name)


@pytest.mark.parametrize("break_it", [{"lows": 1}, {"highs": -9.0}, {"shape": -1.0}, {"expands": "cubic"}])
def test_a_hostile_expansion_is_refused(break_it):
    facts, arrays = Expansion(
        "gaussian", 0.25, [b"a"], np.zeros(1, np.float32), np.ones(1, np.float32)
    ).parts()
    for key, value in break_it.items():
        if key in facts:
            facts[key] = value
        else:
            arrays[key] = np.full(2 if value == 1 else 1, value, np.float32)
    with pytest.raises(ValueError, match=r"range|kernel"):
        Expansion.from_parts(facts, arrays)


@pytest.mark.parametrize(
    "parameters",
    [
        {"expand": "gaussian", "degree": 2},
        {"expand": "gaussian", "groups": "namespace"},
        {"expand": "gaussian", "exponent": 2.0},
        {"expand": "histogram", "width": 0.5},
        {"expand": "histogram", "exponent": 0.0},
        {"exponent": 2.0},
    ],
)
def test_what_does_not_go_together(parameters):
    with pytest.raises(UsageError):
        Fgm(Common(k=3), Fgm.Parameters(**parameters), Task("logistic", ("0", "1")))
