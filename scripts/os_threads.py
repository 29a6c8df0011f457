"""Asynchronous workers as native threads: figure 3 of the paper, and two threads against one."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from os_figures import recall
from os_methods import chosen
from os_problems import S, as_batch, planted

from fsstream import _native

if TYPE_CHECKING:
    import argparse

    from os_problems import Problem
    from os_tables import Log

WORKERS = (1, 2, 4)
TASKS = (("squared", 64, 0.01), ("squared-hinge", 32, 0.35))  # loss, s, share of the first objective
CHUNK, SCANS = 512, 12


def threads(given: argparse.Namespace, log: Log) -> None:
    """Two scans of columns in memory (p = 2000, s = 100), numbers of workers in turn."""
    title = "Two scans of p = 2000"
    missing = [r for r in range(given.repetitions) if (title, "1", r) not in log.rows]
    for repetition in missing:
        problem = planted(2000, 3 + repetition)
        for q in (1, 2):
            log.add(title, str(q), repetition, two_scans(problem, q))
    print(
        "\n| workers | wall s | CPU s | recall | speed-up: wall | CPU a thread |\n|---|---|---|---|---|---|"
    )
    alone = np.array(list(log.measured(title, "1", given.repetitions).values()))
    for q in (1, 2):
        rows = np.array(list(log.measured(title, str(q), given.repetitions).values()))
        wall, cpu, found = np.median(rows[:, 0]), np.median(rows[:, 1]), rows[:, 2].mean()
        gains = np.median(alone[:, :2] / rows[:, :2], axis=0) * (1, q)
        print(f"| {q} | {wall:.3f} | {cpu:.3f} | {found:.3f} | {gains[0]:.2f} | {gains[1]:.2f} |")


def two_scans(problem: Problem, q: int) -> list[float]:
    """Wall and CPU seconds of the scans, and the recall."""
    batch, y = as_batch(problem.X), problem.y.astype(np.float32)
    kernel = _native.AsynchronousSubstitution(y, "squared", S, q, threads=True)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(2):
        kernel.update(batch)
        kernel.end_scan()
    spent = [time.perf_counter() - wall, time.process_time() - cpu]
    return [*spent, recall(problem, chosen(kernel.select()))]


@dataclass
class Course:
    """The objective's share of its start after every 512 arrivals, and the time that took."""

    wall: list[float]
    cpu: list[float]
    share: list[float]

    def reached(self, target: float) -> list[float]:
        """Wall and CPU seconds until it was below the target; infinite when it never was."""
        for wall, cpu, share in zip(self.wall, self.cpu, self.share, strict=True):
            if share <= target:
                return [wall, cpu]
        return [math.inf, math.inf]


def threshold(given: argparse.Namespace, log: Log) -> None:
    """Figure 3: n = 1000, p = 8192, time until the objective is under a share of its start."""
    print("\nTime until the objective is under a share of its start, n = 1000, p = 8192, native threads\n")
    print("| task | workers | repetitions | reached | wall s | speed-up: wall | CPU a thread |")
    print("|---|---|---|---|---|---|---|")
    for loss, s, target in TASKS:
        title = f"Threshold, {loss}, s = {s}"
        for repetition in range(given.repetitions):
            if any((title, str(q), repetition) not in log.rows for q in WORKERS):
                measure(title, loss, s, target, repetition, log)
        alone = np.array(list(log.measured(title, "1", given.repetitions).values()))
        for q in WORKERS:
            rows = np.array(list(log.measured(title, str(q), given.repetitions).values()))
            done = np.isfinite(rows[:, 0])
            line = f"| {loss}, s = {s}, {target:.0%} | {q} | {len(rows)} | {done.sum()} |"
            if done.any():
                gains = np.median(alone[done] / rows[done], axis=0) * (1, q)
                line += f" {np.median(rows[done, 0]):.2f} | {gains[0]:.2f} | {gains[1]:.2f} |"
            print(line, flush=True)


def measure(title: str, loss: str, s: int, target: float, repetition: int, log: Log) -> None:
    """One problem, by 1, 2 and 4 workers in turn."""
    problem = planted(8192, 300 + repetition, classes=loss != "squared", n=1000, s=s)
    parts = [as_batch(problem.X[:, j : j + CHUNK], j) for j in range(0, 8192, CHUNK)]
    for q in WORKERS:
        course = follow(problem, parts, loss, s, q, target)
        log.add(title, str(q), repetition, course.reached(target))
        if repetition == 0:
            log.add(f"{title}, seconds", str(q), 0, course.wall)
            log.add(f"{title}, share", str(q), 0, course.share)


def follow(problem: Problem, parts: list[_native.Batch], loss: str, s: int, q: int, target: float) -> Course:
    """Scans until the target is reached; the look at the objective is not counted."""
    kernel = _native.AsynchronousSubstitution(problem.y.astype(np.float32), loss, s, q, threads=True)
    first, course = kernel.objective, Course([], [], [])
    wall = cpu = 0.0
    for _ in range(SCANS):
        for part in parts:
            begin, busy = time.perf_counter(), time.process_time()
            kernel.update(part)
            wall += time.perf_counter() - begin
            cpu += time.process_time() - busy
            course.wall.append(wall)
            course.cpu.append(cpu)
            course.share.append(kernel.objective / first)
            if course.share[-1] <= target:
                return course
        kernel.end_scan()
    return course
