"""Does it matter how the grid's best is chosen? Three ways to judge the same runs.

accuracy: on the training rows after the last pass, as barda_figures.py does; mistakes: while learning,
all passes; loss: the mean loss while learning. The paper says "the best performance in the training set".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from barda_figures import GRID, TUNING_ORDER, candidates
from barda_runs import LOSSES, Passes, Settings, accuracy, learner, passes_of, spread, table, train
from shuffled_data import halves

if TYPE_CHECKING:
    import argparse


class Judged(NamedTuple):
    """One point of the grid after some passes, by each criterion; the smaller, the better."""

    point: Settings
    accuracy: tuple[float, float]  # what is missing, ties by mistakes
    mistakes: float
    loss: float


def judge(name: str, k: int, passes: Passes, until: int, point: Settings) -> Judged:
    """Learn the first passes of an order."""
    learning = learner(name, k, passes.count, point)
    mistakes, loss = 0, 0.0
    for number in range(until):
        batch, targets = passes[number]
        scores = np.asarray(learning.update(batch), dtype=float)
        mistakes += int(np.sum((scores > 0) != (targets > 0)))
        short = np.maximum(0.0, 1.0 - targets * scores)
        loss += float(np.sum(short if LOSSES.get(name) == "hinge" else np.square(short)))
    return Judged(point, (-accuracy(learning, passes.rows), mistakes), mistakes, loss)


def criteria(options: argparse.Namespace) -> None:
    """All of the grid for the first of --after passes; what each criterion chooses, for all passes."""
    lines = []
    for name in options.sets:
        rows, test = halves(options.data / name)
        tau = passes_of(rows, options.max_passes)
        tuning = Passes(rows, tau, TUNING_ORDER)
        until = min(options.after[0], tau)
        for algorithm in options.algorithms:
            points = candidates(algorithm, GRID[:: options.every])
            judged = [judge(algorithm, options.budget, tuning, until, point) for point in points]
            best = min(run.accuracy[0] for run in judged)
            alike = sum(run.accuracy[0] == best for run in judged)
            for criterion in ("accuracy", "mistakes", "loss"):
                point = min(judged, key=lambda run: getattr(run, criterion)).point
                runs = [
                    train(algorithm, options.budget, Passes(rows, tau, order), point)
                    for order in range(options.orders)
                ]
                cells = [spread([accuracy(run, half) for run in runs]) for half in (rows, test)]
                gamma = dict(point.parameters).get("gamma")
                shown = f"gamma {gamma:.2g}" if gamma else f"eta {point.eta:.2g}, lambda {point.lam:.2g}"
                lines.append([name, algorithm, criterion, shown, f"{alike} of {len(points)}", *cells])
    head = ["set", "", "chosen by", "settings", "points of the best accuracy", "training rows", "test rows"]
    table(head, lines)
