"""The outer loop of the Feature Generating Machine over scans of a stream (Algorithm 1).

    load              number the features, keep the rows while they fit, c of the first round
    try               where C is a guess: k features in ten rounds on four fifths of the rows, what C they
                      want is asked of the others; then begin anew with it
    repeat            worst case: the B features with the largest |c_j| (Algorithm 2)
        collect       their columns, and names
        solve         the reduced problem over all columns so far: w, b, alpha (Algorithm 4)
        score         c = sum alpha_i y_i x_i over every feature
    trim              drop the features that move the decision least, refit, until k are left

Schedule of passes: `load`, then `collect` and `score` in turn, two passes a round, those of `try`
included. They cannot share one: c needs the alpha that only the collected columns give. When the rows
fit in memory, `load` is the only pass, and one more names the features if names are text. When the table
of features does not fit, c is a count-sketch and `collect` also re-scores its candidates exactly: as
many passes.
(groups.py and polynomial.py say what that means for them.)

The loop is written as a generator of scans, so that it reads as above and a scan is fed either
by the runner or from memory.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import ColumnCache, FeatureScores
from fsstream.algorithms.fgm.reduced import ReducedProblem
from fsstream.algorithms.fgm.scans import Collect, CollectCandidates, Load, Name, Score
from fsstream.algorithms.fgm.schedule import Schedule, Seen, schedule
from fsstream.algorithms.fgm.standing import Standing
from fsstream.algorithms.scanning import Ignore

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from fsstream.algorithms.fgm.parameters import FgmParameters
    from fsstream.algorithms.scanning import Scan
    from fsstream.expansion import Expansion

DROPPED_A_TRIM = 0.2
MOST_FACTOR = 256.0  # of a C that was tried: where no row has noise it would grow without end
TRIED_ROUNDS = 10  # to the k features that C is tried on
TOLERANCE = 1e-4
PAPER_TOLERANCE = 1e-3
ENDLESS = 1 << 62  # features of a stream whose table of them does not fit


class Machine:
    """One binary or regression problem; `work` yields the scans it needs, one after the other."""

    tries_costs = True  # before a C that is a guess is used

    def __init__(
        self,
        k: int,
        loss: str,
        parameters: FgmParameters,
        *,
        shift: bool,
        memory: int,
        seed: int,
        threads: int,
    ) -> None:
        self._k = k
        self._loss = loss
        self._parameters = parameters
        self._shift = shift
        self._memory = memory
        self._literal = parameters.rule == "paper"
        self._threads = threads
        self._seed = seed
        self.scores = FeatureScores(memory // 4, memory // 2, shift, seed)
        self.scores.use_threads(threads)
        self.plan: Schedule | None = None
        self.keys: list[int] = []  # by column
        self.names: list[bytes] = []  # by column
        self.kept: NDArray[np.uint32] | None = None  # the columns of the outcome
        self.kept_units = np.zeros(0, np.int64)
        self.objectives: list[float] = []
        self.bounds: list[tuple[float, float]] = []  # theta_t, phi_t
        self.collisions = 0
        self.last_C = 0.0  # of the last refit; 0: there was none
        self._standing = Standing()

    def work(self) -> Iterator[Scan]:
        """From the first scan to the outcome."""
        yield Load(self.scores, self._memory)
        self._begin()
        yield from self._try_costs()
        yield from self._finish()

    def resume(self, standing: Standing) -> Iterator[Scan]:
        """Go on after the rounds of a checkpoint: their columns are collected anew, in one scan."""
        self._standing = standing
        yield Ignore()
        if not standing.rounds:
            yield from self.work()
            return
        yield Load(self.scores, self._memory)
        self._begin()
        self._open(standing.C)
        self.objectives, self.bounds = list(standing.objectives), list(standing.bounds)
        yield from self._gather(np.concatenate(standing.rounds))
        for ids in standing.rounds:
            self.problem.add_group(self._columns_of(ids))
        self.problem.start_from(standing.weights, standing.bias, standing.tau)
        yield from self._finish()

    def _finish(self) -> Iterator[Scan]:
        yield from self._generate()
        self._trim()
        yield from self._name()

    def standing(self) -> Standing:
        """The rounds done so far: enough to go on, to the last bit."""
        return self._standing

    def _begin(self) -> None:
        scores = self.scores
        features = scores.features if scores.whole else ENDLESS
        seen = Seen(scores.rows, scores.entries, features, self._mean_square(), self._groups())
        self.plan = schedule(self._k, self._parameters, seen)
        targets = scores.targets.astype(np.float64)
        costs = self.plan.C * scores.importance.astype(np.float64)
        scores.finish_load(*start_line(self.plan, self._loss, targets, costs, shift=self._shift))
        self._open(self.plan.C)
        self._scored = True

    def _open(self, C: float, *, hold_out: bool = False) -> None:
        """The problem without features."""
        assert self.plan is not None
        scores, self.plan = self.scores, replace(self.plan, C=C)
        targets = scores.targets.astype(np.float64)
        costs = C * scores.importance.astype(np.float64)
        groups = -(-self.plan.target // self.plan.B)
        self.problem = ReducedProblem(
            self._no_columns(),
            self._loss,
            targets,
            costs,
            shift=self._shift,
            tolerance=self._parameters.tolerance or (PAPER_TOLERANCE if self._literal else TOLERANCE),
            literal=self._literal,
            cached_products=24 * scores.rows * groups <= self._memory // 8,
            seed=self._seed,
        )
        if hold_out:
            self.problem.hold_out()
        self.problem.solve(iterations=0)
        self.problem.tau = 0.0
        self._without_features = self.problem.objective
        self._scored = False
        slope, offset = start_line(self.plan, self._loss, targets, self.problem.costs, shift=self._shift)
        self._first_residuals = self.problem.costs / C * (slope * targets + offset)

    def _no_columns(self) -> ColumnCache:
        left = max(0, self._memory - self.scores.bytes)
        columns = ColumnCache(self.scores.rows, left)
        columns.use_threads(self._threads)
        return columns

    def _try_costs(self) -> Iterator[Scan]:
        """C as rows want it that no feature was selected by: a few rounds ahead of those that count, and a
        few more with what they say, as long as they say more."""
        plan = self.plan
        assert plan is not None
        if not (plan.guessed and self.tries_costs):
            return
        few = replace(plan, B=max(plan.B, math.ceil(plan.k / TRIED_ROUNDS)), target=plan.k, rounds=0)
        tried, factor = 0.0, 1.0
        while tried < factor < MOST_FACTOR:
            tried, self.plan = factor, few
            self._open(tried * plan.C, hold_out=True)
            yield from self._generate(noted=False)
            self.problem.merge(np.unique(self.problem.members))
            factor = tried * self.problem.try_costs(MOST_FACTOR / tried)
            self.keys, self.names, self.objectives, self.bounds, self.collisions = [], [], [], [], 0
        self.plan = plan
        self._open(factor * plan.C)

    def _mean_square(self) -> float:
        """Mean |x_i|^2 of what is learned from."""
        return self.scores.square_sum / max(self.scores.rows, 1)

    def _groups(self) -> int:
        """How many groups there are; 0: single features are selected."""
        return 0

    def current_residuals(self) -> NDArray[np.float64]:
        """alpha_i y_i for the next worst case."""
        return self.problem.residuals if self.problem.groups else self._first_residuals

    def weights(self) -> NDArray[np.float64]:
        """The weight of every column, as the outcome reports it."""
        return self.problem.by_column()

    def _generate(self, *, noted: bool = True) -> Iterator[Scan]:
        assert self.plan is not None
        while (wanted := self._wanted()) > 0 and not self._settled():
            yield from self._score()
            ids = yield from self._worst_case(min(wanted, self.plan.B))
            if len(ids) == 0:
                return
            self.problem.add_group(self._columns_of(ids))
            self.problem.solve()
            self.objectives.append(self.problem.objective)
            if noted:
                self._note_round(ids)

    def _note_round(self, ids: NDArray[np.uint64]) -> None:
        assert self.plan is not None
        problem = self.problem
        self._standing = Standing(
            (*self._standing.rounds, ids),
            problem.weights,
            problem.bias,
            problem.tau,
            tuple(self.objectives),
            tuple(self.bounds),
            self.plan.C,
        )

    def _score(self) -> Iterator[Scan]:
        """c for the next worst case; the first one is known from the first scan."""
        if not self._scored:
            yield Score(self.scores, self.current_residuals())
        self._scored = False

    def _wanted(self) -> int:
        """How many features are still to be generated."""
        assert self.plan is not None
        if (
            self.plan.rounds
            and len(self.problem.groups) >= self.plan.rounds
            and self.generated >= self.plan.k
        ):
            return 0
        return self.plan.target - self.generated

    def _settled(self) -> bool:
        """The stopping rules (37) and (36), which never stop below k."""
        assert self.plan is not None
        if self.generated < self.plan.k or not self.objectives:
            return False
        stop, gap = self._parameters.stop, self._parameters.gap
        before, now = ([self._without_features, *self.objectives])[-2:]
        if stop > 0.0 and before - now <= stop * self._without_features:
            return True
        lower, upper = self.bounds[-1] if self.bounds else (-np.inf, np.inf)
        return gap > 0.0 and upper - lower <= gap * abs(lower)

    def _worst_case(self, wanted: int) -> Generator[Scan, None, NDArray[np.uint64]]:
        """The keys of the next round, their columns collected.

        New features; by the paper's rule the largest of all, as long as one of them is new.
        """
        assert self.plan is not None
        if self.scores.sketched:
            new, c_new = yield from self._collect_candidates()
        else:
            new, c_new = self.scores.best(self.plan.B, self.known)
        old = self.known[~np.isin(self.known, new)]
        c_old = self.problem.columns.dots(self._columns_of(old), self.problem.residuals)
        keys = np.concatenate([new, old])
        squares = np.concatenate([c_new, c_old]) ** 2
        top = np.lexsort((keys, -squares))[: self.plan.B]
        if self.problem.groups:
            self._note_bounds(float(np.sum(squares[top])))
        if self._literal and np.any(top < len(new)):
            place = np.flatnonzero(top < len(new))[wanted:]
            chosen = keys[np.delete(top, place)]
        else:
            chosen = new[:wanted]
        if not self.scores.sketched:
            yield from self._gather(chosen)
        return chosen

    def _note_bounds(self, squares: float) -> None:
        phi = self.problem.upper_bound(squares)
        self.bounds.append((-self.problem.objective, min([phi, *(b for _, b in self.bounds[-1:])])))

    @property
    def known(self) -> NDArray[np.uint64]:
        """The keys of all columns."""
        return np.array(self.keys, dtype=np.uint64)

    def _collect_candidates(self) -> Generator[Scan, None, tuple[NDArray[np.uint64], NDArray[np.float64]]]:
        assert self.plan is not None
        scan = CollectCandidates(self.scores, self.plan.B, self._memory // 8, self.known)
        yield scan
        count = min(self.plan.B, self._wanted())
        self._take(scan, count)
        return scan.ranked(count)

    def _take(self, scan: CollectCandidates, count: int) -> None:
        """The best candidates become columns."""
        found = scan.take(count, self.problem.columns)
        self.keys += [key for key, _, _, _ in found]
        self.names += [name for _, _, name, _ in found]

    def _gather(self, ids: NDArray[np.uint64]) -> Iterator[Scan]:
        """Columns for what a round brings, as far as they are not there yet."""
        yield from self._collect(ids)

    def _collect(self, keys: NDArray[np.uint64]) -> Iterator[Scan]:
        fresh = keys[~np.isin(keys, self.known)]
        keys = np.array(list(dict.fromkeys(fresh.tolist())), dtype=np.uint64)
        scan = Collect(self.scores, self.problem.columns, keys)
        yield scan
        self.keys += keys.tolist()
        self.names += scan.names
        self.collisions += scan.collisions

    def _columns_of(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        number = {key: column for column, key in enumerate(self.keys)}
        return np.array([number[int(key)] for key in keys], dtype=np.uint32)

    @property
    def generated(self) -> int:
        """How many there are to choose k from."""
        return len(self.keys)

    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """What k counts, and the columns it is made of: here each is its own."""
        return np.arange(len(self.keys)), np.arange(len(self.keys), dtype=np.uint32)

    def _trim(self) -> None:
        """Down to k, a fifth at a time; what is left is fitted anew."""
        unit, column = self._members()
        self.kept_units = np.arange(self.generated)
        self.kept = np.unique(column)
        zeros = len(self.kept) - np.count_nonzero(self.problem.by_column()[self.kept])
        if not self._literal or (zeros > 0 and self.generated <= self._k):
            self._refit(self.kept, last=self.generated <= self._k)
        while len(self.kept_units) > self._k:
            left = max(self._k, int(len(self.kept_units) * (1 - DROPPED_A_TRIM)))
            moved = self.problem.contributions(self.kept)
            size = np.bincount(unit, moved[column] ** 2, minlength=self.generated)[self.kept_units]
            order = np.argsort(-size, kind="stable")
            self.kept_units = np.sort(self.kept_units[order[:left]])
            self.kept = np.unique(column[np.isin(unit, self.kept_units)])
            self._refit(self.kept, last=left == self._k)

    def _refit(self, columns: NDArray[np.uint32], *, last: bool) -> None:
        assert self.plan is not None
        if last:
            factor = 1.0
            if self._settles_cost:
                self.problem.merge(columns)
                # Only the logistic loss has been seen to want more than the rounds for what they have chosen.
                factor = self.problem.settle_cost(may_grow=self._loss == "logistic")
            self.last_C = factor * self.plan.C
        self.problem.refit(columns, last=last)

    @property
    def _settles_cost(self) -> bool:
        """Whether the last refit looks for a C of its own."""
        return not self._literal and not self._parameters.C

    def more_facts(self) -> dict[str, Any]:
        """What only this kind of machine knows."""
        return {}

    def remarks(self) -> Iterable[str]:
        """What the user may not expect."""
        return ()

    def expansion(self) -> Expansion | None:
        """What the columns are made of, when they are no features or products of the input."""
        return None

    def group_labels(self) -> list[str] | None:
        """The group of each kept column, when groups are what is selected."""
        return None

    def _name(self) -> Iterator[Scan]:
        assert self.kept is not None
        if all(self.names[column] for column in self.kept.tolist()):
            return
        scan = Name(self.scores, np.array(self.keys, dtype=np.uint64)[self.kept])
        yield scan
        for column, name in zip(self.kept.tolist(), scan.names, strict=True):
            self.names[column] = name
        self.collisions += scan.collisions


def start_line(
    plan: Schedule, loss: str, targets: NDArray[np.float64], costs: NDArray[np.float64], *, shift: bool
) -> tuple[float, float]:
    """(slope, offset): with no feature chosen, r_i = importance_i (slope y_i + offset).

    alpha^0 is C for the squared hinge, C / 2 for logistic. With shift it is that of the best b
    alone, so that sum alpha_i y_i = 0: else the first round picks class-frequency features.
    """
    slope = plan.C / 2 if loss == "logistic" else plan.C
    mean = float(np.dot(costs, targets) / np.sum(costs)) if shift and np.any(costs) else 0.0
    return slope, -slope * mean
