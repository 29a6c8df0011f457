"""The experiments of the columns family: figures 1 to 4 of the paper, speed, memory.

    python scripts/reproduce_os.py SECTION... [--repetitions N] [--sizes P...] [--data DIR] [--log FILE]

Sections: regression, quick (the default rule only), correlated, classification, scans, workers,
real, threshold and threads (native threads), rejected and text (speed), memory,
plots (of what the log holds).
Each prints Markdown tables. With --log what was measured is kept and not measured
again; with --show too, nothing else is measured.
abess, scikit-learn and liblinear-official are peers where installed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from os_figures import classification, correlated, quick, real, regression, scans, workers
from os_memory import memory
from os_methods import load_peers
from os_plots import plots
from os_speed import rejected, text
from os_tables import Log
from os_threads import threads, threshold

SECTIONS = {
    f.__name__: f
    for f in (
        *(regression, quick, correlated, classification, scans, workers, real),
        *(threshold, threads, rejected, text, memory, plots),
    )
}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("sections", nargs="+", choices=SECTIONS)
    arguments.add_argument("--repetitions", type=int, default=30)
    arguments.add_argument("--sizes", type=int, nargs="*")
    arguments.add_argument(
        "--sets", nargs="*", default=["leukemia_golub", "colon_alon", "dorothea", "mnist38"]
    )
    arguments.add_argument("--data", type=Path, default=Path("data"))
    arguments.add_argument("--log", type=Path)
    arguments.add_argument("--show", action="store_true", help="tables of what the log holds, no more")
    given = arguments.parse_args()
    log = Log(given.log, complete=given.show)
    load_peers()
    for section in given.sections:
        SECTIONS[section](given, log)


if __name__ == "__main__":
    main()
