"""Figures 1 to 3 of "Online Feature Selection by Adaptive Sub-gradient Methods", and what goes with them.

    python scripts/reproduce_barda.py figures|references|defaults DATA [--sets a,b] [--log runs.jsonl]
    python scripts/reproduce_barda.py ablation|sketch DATA [--sets ...] [--max-passes N]
    python scripts/reproduce_barda.py settings DATA --sets a --algorithms b-arda --settings 0.1:1e-4,untuned
                                               (eta:l1 of the l1 methods, gamma of sofs)
    python scripts/reproduce_barda.py criteria DATA --sets a --algorithms b-amd --budget 1000 --after 8
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
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from barda_cost import flat, speed, stream
from barda_criteria import criteria
from barda_figures import BY_L1, LARGE, SMALL, Study, report
from barda_plot import line_chart
from barda_runs import Passes, RunLog, Settings, accuracy, learner, passes_of, spread, table, train
from shuffled_data import NEWSGROUPS, Rows, halves, read

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


def followed(learning: Learner, passes: Passes, after: list[int], test: Rows) -> list[tuple[float, ...]]:
    """After some of the passes: accuracy on the training and on the test rows, and the features.

    Their number, and how many of them had no weight a pass before.
    """
    found = []
    before: set[bytes] = set()
    for number, (batch, _) in enumerate(passes, 1):
        learning.update(batch)
        if number + 1 in after or number in after:
            chosen = set(learning.selection().raw_names)
            if number in after:
                right = accuracy(learning, passes.rows), accuracy(learning, test)
                found.append((*right, len(chosen), len(chosen - before)))
            before = chosen
    return found


def spelled_settings(algorithm: str, text: str) -> Settings:
    """eta:lambda, of the l1 methods eta:l1, of sofs gamma, or untuned."""
    if text == "untuned":
        return Settings()
    eta, _, weight = text.partition(":")
    if algorithm in BY_L1:
        return Settings(eta=float(eta), l1=float(weight))
    if algorithm == "sofs":
        return Settings(parameters=(("gamma", float(eta)),))
    return Settings(eta=float(eta), lam=float(weight))


def settings(options: argparse.Namespace) -> None:
    """Training and test accuracy at some settings, after some numbers of passes."""
    lines = []
    for name, algorithm in itertools.product(options.sets, options.algorithms):
        rows, test = halves(options.data / name)
        tau = passes_of(rows, options.max_passes)
        after = [n for n in options.after if n < tau] + [tau]
        orders = [Passes(rows, tau, order) for order in range(options.orders)]
        for text in options.settings:
            chosen = spelled_settings(algorithm, text)
            k = None if chosen.l1 is not None else options.budget
            found = [followed(learner(algorithm, k, tau, chosen), order, after, test) for order in orders]
            for i, number in enumerate(after):
                cells = [spread([run[i][half] for run in found]) for half in (0, 1)]
                counts = [f"{np.mean([run[i][part] for run in found]):,.1f}" for part in (2, 3)]
                lines.append([name, algorithm, text, str(number), *cells, *counts])
    table(
        ["set", "", "eta:lambda", "passes", "training rows", "test rows", "features", "new in the pass"],
        lines,
    )


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
        wrong = (np.asarray(learning.update(rows.batch())) > 0) != (rows.targets > 0)
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


def needed(options: argparse.Namespace) -> list[Path]:
    """The folders, or the file, that a command reads."""
    if options.command == "stream":
        return [options.data / "train.svm"]
    fixed = {"references": {row[0] for row in REFERENCES}, "drift": {"spam_katakis"}, "speed": {"basehock"}}
    sets = fixed.get(options.command, set(options.sets))
    return sorted(options.data / ("20newsgroups" if name in NEWSGROUPS else name) for name in sets)


def main() -> None:
    commands = {
        "figures": figures,
        "references": references,
        "settings": settings,
        "criteria": criteria,
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
    if options.command != "flat":
        if options.data is None:
            parser.error(f"{options.command} needs the folder of its data")
        missing = [str(path) for path in needed(options) if not path.exists()]
        if missing:
            parser.error(f"there is no data at {', '.join(missing)}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    commands[options.command](options)


if __name__ == "__main__":
    main()
