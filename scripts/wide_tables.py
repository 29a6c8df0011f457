"""Tables of many positive columns of unlike units, ten of which make the label.

    python scripts/wide_tables.py [--columns P] [--rows N] [--values KIND] [--holes SHARE] [--draws D]

Prints a Markdown row: test accuracy / AUC of `mission` untuned at several k, of logistic regression on all
standardised columns and, with --wabbit, of Vowpal Wabbit; one pass, mean over the draws.
"""

from __future__ import annotations

import argparse

import numpy as np
from bench_stream import auc_of
from compare_wabbit import lines_of, wabbit
from shuffled_data import Rows, learn_and_judge
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

KS = (10, 100, 1_000, 10_000)
INFORMATIVE, TEST_ROWS = 10, 400


def table(columns: int, rows: int, seed: int, values: str, holes: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells and labels; the label is the sign of the ten columns' sum, with half as much noise."""
    rng = np.random.default_rng(seed)
    units = np.exp(rng.normal(0, 3, columns)).astype(np.float32)
    if values == "lognormal":
        cells = np.exp(0.5 * rng.normal(size=(rows, columns)).astype(np.float32))
    else:
        cells = rng.random((rows, columns), dtype=np.float32)
    chosen = cells[:, rng.choice(columns, INFORMATIVE, replace=False)]
    sums = ((chosen - chosen.mean(axis=0)) / chosen.std(axis=0)).sum(axis=1)
    sums += 0.5 * rng.normal(size=rows) * np.sqrt(INFORMATIVE)
    if holes:
        cells = np.where(rng.random(cells.shape) < holes, 0, cells)
    return cells * units, np.where(sums > 0, 1, -1)


def as_rows(cells: np.ndarray, targets: np.ndarray) -> Rows:
    """What is not 0."""
    row, column = np.nonzero(cells)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(cells)))])
    keys = (column + 1).astype(np.uint64)
    return Rows(
        starts.astype(np.uint64), keys, cells[row, column].astype(np.float32), targets.astype(np.float32)
    )


def regressed(train: np.ndarray, y: np.ndarray, test: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Logistic regression on all columns, in units of their deviations."""
    scaler = StandardScaler().fit(train)
    strength = min(1.0, 100 / train.shape[1])
    model = LogisticRegression(C=strength, max_iter=300).fit(scaler.transform(train), y)
    scores = model.decision_function(scaler.transform(test))
    return float(np.mean((scores > 0) == (truth > 0))), auc_of(scores, truth > 0)


def judged(cells: np.ndarray, targets: np.ndarray, *, with_wabbit: bool) -> list[tuple[float, float]]:
    """Accuracy and AUC of each column of the printed row."""
    cut = len(cells) - TEST_ROWS
    train, test = as_rows(cells[:cut], targets[:cut]), as_rows(cells[cut:], targets[cut:])
    found = [learn_and_judge("mission", k, {}, train, test) for k in KS]
    found.append(regressed(cells[:cut], targets[:cut], cells[cut:], targets[cut:]))
    if with_wabbit:
        found.append(wabbit(lines_of(train), lines_of(test), test.targets))
    return found


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--columns", type=int, default=3_000)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--values", choices=("uniform", "lognormal"), default="uniform")
    parser.add_argument("--holes", type=float, default=0.0)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--wabbit", action="store_true")
    asked = parser.parse_args()
    draws = [
        judged(
            *table(asked.columns, asked.rows + TEST_ROWS, seed, asked.values, asked.holes),
            with_wabbit=asked.wabbit,
        )
        for seed in range(1, asked.draws + 1)
    ]
    cells = " | ".join(f"{accuracy:.3f} / {auc:.3f}" for accuracy, auc in np.mean(draws, axis=0))
    print(f"| {asked.columns:,}, {asked.rows:,} | {cells} |")


if __name__ == "__main__":
    main()
