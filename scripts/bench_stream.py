"""How fast and how good the main job is, beside Vowpal Wabbit, on the bench stream.

    python scripts/bench_stream.py [DIR] [--rows N] [--test-rows N] [--seed N] [--repeat N]

Makes the stream below DIR if it is not there (scripts/stream_data.py), runs every program
`--repeat` times, one after the other in turns, and prints a table: wall time as a ratio to
Vowpal Wabbit's on the same rows as text, CPU, peak memory, test AUC, the share of planted
features among the first 500 selected, and how many of the frequent planted ones were found.
Ratios of one run can be compared; seconds of another day or machine cannot.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from stream_data import FREQUENT, make

if TYPE_CHECKING:
    from collections.abc import Callable

K = 16_384
SKETCH = f"--set sketch_width={1 << 18} --set sketch_depth=3"
SELECT = f"-m fsstream select --algo mission --k {K} {SKETCH} --no-progress".split()
CONSTANT = "--learning-rate 0.5 --set step=constant"
WORKSPACE = "import sys; from vowpalwabbit import Workspace; Workspace(sys.argv[1]).finish()"


@dataclass(frozen=True)
class Cost:
    """What one run of a program took."""

    wall: float
    cpu: float
    memory: float  # peak, MB


@dataclass
class Entrant:
    """A program of the table: how it is run, and how its result is judged."""

    name: str
    command: list[str]
    judge: Callable[[], dict[str, float]]
    costs: list[Cost] = field(default_factory=list)

    @property
    def wall(self) -> float:
        return min(cost.wall for cost in self.costs)


def run(command: list[str]) -> Cost:
    """Wall and CPU seconds and peak memory of a command, its output thrown away."""
    started = time.perf_counter()
    pid = os.posix_spawnp(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    wall = time.perf_counter() - started
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def auc_of(scores: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve, ties counting half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    hits = int(positive.sum())
    return float((rank[positive].sum() - hits * (hits + 1) / 2) / (hits * (len(scores) - hits)))


def found(selection: Path, home: Path, names: str) -> dict[str, float]:
    """Precision of the first 500 and 1,000, and the frequent planted features among all selected."""
    truth = np.load(home / "truth.npz")
    planted = truth[names].astype(str)
    frequent = set(planted[truth["ranks"] < FREQUENT].tolist())
    chosen = [json.loads(line)["feature"] for line in selection.read_text().splitlines()]
    return {
        "precision": len(set(chosen[:500]) & set(planted.tolist())) / 500,
        "precision_1000": len(set(chosen[:1000]) & set(planted.tolist())) / 1000,
        "recovered": len(frequent & set(chosen)),
        "frequent": len(frequent),
    }


def ours(name: str, home: Path, work: Path, text: str, options: str) -> Entrant:
    """A run of `fsstream select`; the model is judged by `fsstream evaluate`."""
    stem = work / name.replace(" ", "-")
    selection, model = stem.with_suffix(".jsonl"), stem.with_suffix(".model")
    command = [sys.executable, *SELECT, *options.split(), "--output", str(selection), "--model", str(model)]

    def judge() -> dict[str, float]:
        report = stem.with_suffix(".json")
        evaluate = f"{sys.executable} -m fsstream evaluate {model} {home / f'test{text}'} > {report}"
        run(["sh", "-c", evaluate])
        names = "names" if "names" in text else "ids"
        return {"auc": json.loads(report.read_text())["auc"], **found(selection, home, names)}

    return Entrant(name, [*command, str(home / f"train{text}")], judge)


def wabbit(name: str, home: Path, work: Path, text: str, options: str) -> Entrant:
    """A run of Vowpal Wabbit through its C++ parser, one pass."""
    model, scores = work / f"{name}.vw", work / f"{name}.scores"
    learn = f"-d {home / f'train{text}'} --loss_function logistic -b 24 --quiet -f {model} {options}"

    def judge() -> dict[str, float]:
        apply = f"-d {home / f'test{text}'} -t -i {model} --quiet -p {scores}"
        run([sys.executable, "-c", WORKSPACE, apply])
        with (home / f"test{text}").open("rb") as lines:
            positive = np.array([not line.startswith(b"-") for line in lines])
        return {"auc": auc_of(np.loadtxt(scores, usecols=0), positive)}

    return Entrant(name, [sys.executable, "-c", WORKSPACE, learn], judge)


def entrants(home: Path, work: Path) -> list[Entrant]:
    """All that is installed; the first is what the ratios refer to."""
    svm, named = ".svm", "-names.vw"
    mission = [
        ours("estimated", home, work, svm, f"{CONSTANT} --set active=estimated --threads 2"),
        ours("exact", home, work, svm, f"{CONSTANT} --set active=exact --threads 2"),
        ours("estimated, 1 thread", home, work, svm, f"{CONSTANT} --set active=estimated --threads 1"),
        ours("exact, 1 thread", home, work, svm, f"{CONSTANT} --set active=exact --threads 1"),
        ours("default", home, work, svm, "--threads 2"),
        ours("estimated, names", home, work, named, f"{CONSTANT} --set active=estimated --threads 2"),
        ours("exact, names", home, work, named, f"{CONSTANT} --set active=exact --threads 2"),
    ]
    limits = [
        Entrant("cat", ["cat", str(home / "train.svm")], dict),
        Entrant("wc -l", ["wc", "-l", str(home / "train.svm")], dict),
    ]
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: no ratios", file=sys.stderr)
        return mission + limits
    return [
        wabbit("vw-sgd", home, work, ".vw", "--sgd -l 0.5"),
        wabbit("vw-default", home, work, ".vw", ""),
        wabbit("vw-sgd-names", home, work, named, "--sgd -l 0.5"),
        *mission,
        *limits,
    ]


def peer_of(name: str) -> str:
    """The run of Vowpal Wabbit that a program's wall time is compared with."""
    if "default" in name:
        return "vw-default"
    return "vw-sgd-names" if "names" in name else "vw-sgd"


def print_table(programs: list[Entrant]) -> None:
    """One line a program; ratios to Vowpal Wabbit with the same kind of steps and names."""
    reference = {entrant.name: entrant.wall for entrant in programs}
    print(
        f"{'program':22}{'wall s':>8}{'ratio':>7}{'CPU s':>8}{'MB':>6}{'AUC':>7}{'p@500':>7}"
        f"{'p@1000':>8}  planted found"
    )
    for entrant in programs:
        peer = reference.get(peer_of(entrant.name), entrant.wall)
        judged = entrant.judge()
        quality = f"{judged['auc']:7.4f}" if "auc" in judged else " " * 7
        if "precision" in judged:
            quality += f"{judged['precision']:7.3f}{judged['precision_1000']:8.3f}"
            quality += f"  {judged['recovered']:.0f} of {judged['frequent']:.0f}"
        cpu = min(cost.cpu for cost in entrant.costs)
        memory = max(cost.memory for cost in entrant.costs)
        print(
            f"{entrant.name:22}{entrant.wall:8.2f}{peer / entrant.wall:7.2f}{cpu:8.2f}{memory:6.0f}{quality}"
        )


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(tempfile.gettempdir()) / "fsstream-bench"
    )
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--test-rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    home = make(asked.directory, asked.rows, asked.test_rows, asked.seed)
    with tempfile.TemporaryDirectory() as work:
        programs = entrants(home, Path(work))
        for _ in range(asked.repeat):
            for entrant in programs:
                entrant.costs.append(run(entrant.command))
        print_table(programs)


if __name__ == "__main__":
    main()
