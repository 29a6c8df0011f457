"""Experiments of the Sparse Random Features paper: Tables 1 and 2, Figure 1, and scikit-learn beside it.

    python scripts/reproduce_srf.py SECTION... --data DIR [--sets cpu_act,ijcnn1,covtype_binary] [--rows N]
        [--kernels gaussian,...] [--features D] [--peer-features N,...] [--plot FILE.svg]

Sections: tables (sparse-rf, rf, exact kernel), figure (objective and error against features drawn, with
boosting), peer (RBFSampler + l1 logistic regression). Each prints one Markdown table.

DIR holds NAME/all.libsvm.zst, or train and test. Scale and multiple of the median width are chosen on a
tenth of the training rows; lambda_N from 1, 10, 100, 1000 to come nearest to RF's result on that tenth, as
in the paper, never on the test rows. --rows N learns from N random training rows. Times are CPU seconds;
memory is what rows, vectors and features at hand take.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import zstandard

from fsstream import _native
from fsstream.algorithms.boosting import Boosting, BoostingParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.rf import Rf, RfParameters
from fsstream.algorithms.sparse_rf import SparseRf, SparseRfParameters

KERNELS = ("gaussian", "laplacian", "perceptron")
SCALES = ("standard", "log", "range")
MULTIPLES = (0.125, 0.25, 0.5, 1.0)  # of the median distance
LAMBDAS = (1.0, 10.0, 100.0, 1000.0)
MEMORY = 12 << 30
TRIAL_ROWS, TRIAL_FEATURES = 4_000, 500
LAMBDA_ROWS = 20_000  # learned from while lambda_N is chosen
PAPER_SIZE = {
    ("cpu_act", "gaussian"): 57, ("cpu_act", "laplacian"): 289, ("cpu_act", "perceptron"): 251,
    ("ijcnn1", "gaussian"): 1_392, ("ijcnn1", "laplacian"): 2_508, ("ijcnn1", "perceptron"): 1_530,
    ("covtype_binary", "gaussian"): 3_421, ("covtype_binary", "laplacian"): 3_141,
    ("covtype_binary", "perceptron"): 1_401,
}  # fmt: skip
PAPER = {
    ("cpu_act", "gaussian"): "kernel .038, rf .037, sparse-rf .032 (57, 22 s)",
    ("cpu_act", "laplacian"): "kernel .034, rf .035, sparse-rf .027 (289, 43 s)",
    ("cpu_act", "perceptron"): "kernel .026, rf .038, sparse-rf .027 (251, 27 s)",
    ("ijcnn1", "gaussian"): "kernel .991, rf .989, sparse-rf .989 (1,392, 292 s)",
    ("ijcnn1", "laplacian"): "kernel .995, rf .992, sparse-rf .992 (2,508, 379 s)",
    ("ijcnn1", "perceptron"): "kernel .991, rf .987, sparse-rf .988 (1,530, 490 s)",
    ("covtype_binary", "gaussian"): "kernel .849, rf .829, sparse-rf .836 (3,421, 6,273 s)",
    ("covtype_binary", "laplacian"): "kernel .954, rf .888, sparse-rf .869 (3,141, 2,788 s)",
    ("covtype_binary", "perceptron"): "kernel .905, rf .835, sparse-rf .836 (1,401, 1,706 s)",
}


@dataclass(frozen=True)
class Rows:
    """Dense rows (few inputs in all three sets) and targets."""

    X: np.ndarray
    y: np.ndarray

    def __len__(self):
        return len(self.y)

    def some(self, places):
        return Rows(self.X[places], self.y[places])

    def batch(self):
        filled = self.X != 0
        starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.uint64)
        keys = np.nonzero(filled)[1].astype(np.uint64)
        return _native.Batch.from_arrays(starts, keys, self.X[filled], self.y)


@dataclass(frozen=True)
class Features:
    """What is chosen before the comparison: the kernel, its width and the scale of the inputs."""

    kernel: str
    scale: str
    width: float


def read(path):
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    batch = _native.Batch()
    _native.LibsvmParser().parse(text, batch, False)
    starts, keys = batch.row_starts.astype(np.int64), batch.keys.astype(np.int64)
    X = np.zeros((batch.rows, int(keys.max()) + 1), np.float32)
    X[np.repeat(np.arange(batch.rows), np.diff(starts)), keys] = batch.values
    return X, np.array(batch.label_values)


def load(name, data, official):
    folder = data / name
    if (folder / "all.libsvm.zst").exists():
        X, labels = read(folder / "all.libsvm.zst")
        parts = None
    else:
        pieces = [read(folder / f"{half}.libsvm.zst") for half in ("train", "test")]
        width = max(X.shape[1] for X, _ in pieces)
        X = np.concatenate([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X, _ in pieces])
        labels = np.concatenate([y for _, y in pieces])
        parts = len(pieces[0][1])
    y = labels / 99 if name == "cpu_act" else np.where(labels == labels.max(), 1.0, -1.0)
    rows = Rows(X, y.astype(np.float32))
    if official and parts:
        return rows.some(np.arange(parts)), rows.some(np.arange(parts, len(y)))
    order = np.random.default_rng(0).permutation(len(y))
    held = {"cpu_act": 819, "ijcnn1": 14_100}.get(name, len(y) // 5)
    train = {"cpu_act": 6_554}.get(name, len(y) - held)
    return rows.some(order[:train]), rows.some(order[train : train + held])


def loss_of(rows):
    return "squared-hinge" if set(np.unique(rows.y)) == {-1.0, 1.0} else "squared"


def quality(loss, scores, y):
    """Accuracy, or RMSE."""
    if loss == "squared":
        return float(np.sqrt(np.mean((scores - y) ** 2)))
    return float(np.mean((scores > 0) == (y > 0)))


def better(loss, a, b):
    return a < b if loss == "squared" else a > b


def fit(make, rows):
    started = time.process_time()
    learner = make()
    learner.update(rows.batch())
    assert not learner.end_pass(), "the rows do not fit"
    return learner, time.process_time() - started


def predict(learner, rows):
    selection, basis = learner.selection(), learner.basis()
    none = np.zeros(len(selection), np.uint32)
    model = _native.RandomFeatureModel(
        basis.selected_map(selection.raw_names, none), basis.inputs.logarithms, basis.inputs.keys,
        selection.weights, none, learner.intercepts().astype(np.float64),
    )  # fmt: skip
    batch = rows.batch()
    started = time.process_time()
    scores = model.predict(batch)[:, 0]
    return scores, time.process_time() - started


def megabytes(learner, features):
    machine = learner.machine
    return (machine.rows.bytes + _native.SparseProblem.bytes_for(machine.rows.rows, features)) / 1e6


def make_rf(loss, features, count, l2=0.0):
    parameters = RfParameters(kernel=features.kernel, width=features.width, scale=features.scale)
    return lambda: Rf(Common(k=count, l2=l2, memory=MEMORY), parameters, Task(loss))


def make_sparse(loss, features, l1=None, k=None, **more):
    parameters = SparseRfParameters(
        kernel=features.kernel, width=features.width, scale=features.scale, **more
    )
    return lambda: SparseRf(Common(k=k, l1=l1, memory=MEMORY), parameters, Task(loss))


def make_boosting(loss, parameters, l1):
    return lambda: Boosting(Common(l1=l1, memory=MEMORY), parameters, Task(loss))


def halves(train):
    """Nine tenths to learn from, one tenth to choose by."""
    order = np.random.default_rng(1).permutation(len(train))
    cut = len(train) // 10
    return train.some(order[cut:]), train.some(order[:cut])


def choose_features(train, kernel):
    """Scale and width by RF with few features on few rows."""
    loss = loss_of(train)
    learn, judge = halves(train)
    learn = learn.some(np.arange(min(len(learn), TRIAL_ROWS)))
    judge = judge.some(np.arange(min(len(judge), TRIAL_ROWS)))
    best, chosen = None, None
    for scale in SCALES:
        start = Features(kernel, scale, 0.0)
        probe, _ = fit(make_rf(loss, start, 1), learn)
        median = probe.machine.basis.width
        for multiple in MULTIPLES if kernel != "perceptron" else (1.0,):
            features = replace(start, width=median * multiple)
            learner, _ = fit(make_rf(loss, features, TRIAL_FEATURES), learn)
            found = quality(loss, predict(learner, judge)[0], judge.y)
            if best is None or better(loss, found, best):
                best, chosen = found, features
    return chosen


def choose_lambda(learn, judge, features, wanted, make):
    """The paper's rule, on a held-out tenth: nearest to RF."""
    loss = loss_of(learn)
    trials = []
    for scaled in LAMBDAS:
        learner, _ = fit(make(scaled / len(learn)), learn)
        found = quality(loss, predict(learner, judge)[0], judge.y) if len(learner.selection()) else np.inf
        trials.append((abs(found - wanted), scaled))
    return min(trials)[1]


def tables(options):
    print("| set, kernel | scale, width | method | size | error or accuracy | train s | predict s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kernel in itertools.product(options.sets, options.kernels):
        train, test = load(name, options.data, options.official)
        train = train.some(np.arange(min(options.rows or len(train), len(train))))
        loss = loss_of(train)
        features = choose_features(train, kernel)
        head = f"| {name} {kernel}, {len(train):,} rows | {features.scale}, {features.width:.3g} |"
        draw = 500
        rounds = options.features // draw

        learn, judge = halves(train)
        learn = learn.some(np.arange(min(len(learn), LAMBDA_ROWS)))
        judged, _ = fit(make_rf(loss, features, options.rf_features), learn)
        reference = quality(loss, predict(judged, judge)[0], judge.y)
        make = lambda l1: make_sparse(loss, features, l1=l1, draw=draw, rounds=rounds)  # noqa: B023, E731
        scaled = choose_lambda(learn, judge, features, reference, make)

        def show(method, learner, seconds, at_hand):
            scores, predicting = predict(learner, test)  # noqa: B023
            found = quality(loss, scores, test.y)  # noqa: B023
            size = f"{len(learner.selection()):,}"
            line = f"{found:.4f} | {seconds:.1f} | {predicting:.2f} | {megabytes(learner, at_hand):,.0f} |"
            print(head, f"{method} | {size} | {line}", flush=True)  # noqa: B023

        learner, seconds = fit(make_rf(loss, features, options.rf_features), train)
        show("rf", learner, seconds, options.rf_features)
        learner, seconds = fit(make(scaled / len(train)), train)
        most = draw + max(learner.features)
        show(f"sparse-rf, lambda_N {scaled:g}", learner, seconds, most)
        del learner
        size = PAPER_SIZE[name, kernel]
        learner, seconds = fit(make_sparse(loss, features, k=size, draw=draw, rounds=rounds), train)
        show("sparse-rf, the paper's size", learner, seconds, draw + max(learner.features))
        if len(train) <= options.kernel_rows and kernel != "perceptron":
            exact(head, features, train, test, learner, loss)
        print(head, f"paper | | {PAPER[name, kernel]} | | | |", flush=True)


def exact(head, features, train, test, learner, loss):
    """scikit-learn's kernel method over the same inputs; lambda_N = 1."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC

    inputs, width = learner.machine.basis.inputs, learner.machine.basis.width

    def seen(rows):
        X = rows.X[:, inputs.keys.astype(np.int64)].astype(np.float64)
        X = np.sign(X) * np.log1p(np.abs(X)) if inputs.logarithms else X
        return (X - inputs.centres) * inputs.inverses

    kernel = {"gaussian": "rbf", "laplacian": "laplacian"}[features.kernel]
    gamma = 1 / (2 * width**2) if kernel == "rbf" else 1 / width
    if loss == "squared":
        model = KernelRidge(alpha=1.0, kernel=kernel, gamma=gamma)
    elif kernel == "rbf":
        model = SVC(C=0.5, kernel="rbf", gamma=gamma, cache_size=500)
    else:
        return
    offset = float(train.y.mean()) if loss == "squared" else 0.0
    started = time.process_time()
    model.fit(seen(train), train.y - offset)
    seconds = time.process_time() - started
    started = time.process_time()
    scores = model.predict(seen(test)) + offset if loss == "squared" else model.decision_function(seen(test))
    predicting = time.process_time() - started
    size = len(model.support_) if loss != "squared" else len(train)
    found = quality(loss, scores, test.y)
    print(head, f"exact kernel | {size:,} | {found:.4f} | {seconds:.1f} | {predicting:.2f} | |", flush=True)


def figure(options):
    """Objective and error against the features drawn, perceptrons, one lambda."""
    name = options.sets[0]
    train, test = load(name, options.data, options.official)
    train = train.some(np.arange(min(options.rows or len(train), len(train))))
    loss = loss_of(train)
    features = choose_features(train, "perceptron")
    l1 = options.lambda_n / len(train)
    drawn = [25, 50, 100, 200, 400, 800, 1600]
    curves = {"sparse-rf": [], "boosting": []}
    print(
        "| features drawn | sparse-rf objective | error | features | boosting objective | error | features |"
    )
    print("|---|---|---|---|---|---|---|")
    for count in drawn:
        line = [f"| {count}"]
        more = {"steps": 20, "tolerance": 0.001}
        parameters = BoostingParameters(scale=features.scale, rounds=count, **more)
        makers = {
            "sparse-rf": make_sparse(loss, features, l1=l1, draw=25, rounds=count // 25, **more),
            "boosting": make_boosting(loss, parameters, l1),
        }
        for method, make in makers.items():
            if method == "boosting" and count > options.boosted:
                line.append("| | |")
                continue
            learner, _ = fit(make, train)
            objective = learner.machine.reports[-1].objective
            wrong = 1 - quality(loss, predict(learner, test)[0], test.y)
            curves[method].append((objective, wrong))
            line.append(f"| {objective:.4f} | {wrong:.4f} | {len(learner.selection())}")
        print(" ".join(line), "|", flush=True)
    if options.plot:
        from barda_plot import line_chart

        for place, what in enumerate(("objective", "error")):
            chart = line_chart(
                f"{name}, perceptrons: {what} by features drawn",
                drawn,
                {method: [(point[place], 0.0) for point in points] for method, points in curves.items()},
            )
            path = options.plot.with_stem(f"{options.plot.stem}-{what}")
            path.write_text(chart)


def peer(options):
    """RBFSampler and l1 logistic regression against sparse-rf at the peer's size."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import LogisticRegression

    print("| set | method | features | accuracy | CPU s |\n|---|---|---|---|---|")
    for name in options.sets:
        train, test = load(name, options.data, options.official)
        train = train.some(np.arange(min(options.rows or len(train), len(train))))
        features = choose_features(train, "gaussian")
        probe, _ = fit(make_rf("logistic", features, 1), train)
        inputs, width = probe.machine.basis.inputs, probe.machine.basis.width

        def seen(rows):
            X = rows.X[:, inputs.keys.astype(np.int64)].astype(np.float64)  # noqa: B023
            X = np.sign(X) * np.log1p(np.abs(X)) if inputs.logarithms else X  # noqa: B023
            return ((X - inputs.centres) * inputs.inverses).astype(np.float32)  # noqa: B023

        for drawn, cost in itertools.product(options.peer_features, (1.0,)):
            started = time.process_time()
            sampler = RBFSampler(gamma=1 / (2 * width**2), n_components=drawn, random_state=0)
            Z = sampler.fit_transform(seen(train)) * np.float32(np.sqrt(drawn))
            model = LogisticRegression(penalty="l1", C=cost, solver="liblinear").fit(Z, train.y)
            seconds = time.process_time() - started
            found = np.mean(
                model.predict(sampler.transform(seen(test)) * np.float32(np.sqrt(drawn))) == test.y
            )
            size = int(np.count_nonzero(model.coef_))
            del Z
            print(f"| {name}, {len(train):,} rows | RBFSampler({drawn}) + l1 logistic, C = {cost:g} "
                  f"| {size} | {found:.4f} | {seconds:.1f} |", flush=True)  # fmt: skip
            for method, make in {
                "sparse-rf, the same l1": make_sparse(
                    "logistic", features, l1=1 / (cost * len(train)), draw=drawn, rounds=1
                ),
                "sparse-rf --k": make_sparse(
                    "logistic", features, k=size, draw=500, rounds=max(4, drawn // 250)
                ),
            }.items():
                learner, seconds = fit(make, train)
                found = quality("logistic", predict(learner, test)[0], test.y)
                print(f"| | {method}, {learner.machine.drawn} drawn | {len(learner.selection())} "
                      f"| {found:.4f} | {seconds:.1f} |", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="+", choices=("tables", "figure", "peer"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["cpu_act"])
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=list(KERNELS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--official", action="store_true", help="the split of the files, not a random one")
    parser.add_argument("--features", type=int, default=10_000, help="drawn by sparse-rf (D)")
    parser.add_argument("--rf-features", type=int, default=2_000, help="of rf")
    parser.add_argument("--kernel-rows", type=int, default=7_000, help="exact kernels up to so many rows")
    parser.add_argument(
        "--peer-features", type=lambda text: [int(n) for n in text.split(",")], default=[1000, 2000]
    )
    parser.add_argument("--lambda-n", type=float, default=10.0)
    parser.add_argument("--boosted", type=int, default=400, help="most features boosting learns")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent))
    for section in options.sections:
        {"tables": tables, "figure": figure, "peer": peer}[section](options)


if __name__ == "__main__":
    main()
