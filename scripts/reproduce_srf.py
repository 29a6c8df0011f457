"""Experiments of the Sparse Random Features paper: Tables 1 and 2, Figure 1, and scikit-learn beside it.

    python scripts/reproduce_srf.py SECTION... --data DIR [--sets cpu_act,ijcnn1,covtype_binary] [--rows N]
        [--kernels gaussian,...] [--methods rf,sparse-rf,size,exact,boosting] [--choices FILE.json]
        [--features D] [--draw R] [--round-rows N] [--size K] [--rf-features N] [--official]
        [--trial-rows N] [--trial-features N] [--plot FILE.svg]

Sections: tables (sparse-rf, rf, boosting, exact kernel), figure (objective and error against features
drawn, with boosting and the kernel method's bound), peer (RBFSampler + l1 logistic regression). Each
prints one Markdown table.

DIR holds NAME/all.libsvm.zst, or train and test. Scale and multiple of the median width are chosen on a
tenth of the training rows; lambda_N from 1000, 100, 10, 1 to come nearest to RF's result on that tenth, as
in the paper, never on the test rows. The method `size` keeps the paper's number of features, or K. With
--choices they are kept in a file, and used when they are there, so that a table can be made row by row.
--rows N learns from N random training rows. Times are CPU seconds of all threads; memory is what rows,
vectors and features at hand take, or the exact kernel's matrix.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from srf_kernels import find_bound, fit_exact, seen
from srf_sets import better, halves, load, loss_of, quality

from fsstream import _native
from fsstream.algorithms.boosting import Boosting, BoostingParameters
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.random_features.path import TO_SEARCH_IN
from fsstream.algorithms.rf import Rf, RfParameters
from fsstream.algorithms.sparse_rf import SparseRf, SparseRfParameters

KERNELS = ("gaussian", "laplacian", "perceptron")
METHODS = ("rf", "sparse-rf", "size", "exact", "boosting")
SCALES = ("standard", "log", "range")
MULTIPLES = (0.125, 0.25, 0.5, 1.0)  # of the median distance
LAMBDAS = (1000.0, 100.0, 10.0, 1.0)
MEMORY = 16 << 30
LAMBDA_ROWS, LAMBDA_FEATURES = 20_000, 2_000  # while lambda_N is chosen
PAPER = {  # size of sparse-rf, and what the paper says of all three
    ("cpu_act", "gaussian"): (57, "kernel .038, rf .037, sparse-rf .032 (57, 22 s)"),
    ("cpu_act", "laplacian"): (289, "kernel .034, rf .035, sparse-rf .027 (289, 43 s)"),
    ("cpu_act", "perceptron"): (251, "kernel .026, rf .038, sparse-rf .027 (251, 27 s)"),
    ("ijcnn1", "gaussian"): (1_392, "kernel .991, rf .989, sparse-rf .989 (1,392, 292 s)"),
    ("ijcnn1", "laplacian"): (2_508, "kernel .995, rf .992, sparse-rf .992 (2,508, 379 s)"),
    ("ijcnn1", "perceptron"): (1_530, "kernel .991, rf .987, sparse-rf .988 (1,530, 490 s)"),
    ("covtype_binary", "gaussian"): (3_421, "kernel .849, rf .829, sparse-rf .836 (3,421, 6,273 s)"),
    ("covtype_binary", "laplacian"): (3_141, "kernel .954, rf .888, sparse-rf .869 (3,141, 2,788 s)"),
    ("covtype_binary", "perceptron"): (1_401, "kernel .905, rf .835, sparse-rf .836 (1,401, 1,706 s)"),
}


@dataclass(frozen=True)
class Features:
    """What is chosen before the comparison: the kernel, its width and the scale of the inputs."""

    kernel: str
    scale: str
    width: float
    thresholds: str = "data"  # of perceptrons; uniform: those of the kernel const - |x - y|


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
    """Rows, and the largest problem: so many rows and features at once."""
    most = max(_native.SparseProblem.bytes_for(rows, count) for rows, count in features)
    return (learner.machine.rows.bytes + most) / 1e6


def rounds_of(learner, draw):
    """Rows and features at hand in each round; the last one draws none when the others had a sample."""
    searched = 0 if learner.common.l1 else TO_SEARCH_IN * (learner.common.k or 0)
    left = [0, *(max(count, round(searched)) for count in learner.features)]
    drawn = [draw] * -(-learner.machine.drawn // draw) + [0]
    return [(rows, left[i] + drawn[i]) for i, rows in enumerate(learner.rows_in_rounds)]


def make_rf(loss, features, count, threads=1):
    parameters = RfParameters(**asdict(features))
    return lambda: Rf(Common(k=count, memory=MEMORY, threads=threads), parameters, Task(loss))


def make_sparse(loss, features, l1=None, k=None, threads=1, **more):
    parameters = SparseRfParameters(**asdict(features), **more)
    return lambda: SparseRf(Common(k=k, l1=l1, memory=MEMORY, threads=threads), parameters, Task(loss))


def make_boosting(loss, parameters, l1):
    return lambda: Boosting(Common(l1=l1, memory=MEMORY), parameters, Task(loss))


def choose_features(train, kernel, options):
    """Scale and width by RF with few features on few rows."""
    loss = loss_of(train)
    learn, judge = (part.first(options.trial_rows) for part in halves(train))
    best, chosen = None, None
    for scale in SCALES:
        start = Features(kernel, scale, 0.0)
        probe, _ = fit(make_rf(loss, start, 1), learn)
        median = probe.machine.basis.width
        for multiple in MULTIPLES if kernel != "perceptron" else (1.0,):
            features = replace(start, width=median * multiple)
            learner, _ = fit(make_rf(loss, features, options.trial_features), learn)
            found = quality(loss, predict(learner, judge)[0], judge.y)
            if best is None or better(loss, found, best):
                best, chosen = found, features
    return chosen


def choose_lambda(train, features):
    """The paper's rule: nearest to RF. From the largest on; those after the first that RF does not beat are
    farther from it."""
    loss = loss_of(train)
    learn, judge = halves(train)
    learn = learn.first(LAMBDA_ROWS)
    reference, _ = fit(make_rf(loss, features, LAMBDA_FEATURES), learn)
    wanted = quality(loss, predict(reference, judge)[0], judge.y)
    trials = []
    for scaled in LAMBDAS:
        make = make_sparse(loss, features, l1=scaled / len(learn), draw=500, rounds=LAMBDA_FEATURES // 500)
        learner, _ = fit(make, learn)
        found = quality(loss, predict(learner, judge)[0], judge.y)
        trials.append((abs(found - wanted), scaled))
        if not better(loss, wanted, found):
            break
    return min(trials)[1]


def choices_of(train, kernel, name, options):
    """Features and lambda_N: from the file, or chosen now and kept there."""
    file = options.choices
    known = json.loads(file.read_text()) if file and file.exists() else {}
    if name not in known:
        features = choose_features(train, kernel, options)
        known[name] = {**asdict(features), "lambda_n": choose_lambda(train, features)}
        if file:
            file.write_text(json.dumps(known, indent=1) + "\n")
    chosen = dict(known[name])
    scaled = chosen.pop("lambda_n")
    return Features(**chosen), scaled


def tables(options):
    print("| set, kernel | scale, width | method | size | error or accuracy | train s | predict s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kernel in itertools.product(options.sets, options.kernels):
        train, test = load(name, options.data, options.official)
        train = train.first(options.rows)
        loss = loss_of(train)
        label = f"{name} {kernel}{' official' if options.official else ''}, {len(train):,} rows"
        features, scaled = choices_of(train, kernel, label, options)
        head = f"| {label} | {features.scale}, {features.width:.3g} |"
        size, paper = PAPER[name, kernel]
        size = options.size or size
        rounds = options.features // options.draw
        drawing = {"draw": options.draw, "rounds": rounds, "threads": options.threads}
        if options.round_rows is not None:
            drawing["round_rows"] = options.round_rows

        def line(method, size, scores, *costs):
            found = quality(loss, scores, test.y)  # noqa: B023
            spent = "{:.1f} | {:.2f} | {:,.0f}".format(*costs)
            print(head, f"{method} | {size:,} | {found:.4f} | {spent} |", flush=True)  # noqa: B023

        def show(method, make, at_hand):
            learner, seconds = fit(make, train)  # noqa: B023
            scores, predicting = predict(learner, test)  # noqa: B023
            memory = megabytes(learner, at_hand(learner))
            line(method, len(learner.selection()), scores, seconds, predicting, memory)

        with_drawn = lambda learner: rounds_of(learner, options.draw)  # noqa: E731
        whole = lambda learner: [(len(train), len(learner.selection()))]  # noqa: B023, E731
        if "rf" in options.methods:
            count = options.rf_features
            show("rf", make_rf(loss, features, count, options.threads), whole)
        if "sparse-rf" in options.methods:
            make = make_sparse(loss, features, l1=scaled / len(train), **drawing)
            show(f"sparse-rf, lambda_N {scaled:g}", make, with_drawn)
        if "size" in options.methods:
            show("sparse-rf, --k", make_sparse(loss, features, k=size, **drawing), with_drawn)
        if "boosting" in options.methods and kernel == "perceptron":
            parameters = BoostingParameters(scale=features.scale, rounds=options.boosted)
            show(
                f"boosting, lambda_N {scaled:g}", make_boosting(loss, parameters, scaled / len(train)), whole
            )
        if "exact" in options.methods and len(train) <= options.kernel_rows:
            probe, _ = fit(make_rf(loss, features, 1), train)
            machine, support, seconds, memory = fit_exact(probe.machine.basis, train, loss)
            started = time.process_time()
            scores = machine(test.X)
            line("exact kernel", support, scores, seconds, time.process_time() - started, memory)
        print(head, f"paper | | {paper} | | | |", flush=True)


def figure(options):
    """Objective and error against the features drawn, perceptrons, one lambda; the kernel method's bound."""
    name = options.sets[0]
    train, test = load(name, options.data, options.official)
    train = train.first(options.rows)
    loss = loss_of(train)
    features = replace(choose_features(train, "perceptron", options), thresholds="uniform")
    l1 = options.lambda_n / len(train)
    probe, _ = fit(make_rf(loss, features, 1), train)
    bound = find_bound(probe.machine.basis, train, l1)
    kernel_error = 1 - quality(loss, bound.scores(test.X), test.y)
    print(f"Bound {bound.value:.4f} + {bound.excess:.4g} / (D - {bound.c:.3g}); the kernel machine's error "
          f"{kernel_error:.4f}\n")  # fmt: skip
    drawn = [25, 50, 100, 200, 400, 800, 1600, 3200]
    curves = {"sparse-rf": [], "boosting": []}
    print("| features drawn | sparse-rf objective | above the bound | times D | error | features "
          "| boosting objective | error | features |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
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
            above = objective - bound.value
            more_of_it = f" | {above:+.4f} | {above * count:+.1f}" if method == "sparse-rf" else ""
            line.append(f"| {objective:.4f}{more_of_it} | {wrong:.4f} | {len(learner.selection())}")
        print(" ".join(line), "|", flush=True)
    if options.plot:
        draw_figure(name, drawn, curves, (bound.value, kernel_error), options.plot)


def draw_figure(name, drawn, curves, kernel, path):
    from barda_plot import line_chart

    for place, what in enumerate(("objective", "error")):
        points = {method: [(point[place], 0.0) for point in found] for method, found in curves.items()}
        points["kernel: bound" if what == "objective" else "kernel"] = [(kernel[place], 0.0)] * len(drawn)
        chart = line_chart(f"{name}, perceptrons: {what} by features drawn", drawn, points)
        path.with_stem(f"{path.stem}-{what}").write_text(chart)


def peer(options):
    """RBFSampler and l1 logistic regression against sparse-rf, at the peer's l1 weight and at its size."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import LogisticRegression

    print("| set | method | features | accuracy | CPU s |\n|---|---|---|---|---|")
    for name, drawn in itertools.product(options.sets, options.peer_features):
        train, test = load(name, options.data, options.official)
        train = train.first(options.rows)
        features = choose_features(train, "gaussian", options)
        probe, _ = fit(make_rf("logistic", features, 1), train)
        basis = probe.machine.basis

        started = time.process_time()
        sampler = RBFSampler(gamma=1 / (2 * basis.width**2), n_components=drawn, random_state=0)
        root = np.float32(np.sqrt(drawn))
        Z = sampler.fit_transform(seen(basis, train.X).astype(np.float32)) * root
        model = LogisticRegression(penalty="l1", C=1.0, solver="liblinear").fit(Z, train.y)
        seconds = time.process_time() - started
        found = np.mean(
            model.predict(sampler.transform(seen(basis, test.X).astype(np.float32)) * root) == test.y
        )
        size = int(np.count_nonzero(model.coef_))
        del Z
        print(f"| {name}, {len(train):,} rows | RBFSampler({drawn}) + l1 logistic, C = 1 "
              f"| {size} | {found:.4f} | {seconds:.1f} |", flush=True)  # fmt: skip
        for method, make in {
            "the same --l1": make_sparse("logistic", features, l1=1 / len(train), draw=drawn, rounds=1),
            "--k": make_sparse("logistic", features, k=size, draw=500, rounds=max(2, drawn // 500)),
            "--k, twice as many drawn": make_sparse(
                "logistic", features, k=size, draw=500, rounds=max(4, drawn // 250)
            ),
        }.items():
            learner, seconds = fit(make, train)
            found = quality("logistic", predict(learner, test)[0], test.y)
            print(f"| | sparse-rf, {method}, {learner.machine.drawn} drawn | {len(learner.selection())} "
                  f"| {found:.4f} | {seconds:.1f} |", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("sections", nargs="+", choices=("tables", "figure", "peer"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", type=names, default=["cpu_act"])
    parser.add_argument("--kernels", type=names, default=list(KERNELS))
    parser.add_argument("--methods", type=names, default=list(METHODS))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--threads", type=int, default=1, help="of the tables' solvers")
    parser.add_argument("--official", action="store_true", help="the split of the files, not a random one")
    parser.add_argument("--features", type=int, default=10_000, help="drawn by sparse-rf (D)")
    parser.add_argument("--draw", type=int, default=500, help="features a round (R)")
    parser.add_argument("--round-rows", type=int, help="rows of a round for each feature at hand")
    parser.add_argument("--size", type=int, help="features that the method `size` keeps, if not the paper's")
    parser.add_argument("--trial-rows", type=int, default=4_000, help="while scale and width are chosen")
    parser.add_argument("--trial-features", type=int, default=500)
    parser.add_argument("--rf-features", type=int, default=2_000, help="of rf")
    parser.add_argument("--kernel-rows", type=int, default=10_000, help="exact kernels up to so many rows")
    parser.add_argument("--choices", type=Path, help="file of scales, widths and lambda_N that were chosen")
    parser.add_argument(
        "--peer-features", type=lambda text: [int(n) for n in text.split(",")], default=[1000, 2000]
    )
    parser.add_argument("--lambda-n", type=float, default=10.0)
    parser.add_argument("--boosted", type=int, default=400, help="most features boosting learns")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for section in options.sections:
        {"tables": tables, "figure": figure, "peer": peer}[section](options)


if __name__ == "__main__":
    main()
