"""Recall and error: figures 1, 2 and 4 of the paper, correlated columns, scans and workers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from os_methods import (
    ScanByScan,
    Weights,
    abess,
    asy,
    bound,
    grafting,
    l1,
    liblinear,
    pool,
    proj_gd,
    rule,
)
from os_problems import Problem, planted, split
from os_tables import Table, run

if TYPE_CHECKING:
    import argparse

    from os_tables import Log, Methods

HINGE = "squared-hinge"
OS = "os (pool), 2 scans"


def ours(loss: str) -> Methods:
    """The family's own methods, two scans where it scans."""
    return {
        OS: bound(pool, loss),
        "os rule=paper, 2 scans": bound(rule("paper"), loss),
        "projection, 2 scans": bound(rule("projection"), loss),
        "proximal, 2 scans": bound(rule("proximal"), loss),
        "proj-gd": bound(proj_gd, loss),
        "grafting": bound(grafting, loss),
    }


def distance_to_truth(problem: Problem, found: Weights) -> list[float]:
    """Recall, and the distance of the weights relative to their size."""
    w = np.zeros(len(problem.w))
    w[list(found[0])] = list(found[0].values())
    return [recall(problem, found), float(np.linalg.norm(w - problem.w) / np.linalg.norm(problem.w))]


def test_error(problem: Problem, found: Weights) -> list[float]:
    """Recall, and the share of test rows that are wrong."""
    return [recall(problem, found), float(np.mean(wrong(problem, found)))]


def balanced_error(problem: Problem, found: Weights) -> list[float]:
    """The mean over the classes of the share that is wrong."""
    misses = wrong(problem, found)
    return [float(np.mean([misses[problem.y_test == label].mean() for label in (-1, 1)]))]


def recall(problem: Problem, found: Weights) -> float:
    return len(problem.support & found[0].keys()) / len(problem.support)


def wrong(problem: Problem, found: Weights) -> np.ndarray:
    assert problem.X_test is not None
    weights, intercept = found
    score = problem.X_test[:, list(weights)] @ np.array(list(weights.values())) + intercept
    return np.sign(score) != problem.y_test


def regression_table(
    title: str, methods: Methods, p: int, seed: int, correlation: float = 0.0, against: str = ""
) -> Table:
    make = partial(numbered, p=p, seed=seed, correlation=correlation)
    return Table(title, ["recall", "error"], methods, make, distance_to_truth, against)


def classes_table(title: str, methods: Methods, p: int, seed: int, against: str = "") -> Table:
    make = partial(numbered, p=p, seed=seed, classes=True)
    return Table(title, ["recall", "test error"], methods, make, test_error, against)


def numbered(repetition: int, p: int, seed: int, correlation: float = 0.0, classes: bool = False) -> Problem:
    return planted(p, seed + repetition, correlation, classes)


def regression(given: argparse.Namespace, log: Log) -> None:
    """Figure 1, left."""
    for p in given.sizes or (2000, 4000, 6000):
        methods = {**ours("squared"), "lasso path": bound(l1, "squared"), "abess": bound(abess, "squared")}
        run(regression_table(f"Regression, p = {p}", methods, p, 5000, against=OS), given.repetitions, log)


def quick(given: argparse.Namespace, log: Log) -> None:
    """Only the default rule: recall after two scans."""
    for p in given.sizes or (2000, 4000, 6000):
        methods = {OS: bound(pool, "squared")}
        run(regression_table(f"Regression, p = {p}", methods, p, 5000), given.repetitions, log)


def correlated(given: argparse.Namespace, log: Log) -> None:
    """AR(1) columns, 0.8."""
    methods = {
        OS: bound(pool, "squared"),
        "os (pool), columns=2": bound(pool, "squared", columns=2),
        "os (pool), columns=4": bound(pool, "squared", columns=4),
        "os rule=paper, 2 scans": bound(rule("paper"), "squared"),
        "proj-gd": bound(proj_gd, "squared"),
        "abess": bound(abess, "squared"),
    }
    table = regression_table("AR(1) columns, 0.8, p = 2000", methods, 2000, 6000, 0.8, OS)
    run(table, given.repetitions, log)


def classification(given: argparse.Namespace, log: Log) -> None:
    """Figure 2, left."""
    for p in given.sizes or (1000, 3000, 5000):
        methods = {**ours(HINGE), "l1-LIBLINEAR": bound(liblinear, HINGE), "abess": bound(abess, HINGE)}
        run(classes_table(f"Classification, p = {p}", methods, p, 7000, OS), given.repetitions, log)


def scans(given: argparse.Namespace, log: Log) -> None:
    """Figures 1 and 2, middle."""
    for loss, p in (("squared", 2000), (HINGE, 1000)):
        ours, paper = ScanByScan("pool", loss), ScanByScan("paper", loss)
        methods: Methods = {f"os (pool), {n} scans": partial(ours.after, n) for n in range(1, 6)}
        methods |= {f"rule=paper, {n} scans": partial(paper.after, n) for n in range(1, 6)}
        title = f"Scans, {loss}, p = {p}"
        table = regression_table if loss == "squared" else classes_table
        run(table(title, methods, p, 8000), given.repetitions, log)


def workers(given: argparse.Namespace, log: Log) -> None:
    """Figures 1 and 2, right: simulated workers."""
    for loss, p in (("squared", 2000), (HINGE, 1000)):
        methods = {f"asy-os, {q} workers": bound(asy, loss, workers=q) for q in (1, 2, 4, 6, 8, 10)}
        title = f"Simulated workers, {loss}, p = {p}, two scans"
        table = regression_table if loss == "squared" else classes_table
        run(table(title, methods, p, 9000), given.repetitions, log)


def real(given: argparse.Namespace, log: Log) -> None:
    """Figure 4's kind: test error against s, scans and workers."""
    for name in given.sets:
        for s in given.sizes or (10, 20, 50):
            methods: Methods = {OS: bound(pool, HINGE, s=s)}
            methods |= {f"os (pool), {n} scans": bound(pool, HINGE, scans=n, s=s) for n in (1, 3, 5)}
            methods["os (pool), shrink=no"] = bound(pool, HINGE, s=s, shrink=False)
            methods |= {
                f"os rule=paper, {n} scans": bound(rule("paper"), HINGE, scans=n, s=s) for n in (2, 5)
            }
            methods |= {f"asy-os, {q} workers": bound(asy, HINGE, workers=q, s=s) for q in (1, 2, 4, 8)}
            methods |= {
                "proj-gd": bound(proj_gd, HINGE, s=s),
                "grafting": bound(grafting, HINGE, s=s),
                "l1-LIBLINEAR": bound(liblinear, HINGE, s=s, bias=1),
                "l1-LIBLINEAR, our ridge": bound(liblinear, HINGE, s=s, bias=1, shrink=True),
                "abess": bound(abess, HINGE, s=s),
            }
            make = partial(split, name, given.data)
            table = Table(f"{name}, s = {s}", ["balanced test error"], methods, make, balanced_error, OS)
            run(table, given.repetitions, log)
