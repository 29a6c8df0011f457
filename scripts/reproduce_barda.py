"""Figures 1 to 3 of "Online Feature Selection by Adaptive Sub-gradient Methods", and what goes with them.

    python scripts/reproduce_barda.py figures|references|defaults DATA [--sets a,b] [--log runs.jsonl]
    python scripts/reproduce_barda.py ablation|sketch DATA [--sets ...] [--max-passes N]
    python scripts/reproduce_barda.py settings DATA --sets a --algorithms b-arda --settings 0.1:1e-4,untuned
    python scripts/reproduce_barda.py drift|speed DATA
    python scripts/reproduce_barda.py stream DIR_OF_STREAM_DATA
    python scripts/reproduce_barda.py flat

DATA is the folder of data sets. The first three follow barda_figures.py's protocol: every finished
run is kept in the --log, and a second start goes on where the first ended.
--out DIR leaves the plots there as SVG.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from barda_figures import LARGE, SMALL, Study, report
from barda_plot import line_chart
from barda_runs import Passes, RunLog, Settings, accuracy, learner, passes_of, spread, table, train
from shuffled_data import Rows, halves, read

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner

BUDGETS = (10, 50, 200)
# Of a literal transcription: 8 passes, one order, a coarse grid.
REFERENCES = (
    ("basehock", "b-arda", 50, 92.6),
    ("basehock", "b-arda", 200, 94.1),
    ("basehock", "b-amd", 200, 91.6),
    ("dexter", "b-arda", 10, 82),
    ("dexter", "b-arda", 50, 87),
)


def figures(options: argparse.Namespace) -> None:
    """Test accuracy against the budget, every algorithm, tuned: the whole protocol."""
    log = RunLog(options.log)
    for name in options.sets:
        study = Study(name, halves(options.data / name), log, options)
        study.run()
        report(study, options)


def references(options: argparse.Namespace) -> None:
    """The points a literal transcription was measured at, tuned at B = 100 and at the budget itself."""
    log, lines = RunLog(options.log), []
    for name, algorithm, k, literal in REFERENCES:
        study = Study(name, halves(options.data / name), log, options)
        ways = (study.budgeted, study.budgeted_at)
        cells = [[how(algorithm, k, order) for order in range(options.orders)] for how in ways]
        errors = [f"{100 * np.std(cell, ddof=1) / math.sqrt(len(cell)):.2f}" for cell in cells]
        shown = [text for cell, error in zip(cells, errors, strict=True) for text in (spread(cell), error)]
        lines.append([name, algorithm, str(k), str(literal), *shown])
    head = ["set", "", "B", "literal", "tuned at B = 100", "standard error", "tuned at B", "standard error"]
    table(head, lines)


def followed(learning: Learner, passes: Passes, after: list[int], test: Rows) -> list[tuple[float, float]]:
    """Accuracy on the training and on the test rows after some of the passes."""
    right = []
    for number, (batch, _) in enumerate(passes, 1):
        learning.update(batch)
        if number in after:
            right.append((accuracy(learning, passes.rows), accuracy(learning, test)))
    return right


def settings(options: argparse.Namespace) -> None:
    """Training and test accuracy at some settings, after some numbers of passes."""
    lines = []
    for name, algorithm in itertools.product(options.sets, options.algorithms):
        rows, test = halves(options.data / name)
        tau = passes_of(rows, options.max_passes)
        after = [n for n in options.after if n < tau] + [tau]
        orders = [Passes(rows, tau, order) for order in range(options.orders)]
        for text in options.settings:
            eta, _, lam = text.partition(":")
            chosen = Settings() if text == "untuned" else Settings(eta=float(eta), lam=float(lam))
            found = [
                followed(learner(algorithm, options.budget, tau, chosen), order, after, test)
                for order in orders
            ]
            for i, number in enumerate(after):
                cells = [spread([run[i][half] for run in found]) for half in (0, 1)]
                lines.append([name, algorithm, text, str(number), *cells])
    table(["set", "", "eta:lambda", "passes", "training rows", "test rows"], lines)


def ablation(options: argparse.Namespace) -> None:
    """Truncation by H z^2 (H |z|) against truncation by |z|, untuned."""
    lines = []
    for name in options.sets:
        rows, test = halves(options.data / name)
        orders = [Passes(rows, passes_of(rows, options.max_passes), s) for s in range(options.orders)]
        for algorithm in ("b-arda", "b-amd"):
            for truncation in ("weighted", "magnitude"):
                settings = Settings(parameters=(("truncation", truncation),))
                cells = [
                    spread([accuracy(train(algorithm, k, order, settings), test) for order in orders])
                    for k in BUDGETS
                ]
                lines.append([name, algorithm, truncation, *cells])
    table(["set", "", "truncation", *(f"B = {k}" for k in BUDGETS)], lines)


def defaults(options: argparse.Namespace) -> None:
    """The untuned eta and lambda against the grid's best by training accuracy, on the test rows."""
    log, lines, gaps = RunLog(options.log), [], []
    budgets = (*SMALL, *LARGE)
    for name in options.sets:
        study = Study(name, halves(options.data / name), log, options)
        for order in range(options.orders):
            for algorithm in ("b-arda", "b-amd"):
                for k in budgets:
                    study.budgeted(algorithm, k, order)
                    study.untuned(algorithm, k, order)
        for algorithm in ("b-arda", "b-amd"):
            for how in (study.budgeted, study.untuned):
                cells = [[how(algorithm, k, order) for order in range(options.orders)] for k in budgets]
                lines.append([name, algorithm, how.__name__, *map(spread, cells)])
                gaps.append((1 if how == study.untuned else -1) * np.mean(cells))
    table(["set", "", "", *(f"B = {k:,}" for k in budgets)], lines)
    compared = len(gaps) // 2 * len(budgets)
    print(f"untuned minus grid, mean of {compared} cells: {100 * 2 * np.mean(gaps):+.2f} points")


def sketch(options: argparse.Namespace) -> None:
    """What a state of fixed size costs: store=sketch at several widths against store=exact."""
    widths = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
    lines = []
    for name in options.sets:
        rows, test = halves(options.data / name)
        orders = [Passes(rows, passes_of(rows, options.max_passes), s) for s in range(options.orders)]
        for algorithm in ("b-arda", "b-amd"):
            for k in (50, 500):
                stores = [Settings()] + [
                    Settings(parameters=(("store", "sketch"), ("sketch_width", width))) for width in widths
                ]
                cells = [
                    spread([accuracy(train(algorithm, k, order, store), test) for order in orders])
                    for store in stores
                ]
                lines.append([name, algorithm, str(k), *cells])
    table(["set", "", "B", "exact", *(f"3 x {width:,}" for width in widths)], lines)


def drift(options: argparse.Namespace) -> None:
    """Progressive error on a mail stream in time order."""
    rows = read(options.data / "spam_katakis" / "all.libsvm.zst")
    window = 500
    curves = {}
    for algorithm in ("b-arda", "b-amd", "ofs", "sofs"):
        learning = learner(algorithm, 200, 1, Settings())
        wrong = (learning.update(rows.batch()) > 0) != (rows.targets > 0)
        parts = [wrong[i : i + window] for i in range(0, len(wrong), window)]
        curves[algorithm] = [(float(np.mean(part)), 0.0) for part in parts]
        print(
            f"{algorithm}: progressive error {np.mean(wrong):.4f}; last window {np.mean(parts[-1]):.4f}",
            flush=True,
        )
    seen = [min((i + 1) * window, len(rows)) for i in range(len(parts))]
    lines = [[str(n), *(f"{curves[a][i][0]:.3f}" for a in curves)] for i, n in enumerate(seen)]
    table(["rows seen", *curves], lines)
    if options.out:
        chart = line_chart("spam_katakis in time order: progressive error in windows of 500", seen, curves)
        (options.out / "barda-drift.svg").write_text(chart)


def literal_step(state: list, x_index: np.ndarray, x: np.ndarray, y: float, budget: int) -> None:
    """Algorithm 1 in numpy, all d coordinates, eta = 0.03 and lambda = 1e-4."""
    w, total, squares, t = state
    slope = -2.0 * max(0.0, 1.0 - y * float(w[x_index] @ x)) * y
    total[x_index] += slope * x
    squares[x_index] += (slope * x) ** 2
    h = 0.01 + np.sqrt(squares)
    z = -0.03 * total / (1e-4 * 0.03 * (t + 1) + h)
    v = h * z * z
    kept = np.lexsort((np.arange(len(v)), -v))[:budget]
    w[:] = 0.0
    w[kept] = z[kept]
    state[3] = t + 1


def speed(options: argparse.Namespace) -> None:
    """The kernel against the literal transcription, one pass over basehock (d = 26,214)."""
    rows, _ = halves(options.data / "basehock")
    d, starts = 26_215, rows.starts.astype(np.int64)
    sample = 200
    for budget in (50, 200):
        state = [np.zeros(d), np.zeros(d), np.zeros(d), 0]
        begun = time.process_time()
        for r in range(sample):
            cut = slice(starts[r], starts[r + 1])
            literal_step(
                state,
                rows.keys[cut].astype(np.int64),
                rows.values[cut].astype(float),
                rows.targets[r],
                budget,
            )
        slow = (time.process_time() - begun) / sample
        batch = rows.batch()
        for algorithm in ("b-arda", "b-amd"):
            quick = [math.inf] * 4  # pass by pass
            for _ in range(5):
                learning = learner(algorithm, budget, 1, Settings(eta=0.03, lam=1e-4))
                for number in range(len(quick)):
                    begun = time.process_time()
                    learning.update(batch)
                    quick[number] = min(quick[number], (time.process_time() - begun) / len(rows))
            spent = ", ".join(f"{1e6 * q:.2f} us ({slow / q:.0f} times)" for q in quick)
            print(f"B = {budget}, {algorithm}: literal {1e6 * slow:.0f} us a row; passes {spent}", flush=True)


def stream(options: argparse.Namespace) -> None:
    """Learners of fixed size against `mission` on the rows of stream_data.py, interleaved, CPU time."""
    batch = read(options.data / "train.svm").batch()
    fixed = Settings(parameters=(("store", "sketch"), ("sketch_width", 1 << 18)))
    rivals = {"mission": Settings(), "b-amd": fixed, "b-arda": fixed}
    ratios: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(5):
        spent = {}
        for name, settings in rivals.items():
            learning = learner(name, 16_384, 1, settings)
            begun = time.process_time()
            learning.update(batch)
            spent[name] = time.process_time() - begun
        for name, seconds in spent.items():
            ratios[name].append(seconds / spent["mission"])
    for name, values in ratios.items():
        print(f"{name}: {min(values):.2f} to {max(values):.2f} times mission, median {np.median(values):.2f}")


def flat(options: argparse.Namespace) -> None:
    """Cost of a row against d: 50 non-zeros drawn from d features, lambda > 0, B = 100."""
    rng = np.random.default_rng(0)
    for d in (10**4, 10**5, 10**6, 10**7):
        n, size = 20_000, 50
        keys = (d * rng.random((n, size)) ** 4).astype(np.uint64)
        keys.sort(axis=1)
        keep = np.concatenate([np.ones((n, 1), bool), keys[:, 1:] != keys[:, :-1]], axis=1)
        starts = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.uint64)
        values = np.full(int(starts[-1]), 0.15, np.float32)
        targets = np.where((keys < d // 1000).sum(axis=1) > 8, 1, -1).astype(np.float32)
        batch = Rows(starts, keys[keep], values, targets).batch()
        for algorithm in options.algorithms:
            learning = learner(algorithm, 100, 1, Settings(eta=0.1, lam=1e-3))
            begun = time.process_time()
            learning.update(batch)
            spent = time.process_time() - begun
            print(
                f"d = {d:,}, {algorithm}: {1e6 * spent / n:.2f} us a row, "
                f"{learning.facts()['features_kept']:,} features kept",
                flush=True,
            )


def main() -> None:
    commands = {
        "figures": figures,
        "references": references,
        "settings": settings,
        "ablation": ablation,
        "defaults": defaults,
        "sketch": sketch,
        "drift": drift,
        "speed": speed,
        "stream": stream,
        "flat": flat,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=commands)
    parser.add_argument("data", type=Path, nargs="?", help="the folder of data sets; flat needs none")
    parser.add_argument(
        "--sets", type=lambda text: text.split(","), default=["basehock", "dexter", "rcv1_small", "arcene"]
    )
    parser.add_argument("--algorithms", type=lambda text: text.split(","), default=["b-arda", "b-amd"])
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--max-passes", type=int, default=1_000)
    parser.add_argument("--quick", action="store_true", help="thin the grid faster, for large sets")
    parser.add_argument("--every", type=int, default=1, help="only every N-th value of the grid")
    parser.add_argument("--without-l1", action="store_true", help="figures 1 and 2 alone")
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--settings", type=lambda text: text.split(","), default=["untuned"])
    parser.add_argument("--after", type=lambda text: [int(n) for n in text.split(",")], default=[8])
    parser.add_argument("--log", type=Path, default=Path("barda-runs.jsonl"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    commands[options.command](options)


if __name__ == "__main__":
    main()
