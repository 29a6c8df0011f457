"""The figures of the columns family as SVG, drawn from what a log holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from barda_plot import line_chart
from os_tables import standard_error
from os_threads import TASKS, WORKERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from os_tables import Log

PLOTS = Path(__file__).parent.parent / "docs" / "plots"
Curve = list[tuple[float, float]]  # mean and standard error


def plots(given: argparse.Namespace, log: Log) -> None:
    """docs/plots/os-*.svg of every figure that the log has all points of."""
    for name, title, xs, curves in figures(given.repetitions, log):
        whole = {label: points for label, points in curves.items() if len(points) == len(xs)}
        if whole:
            (PLOTS / f"os-{name}.svg").write_text(line_chart(title, list(xs), whole))
            print(f"docs/plots/os-{name}.svg: {', '.join(whole)}")


def course(loss: str, s: int, log: Log) -> tuple[list[int], dict[str, Curve]]:
    """The objective's share of its start by milliseconds, in the first repetition; as it ends it stays."""
    title = f"Threshold, {loss}, s = {s}"
    seconds = {q: log.rows.get((f"{title}, seconds", str(q), 0), []) for q in WORKERS}
    shares = {q: log.rows.get((f"{title}, share", str(q), 0), []) for q in WORKERS}
    if not all(seconds.values()):
        return [], {}
    steps = np.linspace(0, max(times[-1] for times in seconds.values()), 33)
    curves = {}
    for q in WORKERS:
        places = np.searchsorted(seconds[q], steps, side="right")
        curves[f"{q} workers"] = [(([1.0, *shares[q]])[place], 0.0) for place in places]
    return [round(1000 * step) for step in steps], curves


def figures(most: int, log: Log) -> list[tuple[str, str, Sequence[int], dict[str, Curve]]]:
    """Name, title, x values, and curves, of which some may be short."""

    def curve(places: list[tuple[str, str]]) -> Curve:
        measured = [log.measured(*place, most).values() for place in places]
        columns = [[row[0] for row in rows if np.isfinite(row[0])] for rows in measured]
        return [(float(np.mean(column)), standard_error(column)) for column in columns if column]

    def by_title(titles: list[str]) -> dict[str, Curve]:
        methods = dict.fromkeys(method for title, method, _ in log.rows if title in titles)
        return {method: curve([(title, method) for title in titles]) for method in methods}

    regression, classes, scans = (2000, 4000, 6000), (1000, 3000, 5000), range(1, 6)
    simulated = (1, 2, 4, 6, 8, 10)
    courses = [
        (f"course-{loss}", f"asy-os, {loss}: share of the first objective by ms", *course(loss, s, log))
        for loss, s, _ in TASKS
    ]
    losses = (("squared", 2000), ("squared-hinge", 1000))
    return [
        *courses,
        (
            "regression",
            "Regression: recall by number of features",
            regression,
            by_title([f"Regression, p = {p}" for p in regression]),
        ),
        (
            "classification",
            "Classification: recall by number of features",
            classes,
            by_title([f"Classification, p = {p}" for p in classes]),
        ),
        (
            "scans",
            "Recall by scans",
            scans,
            {
                f"{rule}, {loss}": curve([(f"Scans, {loss}, p = {p}", f"{rule}, {n} scans") for n in scans])
                for loss, p in losses
                for rule in ("os (pool)", "rule=paper")
            },
        ),
        (
            "workers",
            "asy-os: recall by simulated workers, two scans",
            simulated,
            {
                loss: curve(
                    [
                        (f"Simulated workers, {loss}, p = {p}, two scans", f"asy-os, {q} workers")
                        for q in simulated
                    ]
                )
                for loss, p in losses
            },
        ),
        (
            "threshold",
            "asy-os on threads: seconds to the threshold by workers",
            WORKERS,
            {
                f"{loss}, s = {s}": curve([(f"Threshold, {loss}, s = {s}", str(q)) for q in WORKERS])
                for loss, s, _ in TASKS
            },
        ),
    ]
