"""One learner over one data set in one order of passes, and a log of runs that can be gone on with.

In: Rows (parsed once), settings, a number that says the order. Out: a learner after its passes; the
log is a file of JSON lines, one a finished run, so that a run that was ended goes on where it was.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.algorithms import backend
from fsstream.algorithms.learner import Common, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shuffled_data import Rows

    from fsstream._native import Batch
    from fsstream.algorithms.learner import Learner

MEMORY = 4 << 30
LOSSES = {"ofs": "hinge", "sofs": "hinge", "mission": "logistic"}  # the others': squared hinge
LARGEST_INDEX = 10_000_000  # keys above are hashes of words


@dataclasses.dataclass(frozen=True)
class Settings:
    """Of one run: eta, lambda, the l1 weight, and what `--set` takes."""

    eta: float | None = None
    lam: float = 0.0
    l1: float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()


def learner(name: str, k: int | None, passes: int, settings: Settings) -> Learner:
    """As `fsstream select` would make it, without an intercept."""
    kind = backend(name)
    common = Common(
        k=k,
        passes=passes,
        learning_rate=settings.eta,
        l1=settings.l1,
        l2=settings.lam,
        intercept=False,
        memory=MEMORY,
    )
    task = Task(LOSSES.get(name, "squared-hinge"))
    return kind(common, kind.Parameters(**dict(settings.parameters)), task)


class Passes:
    """The batches of some passes, each in a fresh order; made once, since many learners read them."""

    def __init__(self, rows: Rows, count: int, order: int) -> None:
        self.rows, self.count = rows, count
        self._draws = np.random.default_rng(order)
        self._made: list[tuple[Batch, np.ndarray]] = []

    def __getitem__(self, number: int) -> tuple[Batch, np.ndarray]:
        """The batch of a pass and its targets."""
        while len(self._made) <= number:
            taken = self.rows.taken(self._draws.permutation(len(self.rows)))
            self._made.append((taken.batch(), taken.targets))
        return self._made[number]

    def __iter__(self) -> Iterator[tuple[Batch, np.ndarray]]:
        return (self[number] for number in range(self.count))


def train(name: str, k: int | None, passes: Passes, settings: Settings) -> Learner:
    """A learner after its passes; one that searches asks for more of them."""
    learning, wanted, number = learner(name, k, passes.count, settings), True, 0
    while wanted:
        learning.update(passes[number % passes.count][0])
        wanted, number = learning.end_pass(), number + 1
    return learning


def accuracy(learning: Learner, rows: Rows) -> float:
    """Share of rows on the right side of what the learner would write now."""
    chosen = learning.selection()
    return rows.accuracy(list(chosen.raw_names), chosen.weights)


def width(rows: Rows) -> int:
    """d: the largest index, as the paper counts; of text the number of words."""
    largest = int(rows.keys.max())
    return largest if largest < LARGEST_INDEX else len(np.unique(rows.keys))


def passes_of(rows: Rows, at_most: int) -> int:
    """tau = ceil(2 d / n), or fewer."""
    return min(at_most, math.ceil(2 * width(rows) / len(rows)))


def spread(values: list[float]) -> str:
    """Mean and standard deviation in percent."""
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}"


def table(head: list[str], lines: list[list[str]]) -> None:
    """Prints Markdown."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print(flush=True)


class RunLog:
    """Finished runs by what was asked of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self._done[self._spelled(entry["asked"])] = entry["found"]

    def found(self, asked: dict[str, Any], run: Callable[[], Any]) -> Any:
        """What was found for this before, or is found now."""
        spelled = self._spelled(asked)
        if spelled not in self._done:
            self._done[spelled] = run()
            with self._path.open("a") as lines:
                lines.write(json.dumps({"asked": asked, "found": self._done[spelled]}) + "\n")
        return self._done[spelled]

    @staticmethod
    def _spelled(asked: dict[str, Any]) -> str:
        return json.dumps(asked, sort_keys=True)
