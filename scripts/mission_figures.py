"""Figures 2, 3, 5 and 6 of "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches".

    python scripts/mission_figures.py transition [--trials 20] [--plot FILE.svg]
    python scripts/mission_figures.py memory [--trials 20] [--plot FILE.svg]
    python scripts/mission_figures.py ratio DATA [--plot FILE.svg]
    python scripts/mission_figures.py rounds DATA [--rounds 5] [--plot FILE.svg]

DATA is the folder of data sets. Tables go to standard output.

transition  Figure 2: the fewest rows (of a grid) from which a binary vector on k of p = 1000 columns is
            found in more than half of the trials; full gradients, gamma falling.
memory      Figure 3: the smallest sketch that finds k = 5 columns of p = 10^2 to 10^6 from 100 rows as
            often as the identity sketch does on the same draws, with a power of p and log(p)^2 as fits.
ratio       Figure 5: accuracy on dna15 against cells a row for each of the k features.
rounds      Figure 6: test accuracy after each round of reads (200 bases) sampled from the genomes until
            a tenth of the bases are covered; 12-mers, both strands as one.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path

import numpy as np
from barda_plot import line_chart
from planted_regression import Rule, planted
from reproduce_mission import command, files, measure

SPARSITIES = (2, 4, 6, 8, 10)
ROWS = tuple(range(20, 221, 20))
COOLED = {"passes": 200, "full": True, "cooling": 20}
TRANSITION = {
    "mission": Rule("mission", {"sketch": "identity"}, **COOLED),
    "iht": Rule("iht", {}, rates=(0.25,), passes=200, full=True),
}
WIDEST = 1 << 22
# Columns, and at most so many draws: a step with 10^6 columns reads a matrix of 400 MB.
DIMENSIONS = {100: 100, 1_000: 100, 10_000: 20, 100_000: 5, 1_000_000: 2}
RATIOS = (1, 4, 16, 64)
READ, LETTERS = 200, "12"
SHAPE = ["--format", "seq", "--kmer", LETTERS, "--canonical", "--loss", "softmax", "--memory", "3GB"]
CURVES = {
    "mission": [],
    "mission, rule=paper": ["--set", "rule=paper", "--learning-rate", "0.5"],
    "iht": ["--algo", "iht", "--learning-rate", "0.5"],
    "batch-iht": ["--algo", "batch-iht", "--learning-rate", "0.5"],
}


def found_by(rule: Rule, n: int, p: int, k: int, trials: int, least: float = 0) -> int:
    """Draws whose support is found, exactly; no more draws than show that they are fewer than `least`."""
    found = 0
    for seed in range(trials):
        found += rule.finds(planted(n, p, k, seed))
        if found + trials - 1 - seed < least:
            break
    return found


def transition(options: argparse.Namespace) -> dict[str, list[float]]:
    """Fewest rows for each k, by halving the grid; one row more than the grid has: none does."""
    curves: dict[str, list[float]] = {}
    print("| k | " + " | ".join(TRANSITION) + " |\n|---|---|---|")
    for k in SPARSITIES:
        for name, rule in TRANSITION.items():
            low, high = 0, len(ROWS)
            while low < high:
                middle = (low + high) // 2
                half = options.trials // 2 + 1
                enough = found_by(rule, ROWS[middle], 1000, k, options.trials, half) >= half
                low, high = (low, middle) if enough else (middle + 1, high)
            curves.setdefault(name, []).append((*ROWS, ROWS[-1] + 20)[low])
        print(f"| {k} | " + " | ".join(str(curve[-1]) for curve in curves.values()) + " |", flush=True)
    return curves


def memory(options: argparse.Namespace) -> dict[str, list[float]]:
    """Cells (three rows) of the narrowest sketch for each p, and two laws for them, as powers of two."""
    cells: list[float] = []
    width = 16
    print("| p | draws | identity sketch finds | the sketch finds | cells |\n|---|---|---|---|---|")
    for p, most in DIMENSIONS.items():
        trials = min(options.trials, most)
        exact = found_by(TRANSITION["mission"], 100, p, 5, trials)
        while width < WIDEST:
            sketch = Rule("mission", {"sketch_width": width, "active": "estimated"}, **COOLED)
            found = found_by(sketch, 100, p, 5, trials, exact)
            if found >= exact:
                break
            width *= 2
        cells.append(3.0 * width)
        print(f"| {p} | {trials} | {exact} | {found} | {cells[-1]:.0f} |", flush=True)
    logs, sizes = np.log(list(DIMENSIONS)), np.log(cells)
    power, start = np.polyfit(logs, sizes, 1)
    factor = float(np.mean(sizes - 2 * np.log(logs)))
    fits = {"power of p": start + power * logs, "log(p)^2": factor + 2 * np.log(logs)}
    print(f"cells = {np.exp(start):.2f} p^{power:.2f}, or {np.exp(factor):.2f} log(p)^2")
    for name, fit in fits.items():
        print(f"{name}: logarithms off by {np.sqrt(np.mean((fit - sizes) ** 2)):.2f}")
    return {name: (curve / np.log(2)).tolist() for name, curve in {"cells": sizes, **fits}.items()}


def ratio(options: argparse.Namespace) -> dict[str, list[float]]:
    """Accuracy for each ratio; batch-iht has a table of as many entries as the sketch has cells."""
    train, test = files(options.data, "dna15")
    curves: dict[str, list[float]] = {}
    for cells in RATIOS:
        width = 1 << (cells * options.k - 1).bit_length()
        room = {"mission": f"sketch_width={width}", "batch-iht": f"table={3 * width}"}
        for name, method in CURVES.items():
            size = room.get(name.partition(",")[0])
            more = [] if size is None else ["--set", size]
            found = measure(train, test, [*SHAPE, "--k", str(options.k), *method, *more])
            curves.setdefault(name, []).append(found["accuracy"])
            print(f"| {cells} | {name} | {found['accuracy']:.4f} |", flush=True)
    return curves


def sampled(genomes: Path, coverage: float, seed: int) -> bytes:
    """Reads of all genomes in a random order, as lines of a label and bases."""
    rng = np.random.default_rng(seed)
    lines = []
    for path in sorted(genomes.glob("*.fna.gz")):
        parts = gzip.decompress(path.read_bytes()).split(b">")[1:]
        label = path.name.removesuffix(".fna.gz").encode()
        for part in parts:
            bases = part.partition(b"\n")[2].replace(b"\n", b"").upper()
            count = round(coverage * len(bases) / READ)
            for start in rng.integers(0, max(1, len(bases) - READ), count).tolist():
                lines.append(label + b"\t" + bases[start : start + READ] + b"\n")
    return b"".join(lines[i] for i in rng.permutation(len(lines)))


def rounds(options: argparse.Namespace) -> dict[str, list[float]]:
    """Accuracy on reads that were not learned, once so many rounds are."""
    curves: dict[str, list[float]] = {}
    methods = {name: CURVES[name] for name in ("mission", "iht")}
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "test.tsv"
        test.write_bytes(sampled(options.data / "genomes", 0.02, 1000))
        parts: list[str] = []
        for done in range(1, options.rounds + 1):
            parts.append(f"{folder}/round{done}.tsv")
            Path(parts[-1]).write_bytes(sampled(options.data / "genomes", 0.1, done))
            for name, method in methods.items():
                model = f"{folder}/model"
                select = ["select", *SHAPE, *method, "--k", str(options.k), "--model", model, "-q", *parts]
                command(*select, "--output", f"{folder}/selection")
                text = command("evaluate", "-q", model, str(test))
                accuracy = float(text.partition(b'"accuracy":')[2].partition(b",")[0])
                curves.setdefault(name, []).append(accuracy)
                print(f"| {done} | {name} | {accuracy:.4f} |", flush=True)
    return curves


EXPERIMENTS = {"transition": transition, "memory": memory, "ratio": ratio, "rounds": rounds}
AXES = {
    "transition": ("Rows needed to find k of 1000 columns", lambda _: list(SPARSITIES)),
    "memory": ("Cells needed, as powers of two, by columns p", lambda _: list(DIMENSIONS)),
    "ratio": ("dna15: accuracy by cells a row and feature", lambda _: list(RATIOS)),
    "rounds": ("17 genomes: accuracy by round of reads", lambda options: list(range(1, options.rounds + 1))),
}


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("data", type=Path, nargs="?", default=Path())
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    curves = EXPERIMENTS[options.experiment](options)
    if options.plot is None:
        return
    title, xs = AXES[options.experiment]
    points = {name: [(value, 0.0) for value in curve] for name, curve in curves.items()}
    options.plot.write_text(line_chart(title, xs(options), points))


if __name__ == "__main__":
    main()
