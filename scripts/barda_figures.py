"""Figures 1 to 3 of "Online Feature Selection by Adaptive Sub-gradient Methods": its protocol.

tau = ceil(2 d / n) passes, each in a fresh order; delta = 0.01. Settings are chosen on the training
rows alone: the best accuracy on them after the passes, ties by the fewest mistakes while learning,
in one order that is not among those reported. Two budgets are tuned, TUNED_AT: the first for
the small budgets (Figure 1), the second for the large ones (Figure 2). eta, lambda and 1 / gamma are
from {10^-1, 10^-1.5, ..., 10^-8}. The grid is thinned as it is learned: all points for tau / 16
passes, the best quarter of them for tau / 4, the best quarter of those for tau; of points that did
the same so far, one goes on.

The l1 methods are tuned with the l1 weight that leaves TUNED_AT[0] features. Figure 3's l1 weights
are those that leave about as many features as MARKS in the order used for tuning;
in each order reported, B-ARDA gets as budget exactly what l1-ARDA left there, B-AMD what Ada-Fobos did.

--quick thins faster, for large sets: all points for tau / 64 passes, an eighth of them for tau / 8, an
eighth of those for tau. --every 3 leaves only 10^-1, 10^-2.5, ... of the grid.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from barda_plot import line_chart
from barda_runs import MEMORY, Passes, RunLog, Settings, accuracy, learner, passes_of, spread, table, train

from fsstream import _native

if TYPE_CHECKING:
    import argparse

    from shuffled_data import Rows

GRID = [10.0 ** (-k / 2) for k in range(2, 17)]
TUNED_AT = (100, 1000)
SMALL, LARGE = (10, 20, 50, 100, 200), (500, 1000, 2000)
BUDGETED = ("b-arda", "b-amd", "ofs", "sofs")
BY_L1 = {"l1-arda": "b-arda", "ada-fobos": "b-amd"}  # and whom each is set against
MARKS = (10, 20, 50, 100, 200)
RUNGS = [10.0 ** (-k / 8) for k in range(-24, 73)]  # 10^3 .. 10^-9
TUNING_ORDER = 1000


def candidates(name: str, grid: list[float]) -> list[Settings]:
    """The grid of a learner."""
    if name == "sofs":
        return [Settings(parameters=(("gamma", 1 / value),)) for value in grid]
    if name in BY_L1:
        return [Settings(eta=eta, parameters=(("rounds", 1),)) for eta in grid]
    return [Settings(eta=eta, lam=lam) for eta in grid for lam in grid]


def tuned(name: str, k: int, passes: Passes, options: argparse.Namespace) -> Settings:
    """The grid's best on the training rows, thinned on the way: after tau / part passes a share goes on.

    Of points that did the same so far (made as many mistakes, chose the same features) one goes on:
    where eta or lambda is too small to matter, it does not matter which.
    """
    points = candidates(name, GRID[:: options.every])
    parts, share = ((64, 8, 1), 8) if options.quick else ((16, 4, 1), 4)
    for part in parts:
        most = math.ceil(len(points) / share)
        first: dict[Course, Settings] = {}
        for point in points:
            first.setdefault(course(name, k, passes, math.ceil(passes.count / part), point), point)
        best = sorted(first, key=lambda c: (-c.right, c.mistakes))[:most]
        points = [first[c] for c in best]
    return points[0]


class Course(NamedTuple):
    """How one point did: on the training rows at the end, and while it learned."""

    right: float
    mistakes: int
    chosen: frozenset[bytes]


def course(name: str, k: int, passes: Passes, until: int, point: Settings) -> Course:
    """After the first passes of an order."""
    learning = learner(name, k, passes.count, point)
    mistakes = 0
    for number in range(until):
        batch, targets = passes[number]
        mistakes += int(np.sum((np.asarray(learning.update(batch)) > 0) != (targets > 0)))
    right = accuracy(learning, passes.rows)
    return Course(right, mistakes, frozenset(learning.selection().raw_names))


def l1_weights(name: str, eta: float, passes: Passes) -> list[float]:
    """Those that leave about as many features as MARKS: all rungs at once."""
    ladder = _native.l1_ladder(name, loss="squared-hinge", rungs=RUNGS, eta=eta, memory=MEMORY)
    for batch, _ in passes:
        ladder.update(batch)
    left = np.maximum(np.array(ladder.counts(), dtype=float), 1e-9)
    nearest = [int(np.argmin(np.abs(np.log(left / mark)))) for mark in MARKS]
    return [RUNGS[i] for i in sorted(set(nearest))]


class Study:
    """All runs over one data set, each done once."""

    def __init__(
        self, name: str, halves: tuple[Rows, Rows], log: RunLog, options: argparse.Namespace
    ) -> None:
        self.name, self.log, self.orders = name, log, options.orders
        self.rows, self.test = halves
        self.tau, self.options = passes_of(self.rows, options.max_passes), options
        self._passes: tuple[int, Passes] | None = None

    def passes(self, order: int) -> Passes:
        """Of one order at a time, since their batches are kept."""
        if self._passes is None or self._passes[0] != order:
            self._passes = (order, Passes(self.rows, self.tau, order))
        return self._passes[1]

    def settings(self, algorithm: str, k: int) -> Settings:
        """Tuned for this budget's figure."""
        return self.tuned_at(algorithm, TUNED_AT[0] if k <= SMALL[-1] or algorithm in BY_L1 else TUNED_AT[1])

    def tuned_at(self, algorithm: str, at: int) -> Settings:
        """Tuned at one budget."""
        asked = {"set": self.name, "tau": self.tau, "tuned": algorithm, "at": at}
        found = self.log.found(
            asked, lambda: dataclasses.asdict(tuned(algorithm, at, self.passes(TUNING_ORDER), self.options))
        )
        return Settings(**{**found, "parameters": tuple((n, v) for n, v in found["parameters"])})

    def budgeted(self, algorithm: str, k: int, order: int) -> float:
        """Test accuracy of one run."""
        asked = {"set": self.name, "tau": self.tau, "run": algorithm, "k": k, "order": order}
        return self._accuracy(asked, self.settings(algorithm, k))

    def budgeted_at(self, algorithm: str, k: int, order: int) -> float:
        """The same, tuned at that budget itself."""
        asked = {"set": self.name, "tau": self.tau, "run": algorithm, "k": k, "at": k, "order": order}
        return self._accuracy(asked, self.tuned_at(algorithm, k))

    def untuned(self, algorithm: str, k: int, order: int) -> float:
        """The same with the defaults that need no grid."""
        asked = {"set": self.name, "tau": self.tau, "untuned": algorithm, "k": k, "order": order}
        return self._accuracy(asked, Settings())

    def _accuracy(self, asked: dict[str, Any], settings: Settings) -> float:
        def run() -> float:
            name, k, passes = asked.get("run", asked.get("untuned")), asked["k"], self.passes(asked["order"])
            return accuracy(train(name, k, passes, settings), self.test)

        return self.log.found(asked, run)

    def l1_weights(self, algorithm: str) -> list[float]:
        """Of Figure 3."""
        eta = self.settings(algorithm, TUNED_AT[0]).eta or 0.0
        asked = {"set": self.name, "tau": self.tau, "weights": algorithm}
        return self.log.found(asked, lambda: l1_weights(algorithm, eta, self.passes(TUNING_ORDER)))

    def by_l1(self, algorithm: str, l1: float, order: int) -> dict[str, Any]:
        """How many features one l1 weight left in one order, and how good they are."""

        def run() -> dict[str, Any]:
            eta = self.settings(algorithm, TUNED_AT[0]).eta
            learning = train(algorithm, None, self.passes(order), Settings(eta=eta, l1=l1))
            return {"left": len(learning.selection()), "accuracy": accuracy(learning, self.test)}

        asked = {"set": self.name, "tau": self.tau, "run": algorithm, "l1": l1, "order": order}
        return self.log.found(asked, run)

    def run(self) -> None:
        """Everything the tables need, order by order."""
        rivals = () if self.options.without_l1 else tuple(BY_L1)
        for algorithm in (*BUDGETED, *rivals):
            for k in TUNED_AT:
                self.settings(algorithm, k)
        weights = {algorithm: self.l1_weights(algorithm) for algorithm in rivals}
        for order in range(self.orders):
            for algorithm in BUDGETED:
                for k in (*SMALL, *LARGE):
                    self.budgeted(algorithm, k, order)
            for algorithm, values in weights.items():
                for l1 in values:
                    left = self.by_l1(algorithm, l1, order)["left"]
                    self.budgeted(BY_L1[algorithm], max(1, left), order)
            print(f"{self.name}: order {order} done", flush=True)


def described(study: Study, rivals: tuple[str, ...]) -> list[list[str]]:
    """What was tuned, a line each."""
    lines = []
    for algorithm in (*BUDGETED, *rivals):
        for at in TUNED_AT if algorithm in BUDGETED else TUNED_AT[:1]:
            s = study.settings(algorithm, at)
            values = [f"eta {s.eta:.2g}"] if s.eta else []
            values += [f"lambda {s.lam:.2g}"] if s.lam else []
            values += [f"{name} {value:.2g}" for name, value in s.parameters if name == "gamma"]
            lines.append([algorithm, f"{at:,}", ", ".join(values)])
    return lines


def report(study: Study, options: argparse.Namespace) -> None:
    """Tables and plots from the log."""
    print(f"\n### {study.name}\n\n{len(study.rows):,} rows, {study.tau} passes, {study.orders} orders.\n")
    rivals = () if options.without_l1 else tuple(BY_L1)
    table(["", "tuned at B", "settings"], described(study, rivals))
    for title, part, budgets in (("Figure 1", "small", SMALL), ("Figure 2", "large", LARGE)):
        cells = {
            a: [[study.budgeted(a, k, order) for order in range(study.orders)] for k in budgets]
            for a in BUDGETED
        }
        table([title, *(f"B = {k:,}" for k in budgets)], [[a, *map(spread, cells[a])] for a in BUDGETED])
        draw(study.name, part, list(budgets), cells, options)
    for algorithm in rivals:
        versus(study, algorithm, options)


def versus(study: Study, algorithm: str, options: argparse.Namespace) -> None:
    """Figure 3: an l1 method against the budgeted ones at the counts it gave."""
    orders = range(study.orders)
    runs = [[study.by_l1(algorithm, l1, order) for order in orders] for l1 in study.l1_weights(algorithm)]
    counts = [round(float(np.mean([r["left"] for r in cell]))) for cell in runs]
    rival = BY_L1[algorithm]
    cells = {
        algorithm: [[r["accuracy"] for r in cell] for cell in runs],
        rival: [
            [study.budgeted(rival, max(1, r["left"]), order) for order, r in enumerate(cell)] for cell in runs
        ],
    }
    table(
        ["Figure 3, features left", *(f"{n:,}" for n in counts)],
        [[a, *map(spread, cell)] for a, cell in cells.items()],
    )
    draw(study.name, algorithm, counts, cells, options)


def draw(
    name: str, part: str, xs: list[int], cells: dict[str, list[list[float]]], options: argparse.Namespace
) -> None:
    """One plot with error bars."""
    if not options.out:
        return
    chart = line_chart(
        f"{name}: test accuracy against the number of features",
        xs,
        {a: [(float(np.mean(c)), float(np.std(c))) for c in cell] for a, cell in cells.items()},
    )
    (options.out / f"barda-{name}-{part}.svg").write_text(chart)
