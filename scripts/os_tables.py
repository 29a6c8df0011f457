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
    from collections.abc import Callable
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


class Log:
    """Measured numbers by table, method and repetition; kept in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[tuple[str, str, int], list[float]] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                table, method, repetition, numbers = json.loads(line)
                self.rows[table, method, repetition] = numbers

    def add(self, table: str, method: str, repetition: int, numbers: list[float]) -> None:
        """Remember, and write down."""
        self.rows[table, method, repetition] = numbers
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps([table, method, repetition, numbers]) + "\n")


def run(table: Table, repetitions: int, log: Log) -> None:
    """Measure what the log does not have, then print the table."""
    absent: dict[str, str] = {}
    for repetition in range(repetitions):
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
    """Means, with the standard error of the first column."""
    headings = [table.columns[0], "s.e.", *table.columns[1:], "CPU s"]
    print(f"\n{table.title}\n\n| method | repetitions | " + " | ".join(headings) + " |")
    print("|---" * (len(headings) + 2) + "|")
    for name in table.methods:
        if name in absent:
            print(f"| {name} | {absent[name]} |" + " |" * len(headings))
            continue
        rows = [
            log.rows[table.title, name, r] for r in range(repetitions) if (table.title, name, r) in log.rows
        ]
        first, *rest = np.mean(rows, axis=0)
        error = np.std(rows, axis=0)[0] / np.sqrt(len(rows))
        cells = [f"{first:.3f}", f"{error:.3f}", *(f"{value:.3f}" for value in rest)]
        print(f"| {name} | {len(rows)} | " + " | ".join(cells) + " |", flush=True)
