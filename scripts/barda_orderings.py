"""Which of the paper's orderings hold, counted from the tables of docs/results-barda.md.

    python scripts/barda_orderings.py docs/results-barda.md

A cell is above (below) where the difference of two means is more than twice its standard error, else
level; the deviations of the tables are those of single orders.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from barda_runs import table

CLAIMS = (
    ("Figure 1", "b-arda", ("b-amd", "ofs", "sofs")),
    ("Figure 2", "b-arda", ("ofs", "sofs")),
    ("Figure 2", "b-amd", ("ofs",)),
    ("Figure 2", "b-amd", ("sofs",)),
    ("Figure 3", "b-arda", ("l1-arda",)),
    ("Figure 3", "b-amd", ("ada-fobos",)),
)


class Cell(NamedTuple):
    """Mean and deviation in percent."""

    mean: float
    deviation: float


class Figure(NamedTuple):
    """One table of one set."""

    data: str
    orders: int
    title: str
    cells: dict[str, list[Cell]]


def figures_of(page: str) -> list[Figure]:
    """The tables of Figures 1 to 3, set by set."""
    found = []
    for section in page.split("\n### ")[1:]:
        orders = re.search(r"passes, (\d+) orders", section)
        if orders is None or int(orders[1]) < 2:
            continue  # one order has no deviation
        for title, body in re.findall(r"\| (Figure \d)[^\n]*\n\|-[^\n]*\n((?:\|.*\n)+)", section):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
            cells = {name: [Cell(*map(float, c.split(" ± "))) for c in values] for name, *values in rows}
            found.append(Figure(section.split("\n")[0], int(orders[1]), title, cells))
    return found


def verdict(mine: Cell, theirs: Cell, orders: int) -> str:
    """Above, level or below."""
    error = math.hypot(mine.deviation, theirs.deviation) / math.sqrt(orders - 1)
    difference = mine.mean - theirs.mean
    return "level" if abs(difference) <= 2 * error else "above" if difference > 0 else "below"


def judged(figures: list[Figure], title: str, who: str, rivals: tuple[str, ...]) -> list[tuple[str, str]]:
    """The set and the verdict of every cell, against the best of the rivals there."""
    out = []
    for figure in figures:
        if figure.title == title and {who, *rivals} <= figure.cells.keys():
            for i, mine in enumerate(figure.cells[who]):
                best = max((figure.cells[rival][i] for rival in rivals), key=lambda cell: cell.mean)
                out.append((figure.data, verdict(mine, best, figure.orders)))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path)
    figures = figures_of(parser.parse_args().page.read_text())
    lines = []
    for title, who, rivals in CLAIMS:
        cells = judged(figures, title, who, rivals)
        counts = Counter(result for _, result in cells)
        below = Counter(data for data, result in cells if result == "below")
        where = ", ".join(f"{data} {count}" for data, count in below.items())
        best = "the best of " if len(rivals) > 1 else ""
        numbers = [str(counts[result]) for result in ("above", "level", "below")]
        lines.append([title, f"{who} against {best}{', '.join(rivals)}", *numbers, where])
    table(["", "", "above", "level", "below", "where below"], lines)


if __name__ == "__main__":
    main()
