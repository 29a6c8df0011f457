"""How small a sketch may be: cells at which mission, awm and bear keep 99 % of the accuracy they could have.

    python scripts/compare_memory.py DATA [--sets basehock,rcv1_small] [--k 1000] [--orders 5]

One pass; accuracies are means over random orders of the training rows. The ceiling of a set is the best
of any of the three with 2^16 cells a row; a method keeps it from the smallest width on from which on every
wider one has .99 of it. mission is untuned, the others run at the best of a few rates, chosen on the test
rows in their favour.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from shuffled_data import Rows, learn_and_judge, read_any

WIDTHS = tuple(1 << power for power in range(6, 17))
METHODS = {"mission": (3, (None,)), "awm": (1, (0.1, 0.5, 2.0)), "bear": (3, (0.1, 0.5, 2.0))}


def accuracy(method: str, k: int, width: int, rate: float | None, orders: list[Rows], test: Rows) -> float:
    """The mean of one pass over each order."""
    settings = {"sketch_width": width}
    return float(np.mean([learn_and_judge(method, k, settings, rows, test, rate)[0] for rows in orders]))


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["basehock", "rcv1_small"])
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("--orders", type=int, default=5)
    asked = parser.parse_args()
    print("| set | ceiling | method | with 2^16 | cells for 99 % |\n|---|---|---|---|---|")
    for name in asked.sets:
        parts = {path.name.split(".")[0]: path for path in (asked.data / name).iterdir()}
        train, test = read_any(parts["train"]), read_any(parts["test"])
        permutations = [np.random.default_rng(seed).permutation(len(train)) for seed in range(asked.orders)]
        orders = [train.taken(order) for order in permutations]
        curves = {
            method: [
                max(accuracy(method, asked.k, width, rate, orders, test) for rate in rates)
                for width in WIDTHS
            ]
            for method, (_, rates) in METHODS.items()
        }
        ceiling = max(curve[-1] for curve in curves.values())
        for method, curve in curves.items():
            short = [i for i, accuracy in enumerate(curve) if accuracy < 0.99 * ceiling]
            first = 0 if not short else short[-1] + 1
            cells = f"{METHODS[method][0] * WIDTHS[first]:,}" if first < len(WIDTHS) else "not reached"
            print(f"| {name} | {ceiling:.4f} | {method} | {curve[-1]:.4f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
