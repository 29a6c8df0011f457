"""Tables of means over repetitions that survive being stopped.

Every (table, row, repetition) that is measured is one line of the log; a row that is there is not
measured again, and a table can be printed from whatever is there.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from os_methods import Weights
    from os_problems import Problem

    Methods = dict[str, Callable[[Problem], Weights]]
    Measure = Callable[[Problem, Weights], list[float]]


@dataclass(frozen=True)
class Table:
    """What is measured: each method on each problem, problems made one at a time."""

    title: str
    columns: list[str]
    methods: Methods
    make: Callable[[int], Problem]
    measure: Measure
    against: str = ""  # the method that the others are compared with, repetition by repetition


class Log:
    """Measured numbers by table, method and repetition; kept in a file if there is one."""

    def __init__(self, path: Path | None, complete: bool = False) -> None:
        self.path = path
        self.complete = complete  # nothing more is measured
        self.rows: dict[tuple[str, str, int], list[float]] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                table, method, repetition, numbers = json.loads(line)
                self.rows[table, method, repetition] = numbers

    def measured(self, table: str, method: str, repetitions: int) -> dict[int, list[float]]:
        """What there is of the first repetitions, by repetition."""
        return {r: self.rows[table, method, r] for r in range(repetitions) if (table, method, r) in self.rows}

    def add(self, table: str, method: str, repetition: int, numbers: list[float]) -> None:
        """Remember, and write down."""
        self.rows[table, method, repetition] = numbers
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps([table, method, repetition, numbers]) + "\n")


def run(table: Table, repetitions: int, log: Log) -> None:
    """Measure what the log does not have, unless it is said to be complete, then print the table."""
    absent: dict[str, str] = {}
    for repetition in range(0 if log.complete else repetitions):
        missing = [name for name in table.methods if (table.title, name, repetition) not in log.rows]
        problem = table.make(repetition) if missing else None
        for name in missing:
            assert problem is not None
            begin = time.process_time()
            try:
                found = table.methods[name](problem)
            except ImportError as error:
                absent[name] = f"not installed: {error.name}"
                continue
            seconds = time.process_time() - begin
            log.add(table.title, name, repetition, [*table.measure(problem, found), seconds])
    show(table, repetitions, log, absent)


def show(table: Table, repetitions: int, log: Log, absent: dict[str, str]) -> None:
    """Means, the first column's standard error and, where a table has one, its difference to `against`."""
    paired = ["difference", "s.e. of it"] if table.against else []
    headings = [table.columns[0], "s.e.", *paired, *table.columns[1:], "CPU s"]
    title = f"{table.title} (against {table.against})" if table.against else table.title
    print(f"\n{title}\n\n| method | repetitions | " + " | ".join(headings) + " |")
    print("|---" * (len(headings) + 2) + "|")
    for name in table.methods:
        if name in absent:
            print(f"| {name} | {absent[name]} |" + " |" * len(headings))
            continue
        measured = log.measured(table.title, name, repetitions)
        if not measured:
            continue
        rows = list(measured.values())
        first, *rest = np.mean(rows, axis=0)
        numbers = [first, standard_error([row[0] for row in rows])]
        if table.against:
            other = log.measured(table.title, table.against, repetitions)
            numbers += paired_difference(measured, other)
        cells = [f"{value:.3f}" for value in [*numbers, *rest]]
        print(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |", flush=True)


def standard_error(values: Sequence[float]) -> float:
    """Of the mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def paired_difference(measured: dict[int, list[float]], other: dict[int, list[float]]) -> list[float]:
    """Mean difference of the first number on the repetitions both have, and its standard error."""
    differences = [row[0] - other[r][0] for r, row in measured.items() if r in other]
    return [float(np.mean(differences)), standard_error(differences)] if differences else [0.0, 0.0]
