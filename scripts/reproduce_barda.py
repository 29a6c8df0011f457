"""Figures 1 to 3 of "Online Feature Selection by Adaptive Sub-gradient Methods", as tables and plots.

    python scripts/reproduce_barda.py figures DATA [--sets basehock,dexter] [--orders 10]
    python scripts/reproduce_barda.py ablation|defaults|sketch DATA [--sets ...]
    python scripts/reproduce_barda.py drift DATA
    python scripts/reproduce_barda.py speed DATA
    python scripts/reproduce_barda.py flat

DATA is the folder of data sets. Protocol: delta = 0.01, passes = ceil(2 d / n) unless --max-passes
cuts them, each in a fresh random order; eta (and lambda) from {10^-1, 10^-1.5, ..., 10^-8} by the
accuracy on the training rows at one budget, then test accuracy of `orders` runs at every budget.
--out DIR leaves the plots there as SVG.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from pathlib import Path

import numpy as np
from barda_plot import line_chart
from shuffled_data import Rows, halves

from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task

GRID = [10.0 ** (-k / 2) for k in range(2, 17)]
BUDGETS = (10, 20, 50, 100, 200, 500)
ALGORITHMS = ("b-arda", "b-amd", "ofs", "sofs", "l1-arda", "ada-fobos")
TUNED_AT = 100


@dataclasses.dataclass(frozen=True)
class Settings:
    """Of one run."""

    eta: float | None = None
    lam: float = 0.0
    parameters: tuple[tuple[str, object], ...] = ()


def learner(name: str, k: int, passes: int, settings: Settings):
    kind = backend(name)
    common = Common(
        k=k, passes=passes, learning_rate=settings.eta, l2=settings.lam, intercept=False, memory=4 << 30
    )
    loss = "hinge" if name in ("ofs", "sofs") else "squared-hinge"
    return kind(common, kind.Parameters(**dict(settings.parameters)), Task(loss))


def train(name: str, k: int, rows: Rows, passes: int, seed: int, settings: Settings):
    """A learner after its passes, each in a fresh order."""
    rng = np.random.default_rng(seed)
    learning, wanted = learner(name, k, passes, settings), True
    while wanted:
        learning.update(rows.taken(rng.permutation(len(rows))).batch())
        wanted = learning.end_pass()
    return learning


def accuracy(learning, rows: Rows) -> float:
    chosen = learning.selection()
    return rows.accuracy(list(chosen.raw_names), chosen.weights)


def tuned(name: str, rows: Rows, passes: int) -> Settings:
    """The grid's best on the training rows: eta first, then lambda with it (gamma for sofs)."""

    def best(candidates: list[Settings]) -> Settings:
        scores = [accuracy(train(name, TUNED_AT, rows, passes, 0, s), rows) for s in candidates]
        return candidates[int(np.argmax(scores))]

    if name == "sofs":
        return best([Settings(parameters=(("gamma", 1 / value),)) for value in GRID])
    if name in ("l1-arda", "ada-fobos"):
        return best([Settings(eta=eta, parameters=(("rounds", 1),)) for eta in GRID])
    first = best([Settings(eta=eta, lam=GRID[-1]) for eta in GRID])
    return best([dataclasses.replace(first, lam=lam) for lam in GRID])


def passes_of(rows: Rows, at_most: int) -> int:
    return min(at_most, math.ceil(2 * int(rows.keys.max()) / len(rows))) if rows.keys.max() < 1e7 else at_most


def spread(values: list[float]) -> str:
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}"


def table(head: list[str], lines: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print(flush=True)


def figures(options: argparse.Namespace) -> None:
    """Test accuracy against the budget, every algorithm, tuned."""
    for name in options.sets:
        rows, test = halves(options.data / name)
        passes = passes_of(rows, options.max_passes)
        print(f"\n### {name}: {len(rows)} rows, {passes} passes, {options.orders} orders\n", flush=True)
        curves: dict[str, list[list[float]]] = {}
        for algorithm in ALGORITHMS:
            settings = tuned(algorithm, rows, min(passes, options.tuning_passes))
            curves[algorithm] = [
                [
                    accuracy(train(algorithm, k, rows, passes, seed, settings), test)
                    for seed in range(options.orders)
                ]
                for k in BUDGETS
            ]
            print(f"{algorithm}: {settings}", flush=True)
        print()
        lines = [[a, *(spread(cell) for cell in curve)] for a, curve in curves.items()]
        table(["", *(f"B = {k}" for k in BUDGETS)], lines)
        if options.out:
            chart = line_chart(
                f"{name}: test accuracy against the number of features",
                list(BUDGETS),
                {a: [(float(np.mean(c)), float(np.std(c))) for c in curve] for a, curve in curves.items()},
            )
            (options.out / f"barda-{name}.svg").write_text(chart)


def ablation(options: argparse.Namespace) -> None:
    """Truncation by H z^2 (H |z|) against truncation by |z|, untuned."""
    lines = []
    for name in options.sets:
        rows, test = halves(options.data / name)
        passes = passes_of(rows, options.max_passes)
        for algorithm in ("b-arda", "b-amd"):
            for truncation in ("weighted", "magnitude"):
                settings = Settings(parameters=(("truncation", truncation),))
                cells = [
                    spread(
                        [
                            accuracy(train(algorithm, k, rows, passes, s, settings), test)
                            for s in range(options.orders)
                        ]
                    )
                    for k in BUDGETS[::2]
                ]
                lines.append([name, algorithm, truncation, *cells])
    table(["set", "", "truncation", *(f"B = {k}" for k in BUDGETS[::2])], lines)


def defaults(options: argparse.Namespace) -> None:
    """The untuned eta and lambda against the grid's best, by training accuracy and by test accuracy."""
    lines, gaps = [], []
    for name in options.sets:
        rows, test = halves(options.data / name)
        passes = passes_of(rows, options.max_passes)
        for algorithm in ("b-arda", "b-amd"):
            settings = tuned(algorithm, rows, min(passes, options.tuning_passes))
            for k in (20, 100, 500):
                grid, untuned = (
                    [
                        accuracy(train(algorithm, k, rows, passes, seed, s), test)
                        for seed in range(options.orders)
                    ]
                    for s in (settings, Settings())
                )
                gaps.append(np.mean(untuned) - np.mean(grid))
                lines.append([name, algorithm, str(k), spread(grid), spread(untuned)])
    table(["set", "", "B", "grid", "untuned"], lines)
    print(f"untuned minus grid, mean of {len(gaps)} cells: {100 * np.mean(gaps):+.2f} points", flush=True)


def sketch(options: argparse.Namespace) -> None:
    """What a state of fixed size costs: store=sketch at several widths against store=exact."""
    widths = (1 << 10, 1 << 12, 1 << 14, 1 << 16)
    lines = []
    for name in options.sets:
        rows, test = halves(options.data / name)
        passes = passes_of(rows, options.max_passes)
        for algorithm in ("b-arda", "b-amd"):
            for k in (50, 500):
                stores = [Settings()] + [
                    Settings(parameters=(("store", "sketch"), ("sketch_width", width))) for width in widths
                ]
                cells = [
                    spread(
                        [
                            accuracy(train(algorithm, k, rows, passes, s, store), test)
                            for s in range(options.orders)
                        ]
                    )
                    for store in stores
                ]
                lines.append([name, algorithm, str(k), *cells])
    table(["set", "", "B", "exact", *(f"3 x {width:,}" for width in widths)], lines)


def drift(options: argparse.Namespace) -> None:
    """Progressive error on a mail stream in time order."""
    from shuffled_data import read

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
            quick = math.inf
            for _ in range(5):
                learning = learner(algorithm, budget, 1, Settings(eta=0.03, lam=1e-4))
                begun = time.process_time()
                learning.update(batch)
                quick = min(quick, (time.process_time() - begun) / len(rows))
            print(
                f"B = {budget}, {algorithm}: literal {1e6 * slow:.0f} us a row, "
                f"kernel {1e6 * quick:.2f} us: {slow / quick:.0f} times",
                flush=True,
            )


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
        "ablation": ablation,
        "defaults": defaults,
        "sketch": sketch,
        "drift": drift,
        "speed": speed,
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
    parser.add_argument("--tuning-passes", type=int, default=10)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    commands[options.command](options)


if __name__ == "__main__":
    main()
