"""The k features of one pass, refitted, beside the best batch selectors at the same k.

    python scripts/compare_selectors.py DATA [--sets basehock,dexter] [--k 10,50,200,1000] [--orders 5]
                                        [--splits N]

`mission` reads the training rows once and untuned, in random orders whose mean counts; chi2 ranks the
columns (of absolute values), l1 is the path of LIBLINEAR's l1 logistic regression with the largest |w| of
the first point that has k, and dense is logistic regression on all columns, cut to the largest |w|. Each
selector's k columns are refitted by the same l2 logistic regression (C = 1) and judged on the test rows.
With --splits the rows of both parts are dealt out anew so many times, into parts of the same sizes, and
means count: a test part of 300 to 800 rows says little by itself. The last lines give the mean over all
cells of what mission is ahead of each, with its standard error.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from shuffled_data import Rows, joined, read_any
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression

from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETS = ["basehock", "dexter", "rcv1_small", "20news_binary", "reuters21578_earn"]
KS = [10, 50, 200, 1000]
STRENGTHS = np.geomspace(1e-3, 100, 26)  # C along the l1 path


def matrix(rows: Rows, columns: np.ndarray) -> csr_array:
    """The rows as a matrix over known columns (sorted keys); other entries are dropped."""
    place = np.searchsorted(columns, rows.keys).clip(max=len(columns) - 1)
    known = columns[place] == rows.keys
    counts = np.concatenate([[0], np.cumsum(known)])
    starts = counts[rows.starts.astype(np.int64)].astype(np.int32)
    return csr_array(
        (rows.values[known], place[known].astype(np.int32), starts), shape=(len(rows), len(columns))
    )


def fitted(x: csr_array, y: np.ndarray, **options: object) -> np.ndarray:
    """Weights of logistic regression by LIBLINEAR, the intercept last."""
    model = LogisticRegression(solver="liblinear", max_iter=1000, random_state=0, **options)
    model.fit(x, y)
    return np.append(model.coef_[0], model.intercept_)


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores, first come first served."""
    return np.argsort(-np.nan_to_num(scores), kind="stable")[:k]


def l1_path(x: csr_array, y: np.ndarray) -> Callable[[int], np.ndarray]:
    """Weights of the first point on the path with at least k of them, remembered between calls."""
    known: dict[float, np.ndarray] = {}

    def choose(k: int) -> np.ndarray:
        for strength in STRENGTHS:
            if strength not in known:
                known[strength] = fitted(x, y, l1_ratio=1, C=strength)[:-1]
            if np.count_nonzero(known[strength]) >= k:
                break
        return largest(np.abs(known[strength]), k)

    return choose


def chosen_by_mission(rows: Rows, columns: np.ndarray, k: int) -> np.ndarray:
    """Columns of the features that one pass selects."""
    kind = backend("mission")
    learner = kind(Common(k=k), kind.Parameters(), Task("logistic", ("-1", "1")))
    learner.update(rows.batch())
    names = learner.selection().raw_names
    return np.searchsorted(columns, np.array([int(name) for name in names], dtype=np.uint64))


def parts_of(data: Path, name: str, splits: int) -> Iterator[tuple[Rows, Rows]]:
    """Rows to learn from and to judge by: as given, or dealt out so many times."""
    paths = {path.name.split(".")[0]: path for path in sorted((data / name).iterdir())}
    train, test = read_any(paths["train"]), read_any(paths["test"])
    if splits == 0:
        yield train, test
    rows = joined(train, test)
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(rows))
        yield rows.taken(order[: len(train)]), rows.taken(order[len(train) :])


def judge(train: Rows, test: Rows, ks: list[int], orders: int) -> dict[str, list[float]]:
    """Test accuracy of each selector at each k; of mission the mean over so many orders of the rows."""
    columns = np.unique(train.keys)
    x, held = matrix(train, columns).tocsc(), matrix(test, columns).tocsc()
    dense = np.abs(fitted(x, train.targets)[:-1])
    sparse = l1_path(x, train.targets)
    scores = chi2(abs(x), train.targets)[0]
    shuffled = [train.taken(np.random.default_rng(seed).permutation(len(train))) for seed in range(orders)]
    selectors: dict[str, Callable[[int], list[np.ndarray]]] = {
        "mission": lambda k: [chosen_by_mission(rows, columns, k) for rows in shuffled],
        "chi2": lambda k: [largest(scores, k)],
        "l1": lambda k: [sparse(k)],
        "dense": lambda k: [largest(dense, k)],
    }

    def refitted(kept: np.ndarray) -> float:
        weights = fitted(x[:, kept].tocsr(), train.targets)
        margins = held[:, kept] @ weights[:-1] + weights[-1]
        return float(np.mean((margins > 0) == (test.targets > 0)))

    return {
        name: [float(np.mean([refitted(kept) for kept in choose(k)])) for k in ks]
        for name, choose in selectors.items()
    }


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=SETS)
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=KS)
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--splits", type=int, default=0, help="0: the parts as given")
    asked = parser.parse_args()
    cells: dict[str, list[float]] = {}
    print("| set | k | mission | chi2 | l1 | dense |\n|---|---|---|---|---|---|")
    for name in asked.sets:
        parts = parts_of(asked.data, name, asked.splits)
        judged = [judge(train, test, asked.k, asked.orders) for train, test in parts]
        found = {selector: np.mean([each[selector] for each in judged], axis=0) for selector in judged[0]}
        for i, k in enumerate(asked.k):
            shown = " | ".join(f"{accuracy[i]:.4f}" for accuracy in found.values())
            print(f"| {name} | {k} | {shown} |", flush=True)
        for selector, accuracies in found.items():
            cells.setdefault(selector, []).extend(accuracies)
    for rival in list(cells)[1:]:
        ahead = np.array(cells["mission"]) - np.array(cells[rival])
        error = ahead.std(ddof=1) / np.sqrt(len(ahead))
        print(f"ahead of {rival}: {ahead.mean():+.4f}, standard error {error:.4f}, {len(ahead)} cells")


if __name__ == "__main__":
    main()
