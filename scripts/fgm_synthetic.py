"""FGM on synthetic rows too large to hold twice: section 8.2.3 and Figure 4, printed as Markdown tables.

python scripts/fgm_synthetic.py large [--rows 8192] [--width 65536] [--k 50,100,200,300]
python scripts/fgm_synthetic.py speed [--rows 4096] [--width 65536] [--k 200]
python scripts/fgm_synthetic.py densities [--rows 8192] [--width 8192]
python scripts/fgm_synthetic.py shift [--rows 4096] [--width 4096]

Rows are drawn block by block from their seed: Gaussian, 300 weights uniform in (0, 1), 4,096 rows for
the test. fgm reads the blocks as a stream and keeps them its own way.

large: the peer is the path of l1-LIBLINEAR, solved over a growing set of columns until the optimality
conditions hold for all of them: the same solutions as over all columns, for a quarter of the memory, so its
time says nothing. speed: LIBLINEAR itself (the `liblinear` package) over all columns in its own form, each
fit of the path cold. densities: logistic loss on both sides, the best accuracy over all numbers of features.
shift: section 8.3, labels sign(Xw - 4), each method with and without a shift. --seeds: means over draws.
Times are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from fgm_peers import RATIO, RELEVANT, Fitted, Liblinear, Source, l1_logistic, l1_path

from fsstream import _native
from fsstream.algorithms.fgm import Fgm
from fsstream.algorithms.learner import Common, Task


def batch_of(X, y):
    if np.all(X):
        rows, width = X.shape
        columns = np.tile(np.arange(width, dtype=np.uint64), rows)
        starts = np.arange(rows + 1, dtype=np.uint64) * np.uint64(width)
        return _native.Batch.from_arrays(starts, columns, X.ravel(), y.astype(np.float32))
    row, column = np.nonzero(X)
    starts = np.searchsorted(row, np.arange(len(y) + 1))
    return _native.Batch.from_arrays(
        starts.astype(np.uint64), column.astype(np.uint64), X[row, column], y.astype(np.float32)
    )


def fgm(source, k, loss="squared-hinge", shift=False, **parameters):
    common = Common(k=k, memory=40 * source.rows * source.width, intercept=shift)
    learner = Fgm(common, Fgm.Parameters(**parameters), Task(loss, ("-1", "1")))
    seconds = 0.0
    for _, X, y in source.blocks():
        batch = batch_of(X, y)
        began = time.process_time()
        learner.update(batch)
        seconds += time.process_time() - began
    began = time.process_time()
    learner.end_pass()
    seconds += time.process_time() - began
    found = learner.selection()
    columns = np.array([int(name) for name in found.raw_names])
    return Fitted(columns, found.weights.astype(np.float64), seconds, float(learner.intercepts()[0]))


def judge(source, models):
    """One scan of the test rows for all of the models."""
    for _, X, y in source.blocks(test=True):
        for model in models:
            model.right += int(np.sum((X[:, model.columns] @ model.weights + model.intercept > 0) == (y > 0)))


def table(head, rows):
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def mean_of(models, source):
    """Accuracy and true features found, over draws."""
    accuracy = np.mean([model.accuracy for model in models])
    found = np.mean([model.found(at) for model, at in zip(models, source, strict=True)])
    return f"{accuracy:.4f} ({found:.0f})"


def ahead(ours, theirs):
    """By how much, and the standard error over draws."""
    gains = np.array([a.accuracy - b.accuracy for a, b in zip(ours, theirs, strict=True)])
    error = f" +- {gains.std(ddof=1) / len(gains) ** 0.5:.4f}" if len(gains) > 1 else ""
    return f"{gains.mean():+.4f}{error}"


def large(options):
    sources = [Source(options.rows, options.width, seed=seed) for seed in options.seeds]
    ours, literal, peers = [], [], []
    for source in sources:
        ours.append({k: fgm(source, k) for k in options.k})
        literal.append({k: fgm(source, k, rule="paper") for k in options.literal})
        peers.append(l1_path(source, options.k))
        every = [*ours[-1].values(), *literal[-1].values(), *(m for some in peers[-1].values() for m in some)]
        judge(source, every)

    def row(k):
        mine = [models[k] for models in ours]
        paper = mean_of([models[k] for models in literal], sources) if k in options.literal else ""
        kinds = [[models[k][kind] for models in peers] for kind in range(3)]
        seconds = f"{np.mean([model.seconds for model in mine]):.1f}"
        told = [mean_of(models, sources) for models in (*kinds, mine)]
        return [k, *told, *(ahead(mine, kind) for kind in kinds[1:]), paper, seconds]

    head = ["k", "l1 (true)", "de-biased, C = 20", "C = 1", "fgm (true)", "ahead of C = 20", "of C = 1"]
    table([*head, "rule=paper", "fgm s"], map(row, options.k))


def shift(options):
    source = Source(options.rows, options.width, seed=options.seeds[0], shift=4.0)
    ours = [{k: fgm(source, k, shift=on) for k in options.k} for on in (False, True)]
    peers = [l1_path(source, options.k, on) for on in (False, True)]
    judge(source, [*(m for models in ours for m in models.values())])
    judge(source, [m for path in peers for models in path.values() for m in models])
    kinds = [(path, kind) for path in peers for kind in range(3)]
    rows = (
        [
            k,
            *(f"{path[k][kind].accuracy:.4f}" for path, kind in kinds),
            *(f"{m[k].accuracy:.4f}" for m in ours),
        ]
        for k in options.k
    )
    names = ["l1", "de-biased, C = 20", "C = 1"]
    table(["k", *names, *(f"{name}, shift" for name in names), "fgm", "fgm, shift"], rows)


def speed(options):
    source = Source(options.rows, options.width, seed=options.seeds[0])
    ours = {k: fgm(source, k) for k in options.k}
    peer = Liblinear(source)
    print("| k | fgm s | path s (fits) | last fit s |\n|---|---|---|---|")
    C, spent, fits, todo = 0.6 / peer.largest_slope, 0.0, 0, sorted(options.k)
    while todo:
        w, seconds = peer.fit(C)
        spent, fits, C = spent + seconds, fits + 1, C * RATIO
        while todo and np.count_nonzero(w) >= todo[0]:
            k = todo.pop(0)
            print(f"| {k} | {ours[k].seconds:.1f} | {spent:.1f} ({fits}) | {seconds:.1f} |", flush=True)


def densities(options):
    def row(density):
        source = Source(options.rows, options.width, density, options.seeds[0])
        ours = {k: fgm(source, k, "logistic") for k in options.k}
        peers = l1_logistic(source, 2 * RELEVANT)
        judge(source, [*ours.values(), *peers])
        k, mine = max(ours.items(), key=lambda item: item[1].accuracy)
        best = max(peers, key=lambda model: model.accuracy)
        path = sum(model.seconds for model in peers)
        theirs = [f"{best.accuracy:.4f}", len(best.columns), f"{best.seconds:.1f}", f"{path:.1f}"]
        return [density, *theirs, f"{mine.accuracy:.4f}", k, f"{mine.seconds:.1f}"]

    head = ["density", "l1-LR, best", "features", "its fit s", "path s", "fgm, best", "k", "s"]
    table(head, map(row, options.densities))


EXPERIMENTS = {
    "large": (large, 8192, 65536),
    "speed": (speed, 4096, 65536),
    "densities": (densities, 8192, 8192),
    "shift": (shift, 4096, 4096),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--width", type=int)
    numbers = {"type": lambda text: [int(number) for number in text.split(",") if number]}
    parser.add_argument("--seeds", **numbers, default=[0])
    parser.add_argument("--k", **numbers, default=[50, 100, 200, 300])
    parser.add_argument("--literal", **numbers, default=[], help="large: k for which rule=paper runs too")
    parser.add_argument(
        "--densities",
        type=lambda text: [float(d) for d in text.split(",")],
        default=[0.08, 0.1, 0.3, 0.5, 0.8, 1.0],
    )
    options = parser.parse_args()
    run, rows, width = EXPERIMENTS[options.experiment]
    options.rows, options.width = options.rows or rows, options.width or width
    run(options)


if __name__ == "__main__":
    main()
