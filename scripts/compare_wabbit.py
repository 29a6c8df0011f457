"""The untuned default beside Vowpal Wabbit's: one pass, accuracy and AUC on twelve sets of two classes.

    python scripts/compare_wabbit.py DATA [--sets a9a,w8a] [--shuffles 3]

DATA is the folder of data sets. Where a set has a test file its training rows are shuffled, else all
rows are, and the first half is learned. Vowpal Wabbit keeps all features (logistic loss, 2^24
weights, nothing else given); `mission` keeps k = 16,384 and k = 1,000. Both read the same rows in the
same order. Last come the means, and the differences to Vowpal Wabbit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from bench_stream import WORKSPACE, auc_of, run
from shuffled_data import Rows, learn_and_judge, read_any

SETS = [
    "basehock",
    "rcv1_small",
    "sms_spam",
    "reuters21578_earn",
    "a9a",
    "w8a",
    "spamassassin",
    "20news_binary",
    "criteo_sample",
    "dexter",
    "mnist38",
    "covtype_binary",
]
KS = (16_384, 1_000)


def lines_of(rows: Rows) -> np.ndarray:
    """Each row as a line of Vowpal Wabbit's format, names written so that it has to hash them."""
    starts = rows.starts.astype(np.int64)
    entries = [f"k{key:x}:{value:.6g}" for key, value in zip(rows.keys.tolist(), rows.values, strict=True)]
    lines = [
        f"{'1' if target > 0 else '-1'} | {' '.join(entries[begin:end])}\n"
        for target, begin, end in zip(rows.targets, starts[:-1], starts[1:], strict=True)
    ]
    return np.array(lines, dtype=object)


def wabbit(train: np.ndarray, test: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Accuracy and AUC of Vowpal Wabbit as it comes, on the test lines."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, lines in (("train", train), ("test", test)):
            (home / name).write_text("".join(lines))
        learn = f"-d {home}/train --loss_function logistic -b 24 --quiet -f {home}/model"
        apply = f"-d {home}/test -t -i {home}/model --quiet -p {home}/scores"
        for options in (learn, apply):
            run([sys.executable, "-c", WORKSPACE, options])
        scores = np.loadtxt(home / "scores", usecols=0)
    return float(np.mean((scores > 0) == (targets > 0))), auc_of(scores, targets > 0)


def split(folder: Path, shuffle: int) -> tuple[Rows, Rows]:
    """Training and test rows of a shuffle."""
    rng = np.random.default_rng(shuffle)
    parts = {path.name.split(".")[0]: path for path in sorted(folder.iterdir())}
    if "test" in parts:
        train, test = read_any(parts["train"]), read_any(parts["test"])
        return train.taken(rng.permutation(len(train))), test
    rows = read_any(next(iter(parts.values())))
    order = rng.permutation(len(rows))
    half = len(rows) // 2
    return rows.taken(order[:half]), rows.taken(order[half:])


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=SETS)
    parser.add_argument("--shuffles", type=int, default=3)
    asked = parser.parse_args()
    columns = ["vw", *(f"k = {k:,}" for k in KS)]
    print("| set | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    means = []
    for name in asked.sets:
        cells = []
        for shuffle in range(asked.shuffles):
            train, test = split(asked.data / name, shuffle)
            judged = [wabbit(lines_of(train), lines_of(test), test.targets)]
            judged += [learn_and_judge("mission", k, {}, train, test) for k in KS]
            cells.append(judged)
        means.append(np.mean(cells, axis=0))
        print_row(name, means[-1])
    print_row("mean", np.mean(means, axis=0))
    print_row("less Vowpal Wabbit", np.mean([mean - mean[0] for mean in means], axis=0))


def print_row(name: str, cells: np.ndarray) -> None:
    """Accuracy / AUC of each column."""
    shown = " | ".join(f"{accuracy:.4f} / {auc:.4f}" for accuracy, auc in cells)
    print(f"| {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
