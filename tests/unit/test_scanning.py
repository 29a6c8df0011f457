"""Learners that scan again and again, side by side for several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream._native import Batch
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.one_versus_rest import OneVersusRest
from fsstream.algorithms.scanning import Scan, ScanningLearner
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsstream.state import StateSink


class Count(Scan):
    def see(self, batch: Batch, first_row: int) -> None:
        pass


class Counting(ScanningLearner):
    """The first one made wants one scan, the next one two, and so on."""

    made = 0

    def __init__(self, common: Common, parameters: Any, task: Task) -> None:
        Counting.made += 1
        self.scans = [Count() for _ in range(Counting.made)]
        self._go(iter(self.scans))

    def note_standing(self) -> None:
        pass

    def selection(self) -> Selection:
        return Selection([], np.empty(0, np.float32))

    def intercepts(self) -> np.ndarray:
        return np.zeros(1, np.float32)

    def save(self, out: StateSink) -> None:
        pass

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        pass


def test_a_class_that_is_done_waits_for_the_others(monkeypatch) -> None:
    monkeypatch.setattr(Counting, "made", 0)
    task = Task("logistic", labels=("a", "b", "c"))
    learner = OneVersusRest(Common(k=1), None, task, backend=Counting)
    rows = np.arange(7, dtype=np.uint64)
    targets = np.array([0, 1, 2, 0, 1, 2], np.float32)
    batch = Batch.from_arrays(rows, rows[:6], np.ones(6, np.float32), targets)
    wanted, passes = True, 0
    while wanted:
        learner.update(batch)
        wanted, passes = learner.end_pass(), passes + 1
    assert passes == 3
    assert [[scan.rows for scan in one.scans] for one in learner._learners] == [[6], [6, 6], [6, 6, 6]]
