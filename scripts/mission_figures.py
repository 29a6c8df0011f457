"""Figures 2, 3, 5 and 6 of "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches".

    python scripts/mission_figures.py transition [--trials 20] [--plot FILE.svg]
    python scripts/mission_figures.py memory [--trials 20] [--columns 100,1000,10000,100000,1000000]
        [--row-entries 50] [--literal] [--first-step] [--plot FILE.svg]
    python scripts/mission_figures.py ratio DATA [--k 1000] [--plot FILE.svg]
    python scripts/mission_figures.py rounds DATA [--rounds 5] [--plot FILE.svg]

DATA is the folder of data sets. Tables go to standard output.

transition  Figure 2: the fewest rows (of a grid) from which a binary vector on k of p = 1000 columns is
            found in more than half of the trials; full gradients, gamma falling.
memory      Figure 3: the smallest sketch that finds k = 5 of p columns in each draw in which the identity
            sketch does, and laws for it. Rows are Gaussian in all columns, 100 of them, or sparse with
            --row-entries columns each, and 20 for each column. --literal: a numpy twin in which exactly k
            features count at each moment, where k to 2 k do in the learner. --first-step: the smallest
            sketch of the first full gradient of dense rows whose heaviest column is of the support in half
            of the draws.
ratio       Figure 5: accuracy on dna15 against cells a row for each of the k features; iht, and batch-iht
            with 16 entries a class for each of them (the paper: 8,388,608 for 500,000), have no sketch.
rounds      Figure 6: test accuracy after each round of reads (200 bases) sampled from the genomes until
            a tenth of the bases are covered; 12-mers, both strands as one.
"""

from __future__ import annotations

import argparse
import gzip
import math
import tempfile
from pathlib import Path

import numpy as np
import sketch_size
from barda_plot import line_chart
from planted_regression import Rule, planted
from reproduce_mission import command, files, measure

SPARSITIES = (2, 4, 6, 8, 10)
ROWS = tuple(range(20, 221, 20))
TRANSITION = {
    "mission": sketch_size.IDENTITY,
    "iht": Rule("iht", {}, rates=(0.25,), passes=200, full=True),
}
RATIOS = (0.25, 1, 4, 16, 64)
BATCH_IHT_RATIO = 16
READ, LETTERS = 200, "12"
SHAPE = ["--format", "seq", "--kmer", LETTERS, "--canonical", "--loss", "softmax", "--memory", "3GB"]
CURVES = {
    "mission": [],
    "mission, rule=paper": ["--set", "rule=paper", "--learning-rate", "0.5"],
    "iht": ["--algo", "iht", "--learning-rate", "0.5"],
    "batch-iht": ["--algo", "batch-iht", "--learning-rate", "0.5"],
}


def half_found(rule: Rule, n: int, p: int, k: int, trials: int) -> bool:
    """Whether the support is found in more than half of the draws; no more of them than tell."""
    counts = {True: 0, False: 0}
    for seed in range(trials):
        counts[rule.finds(planted(n, p, k, seed))] += 1
        if 2 * counts[True] > trials or 2 * counts[False] >= trials:
            break
    return 2 * counts[True] > trials


def transition(options: argparse.Namespace) -> dict[str, list[float]]:
    """Fewest rows for each k, by halving the grid; one row more than the grid has: none does."""
    curves: dict[str, list[float]] = {}
    print("| k | " + " | ".join(TRANSITION) + " |\n|---|---|---|")
    for k in SPARSITIES:
        for name, rule in TRANSITION.items():
            low, high = 0, len(ROWS)
            while low < high:
                middle = (low + high) // 2
                enough = half_found(rule, ROWS[middle], 1000, k, options.trials)
                low, high = (low, middle) if enough else (middle + 1, high)
            curves.setdefault(name, []).append((*ROWS, ROWS[-1] + 20)[low])
        print(f"| {k} | " + " | ".join(str(curve[-1]) for curve in curves.values()) + " |", flush=True)
    return curves


def memory(options: argparse.Namespace) -> dict[str, list[float]]:
    """Cells for each p, with the laws that they may follow, as powers of two."""
    dimensions = options.columns
    sketch = sketch_size.Literal if options.literal else sketch_size.learner
    squared = {"log(p)^2": np.log(dimensions) ** 2}
    if options.first_step:
        cells = sketch_size.first_step(dimensions, options.trials)
    elif options.row_entries:
        cells = sketch_size.sizes(
            dimensions,
            options.trials,
            lambda p, seed: sketch_size.sparse(p, seed, options.row_entries),
            sketch,
        )
        return sketch_size.fits(dimensions, cells, {"log(p)": np.log(dimensions), **squared})
    else:
        cells = sketch_size.sizes(dimensions, options.trials, sketch_size.dense, sketch)
    return sketch_size.fits(dimensions, cells, {"p log(p)": dimensions * np.log(dimensions), **squared})


def ratio(options: argparse.Namespace) -> dict[str, list[float]]:
    """Accuracy for each ratio, rounded up to a power of two; the baselines are the same at all of them."""
    train, test = files(options.data, "dna15")
    curves: dict[str, list[float]] = {}

    def width(cells: float) -> int:
        return 1 << (math.ceil(cells * options.k) - 1).bit_length()

    def accuracy(name: str, *size: str) -> float:
        found = measure(train, test, [*SHAPE, "--k", str(options.k), *CURVES[name], *size])
        told = f"{found['accuracy']:.4f} | {found['seconds']:.0f} s"
        print(f"| {name} | {' '.join(size[1:])} | {told} |", flush=True)
        return found["accuracy"]

    for name in CURVES:
        if name.startswith("mission"):
            curves[name] = [accuracy(name, "--set", f"sketch_width={width(cells)}") for cells in RATIOS]
        else:
            size = ["--set", f"table={width(BATCH_IHT_RATIO)}"] if name == "batch-iht" else []
            curves[name] = [accuracy(name, *size)] * len(RATIOS)
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


def numbers(text: str) -> np.ndarray:
    """Of a list with commas."""
    return np.array([int(number) for number in text.split(",")])


EXPERIMENTS = {"transition": transition, "memory": memory, "ratio": ratio, "rounds": rounds}
AXES = {
    "transition": ("Rows needed to find k of 1000 columns", lambda _: list(SPARSITIES)),
    "memory": ("Cells needed, as powers of two, by columns p", lambda options: list(options.columns)),
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
    parser.add_argument("--columns", type=numbers, default=numbers("100,1000,10000,100000,1000000"))
    parser.add_argument("--row-entries", type=int, default=0)
    parser.add_argument("--literal", action="store_true")
    parser.add_argument("--first-step", action="store_true")
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
