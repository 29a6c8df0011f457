"""Experiments of the FGM paper (section 8), with l1-LIBLINEAR beside it, printed as Markdown tables.

python scripts/reproduce_fgm.py EXPERIMENT --data DIR [--sets a9a,...] [--k 50,100] [--seeds 0,1]

DIR holds NAME/train.libsvm.zst and NAME/test.libsvm.zst, or NAME/all.libsvm.zst, of which a random
fifth is the test. Synthetic sets are in fgm_synthetic.py: sections 8.2 and 8.3, Figure 4. Seed 0 is
the given split, others permute train and test together. Rows are in memory on both sides; the peer
is LIBLINEAR through scikit-learn, its path one of rising C, each fit cold. Times are CPU seconds of
one thread.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import fgm_figures
import numpy as np
import scipy.sparse as sp
from data_files import parsed
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from fsstream import _native
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task
from fsstream.pairs import split_pair

warnings.simplefilter("ignore", ConvergenceWarning)

LIBLINEAR = {"max_iter": 1000, "random_state": 0}


@dataclass
class Split:
    """Rows to learn from and rows to be judged by; `truth` when the features are planted."""

    X: sp.csr_matrix
    y: np.ndarray
    X_test: sp.csr_matrix
    y_test: np.ndarray
    truth: np.ndarray | None = None


def read(path):
    batch, starts, keys = parsed(path)
    X = sp.csr_matrix((batch.values.astype(np.float64), keys, starts))
    return X, np.where(batch.label_values > 0, 1.0, -1.0)


@functools.cache
def files(folder):
    if (folder / "all.libsvm.zst").exists():
        X, y = read(folder / "all.libsvm.zst")
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[len(y) // 5 :], order[: len(y) // 5]
        return Split(X[train], y[train], X[test], y[test])
    (X, y), (X_test, y_test) = read(folder / "train.libsvm.zst"), read(folder / "test.libsvm.zst")
    width = max(X.shape[1], X_test.shape[1])
    X.resize((X.shape[0], width))
    X_test.resize((X_test.shape[0], width))
    return Split(X, y, X_test, y_test)


def synthetic(seed, rows=4096, width=4096, relevant=300):
    """Section 8.2: Gaussian rows, `relevant` weights uniform in (0, 1). More of it: fgm_synthetic.py."""
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.standard_normal((rows + 4096, width)))
    truth = np.sort(rng.choice(width, relevant, replace=False))
    w = np.zeros(width)
    w[truth] = rng.random(relevant)
    y = np.where(X @ w > 0, 1.0, -1.0)
    return Split(X[:rows], y[:rows], X[rows:], y[rows:], truth)


def split_of(name, seed, data, rows=None):
    """Of the given split only the first rows, when a number of them is said, and 10,000 for the test."""
    if name == "synthetic":
        return synthetic(seed)
    given = files(data / name)
    if rows:
        given = Split(given.X[:rows], given.y[:rows], given.X_test[:10_000], given.y_test[:10_000])
    if seed == 0:
        return given
    order = np.random.default_rng(seed).permutation(len(given.y) + len(given.y_test))
    X = sp.vstack([given.X, given.X_test]).tocsr()
    y = np.concatenate([given.y, given.y_test])
    train, test = order[: len(given.y)], order[len(given.y) :]
    return Split(X[train], y[train], X[test], y[test])


def batch_of(X, y):
    return _native.Batch.from_arrays(
        X.indptr.astype(np.uint64),
        X.indices.astype(np.uint64),
        X.data.astype(np.float32),
        y.astype(np.float32),
    )


@dataclass
class Chosen:
    """What a method selected, and what its model gets right on the test rows."""

    features: list
    accuracy: float
    seconds: float
    facts: dict


def fgm(split, k, *, loss="squared-hinge", shift=False, memory=4 << 30, groups=None, **parameters):
    common = Common(k=k, memory=memory, intercept=shift, groups=groups)
    learner = Fgm(common, Fgm.Parameters(**parameters), Task(loss, ("-1", "1")))
    batch = batch_of(split.X, split.y)
    began = time.process_time()
    learner.update(batch)
    learner.end_pass()
    seconds = time.process_time() - began
    found = learner.selection()
    columns = split.X_test.tocsc()
    u = np.full(len(split.y_test), float(learner.intercepts()[0]))
    for name, weight in zip(found.raw_names, found.weights.tolist(), strict=True):
        factors = [columns[:, [int(factor)]].toarray().ravel() for factor in split_pair(name)]
        u += weight * np.prod(factors, axis=0)
    right = float(np.mean(np.where(u > 0, 1, -1) == split.y_test))
    return Chosen([name.decode() for name in found.raw_names], right, seconds, dict(learner.facts()))


class L1Path:
    """Fits of l1-LIBLINEAR, each cold, number i with 1.3^i times the C that takes in no feature yet."""

    def __init__(self, split, *, shift=False, ratio=1.3):
        self.split, self.shift, self._ratio = split, shift, ratio
        self._first = 0.6 / np.abs(split.X.T @ split.y).max()
        self._fits = {}

    def fit(self, number):
        """Weights, intercept and seconds."""
        if number not in self._fits:
            C = self._first * self._ratio**number
            model = LinearSVC(penalty="l1", dual=False, C=C, fit_intercept=self.shift, **LIBLINEAR)
            began = time.process_time()
            model.fit(self.split.X, self.split.y)
            spent = time.process_time() - began
            self._fits[number] = model.coef_.ravel(), float(np.sum(model.intercept_)), spent
        return self._fits[number]

    def first(self, k, number):
        """The first fit with k features, looked for from `number`; None beyond 60."""

        def enough(number):
            return np.count_nonzero(self.fit(number)[0]) >= k

        while number < 60 and not enough(number):
            number += 1
        while 0 < number < 60 and enough(number - 1):
            number -= 1
        return number if number < 60 else None

    def seconds(self, number):
        """Of all fits up to this one; not a number when some were passed over."""
        spent = [self._fits[i][2] if i in self._fits else np.nan for i in range(number + 1)]
        return float(np.sum(spent))

    def refitted(self, kept, C):
        """Accuracy of a refit with l2."""
        model = LinearSVC(dual=False, C=C, fit_intercept=self.shift, **LIBLINEAR)
        model.fit(self.split.X[:, kept], self.split.y)
        return float(np.mean(model.predict(self.split.X_test[:, kept]) == self.split.y_test))


def l1_path(split, ks, near, *, shift=False):
    """For each k: accuracy plain and de-biased (C = 20 and C = 1), fits and seconds of the path so far.

    `near` says at which fit to look for a k first, and is told where it was found.
    """
    path, at, out = L1Path(split, shift=shift), 0, {}
    for k in sorted(ks):
        found = path.first(k, near.get(k, at))
        if found is None:
            break
        at = near[k] = found
        w, intercept, last = path.fit(found)
        kept = np.sort(np.argsort(-np.abs(w), kind="stable")[:k])
        u = split.X_test[:, kept] @ w[kept] + intercept
        plain = float(np.mean(np.where(u > 0, 1, -1) == split.y_test))
        refits = [path.refitted(kept, C) for C in (20.0, 1.0)]
        out[k] = (plain, *refits, found + 1, path.seconds(found), last, kept)
    return out


def accuracy(options):
    print(
        "| set | seed | k | l1 | l1 de-biased C=20 | C=1 | fgm | fgm rule=paper "
        "| path s (fits) | last fit s | fgm s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        near = dict(zip(sorted(options.k), options.near, strict=False))
        for seed in options.seeds:
            split = split_of(name, seed, options.data)
            peer = l1_path(split, options.k, near if near else {})
            for k in options.k:
                if k not in peer:
                    continue
                plain, debiased, mild, fits, spent, last, kept = peer[k]
                ours, literal = fgm(split, k), fgm(split, k, rule="paper")
                found = ""
                if split.truth is not None:
                    hits = [len(set(map(int, c)) & set(split.truth.tolist())) for c in (kept, ours.features)]
                    found = f" (true: {hits[1]}; l1 {hits[0]})"
                peers = f"{plain:.4f} | {debiased:.4f} | {mild:.4f}"
                spending = f"{spent:.2f} ({fits}) | {last:.2f} | {ours.seconds:.2f}"
                print(
                    f"| {name} | {seed} | {k} | {peers} | **{ours.accuracy:.4f}**{found} "
                    f"| {literal.accuracy:.4f} | {spending} |",
                    flush=True,
                )


def inexact(options):
    """Figure 1: exact and inexact inner solves, C = 10."""
    print(
        "| B | tolerance | F after 5 rounds | F after 10 | inner iterations | s |\n|---|---|---|---|---|---|"
    )
    split = synthetic(0)
    for B in (10, 30, 50):
        for tolerance in (1e-6, 1e-3):
            found = fgm(split, 10 * B, rule="paper", B=B, C=10.0, tolerance=tolerance)
            course, steps = found.facts["objective"], found.facts["inner_iterations"]
            print(
                f"| {B} | {tolerance} | {course[4]:.4g} | {course[9]:.4g} | {steps} | {found.seconds:.2f} |",
                flush=True,
            )


def degree2(options):
    """Section 8.5."""
    print(
        "| set | k | gamma | degree 1 | degree 2 | products chosen | features summed, at most | s |\n"
        + "|---" * 8
        + "|"
    )
    for name in options.sets:
        split = split_of(name, 0, options.data)
        for k in options.k:
            for gamma in (4.0, 8.0):
                plain, found = fgm(split, k), fgm(split, k, degree=2, gamma=gamma)
                products = sum("*" in feature for feature in found.features)
                widest = max(found.facts["products_summed_of"])
                print(
                    f"| {name} | {k} | {gamma} | {plain.accuracy:.4f} | {found.accuracy:.4f} | {products} "
                    f"| {widest} | {found.seconds:.2f} |",
                    flush=True,
                )


def planted_groups(seed, rows=2048, count=800):
    """Groups of 10 Gaussian features, 30 of them informative; and which."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows + 2000, 10 * count))
    w = np.zeros((count, 10))
    true = rng.choice(count, 30, replace=False)
    w[true] = rng.standard_normal((30, 10))
    y = np.where(X @ w.ravel() > 0, 1.0, -1.0)
    return Split(sp.csr_matrix(X[:rows]), y[:rows], sp.csr_matrix(X[rows:]), y[rows:]), set(true.tolist())


def groups(options):
    """Section 8.6.1, smaller: 30 of 800 groups are informative."""
    print(
        "| groups selected | seed | accuracy | true groups | C of the last refit / C | s "
        "| group lasso | refitted | true groups | fits, s |\n" + "|---" * 10 + "|"
    )
    for seed in options.seeds:
        split, true = planted_groups(seed)
        width = split.X.shape[1]
        table = {b"%d" % j: (f"g{j // 10}",) for j in range(width)}
        for k in options.k:
            found = fgm(split, k, loss="logistic", groups=table)
            hits = len({int(name) // 10 for name in found.features} & true)
            factor = found.facts["C_of_last_refit"] / found.facts["C"]
            line = f"| {k} | {seed} | {found.accuracy:.4f} | {hits} | {factor:g} | {found.seconds:.2f}"
            if options.peer:
                rows_of = split.X.toarray(), split.y, split.X_test.toarray(), split.y_test
                plain, refit, fits, spent, chosen = fgm_figures.group_lasso(
                    *rows_of, np.arange(width) // 10, k
                )
                lassoed = len(set(chosen.tolist()) & true)
                line += f" | {plain:.4f} | {refit:.4f} | {lassoed} | {fits}, {spent:.1f}"
            print(line + " |", flush=True)


def madelon(options):
    """Section 8.5: degree 2 on rows of unit length, on centred and on standardised columns."""
    split = split_of("madelon", 0, options.data)
    X, X_test = split.X.toarray(), split.X_test.toarray()
    mean, spread = X.mean(0), np.maximum(X.std(0), 1e-12)
    forms = {
        "rows of unit length": lambda Z: Z / np.linalg.norm(Z, axis=1, keepdims=True),
        "centred": lambda Z: Z - mean,
        "standardised": lambda Z: (Z - mean) / spread,
    }
    print("| columns | k | degree 1 | degree 2 | products | s |\n|---|---|---|---|---|---|")
    for form, turn in forms.items():
        turned = Split(sp.csr_matrix(turn(X)), split.y, sp.csr_matrix(turn(X_test)), split.y_test)
        for k in options.k:
            plain, found = (fgm(turned, k, degree=degree, shift=True) for degree in (1, 2))
            products = sum("*" in feature for feature in found.features)
            print(
                f"| {form} | {k} | {plain.accuracy:.4f} | {found.accuracy:.4f} | {products} "
                f"| {found.seconds:.2f} |",
                flush=True,
            )


EXPERIMENTS = {
    "accuracy": accuracy,
    "sensitivity": fgm_figures.sensitivity,
    "stopping": fgm_figures.stopping,
    "generation": fgm_figures.generation,
    "inexact": inexact,
    "degree2": degree2,
    "groups": groups,
    "madelon": madelon,
    "expansions": fgm_figures.expansions,
    "brute_force": fgm_figures.brute_force,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["a9a"])
    parser.add_argument(
        "--k", type=lambda text: [int(k) for k in text.split(",")], default=[50, 100, 200, 300]
    )
    parser.add_argument("--seeds", type=lambda text: [int(s) for s in text.split(",")], default=[0])
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=["histogram", "gaussian"])
    parser.add_argument(
        "--near",
        type=lambda text: [int(fit) - 1 for fit in text.split(",")],
        default=[],
        help="accuracy: for each k the fit of the path at which to look first, later seeds near those of "
        "the seed before; fits before it are passed over, and the path's seconds are nan",
    )
    parser.add_argument("--rows", type=int, help="train on this many rows only")
    parser.add_argument(
        "--peer", action="store_true", help="groups, expansions: also the group lasso of celer"
    )
    options = parser.parse_args()
    EXPERIMENTS[options.experiment](options)


if __name__ == "__main__":
    main()
