"""How fast several classes are learned, beside Vowpal Wabbit's `--oaa`, on the same k-mers.

    python scripts/bench_classes.py DATA [--repeat N] [--bits 18,24]

DATA is the folder of data sets; the training reads of its dna15 are learned, 15 classes, 12-mers with
both strands as one, and its test reads judged. Vowpal Wabbit reads the k-mers as text with their counts,
`mission` the reads themselves, k = 1,000. Programs run in turns, and what they take for 200 reads is taken
off. Printed are nanoseconds a k-mer, their ratio to those of `mission`, and the share of test reads that
are told right.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench_stream import WORKSPACE, Cost, run

import fsstream

if TYPE_CHECKING:
    from typing import TextIO

SHAPE = ["--format", "seq", "--kmer", "12", "--canonical"]
FEW = 200


@dataclass
class Entrant:
    """A program: how it learns few reads and all of them, and how its model is judged."""

    name: str
    learn: dict[str, list[str]]  # by "few" and "all"
    judge: list[str]
    costs: dict[str, list[Cost]] = field(default_factory=lambda: {"few": [], "all": []})

    def net(self, what: str) -> float:
        """Seconds for all but the first few reads, the best of all runs."""
        whole, start = (min(getattr(cost, what) for cost in self.costs[part]) for part in ("all", "few"))
        return float(whole - start)


def write_reads(data: Path, home: Path) -> int:
    """Reads, and their k-mers in Vowpal Wabbit's format; returns how many k-mers are to be learned."""
    for part in ("train", "test"):
        lines = []
        for rows in fsstream.read([str(data / "dna15" / f"{part}.tsv.zst")], format="tokens"):
            lines += [f"{label}\t{dna}\n" for label, dna in zip(rows.labels, rows.names, strict=True)]
        (home / f"{part}.tsv").write_text("".join(lines))
        (home / f"{part}.few.tsv").write_text("".join(lines[:FEW]))
    for part in ("train", "train.few", "test"):
        with (home / f"{part}.vw").open("w") as out:
            entries = write_kmers(home / f"{part}.tsv", out)
        if part == "train":
            learned = entries
    return learned


def write_kmers(reads: Path, out: TextIO) -> int:
    """A line a read: its class, counted from 1, and its k-mers; returns how many there are."""
    entries = 0
    for rows in fsstream.read([str(reads)], format="seq", kmer=12, canonical=True):
        starts, names, values = rows.starts.astype(np.int64).tolist(), rows.names, rows.values.tolist()
        words = [f"{name}:{value:g}" for name, value in zip(names, values, strict=True)]
        for label, begin, end in zip(rows.labels, starts[:-1], starts[1:], strict=True):
            print(int(label) + 1, "|", *words[begin:end], file=out)
        entries += len(values)
    return entries


def mission(home: Path) -> Entrant:
    """Ours."""
    start = [sys.executable, "-m", "fsstream"]
    learn = [*start, "select", "--loss", "softmax", "--k", "1000", *SHAPE, "--no-progress"]
    files = {"few": home / "train.few.tsv", "all": home / "train.tsv"}
    return Entrant(
        "mission",
        {part: [*learn, "--model", f"{home}/{part}.model", str(file)] for part, file in files.items()},
        [*start, "evaluate", f"{home}/all.model", f"{home}/test.tsv"],
    )


def wabbit(home: Path, bits: int) -> Entrant:
    """Vowpal Wabbit as it comes, but for its number of weights."""
    start = [sys.executable, "-c", WORKSPACE]
    model = f"{home}/{bits}.vw.model"
    learn = f"--oaa 15 -b {bits} --quiet -f {model}"
    return Entrant(
        f"vw --oaa 15 -b {bits}",
        {
            part: [*start, f"-d {home}/{file} {learn}"]
            for part, file in (("few", "train.few.vw"), ("all", "train.vw"))
        },
        [*start, f"-d {home}/test.vw -t -i {model} --quiet -p {home}/{bits}.told"],
    )


def share_right(entrant: Entrant, home: Path) -> float:
    """Of the test reads."""
    done = subprocess.run(entrant.judge, check=True, capture_output=True, text=True)
    if entrant.name == "mission":
        return float(json.loads(done.stdout)["accuracy"])
    told = np.loadtxt(home / f"{entrant.name.split()[-1]}.told")
    truth = np.array([int(line.split()[0]) for line in (home / "test.vw").open()])
    return float(np.mean(told == truth))


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--bits", default="18,24")
    options = parser.parse_args()
    if not (options.data / "dna15").is_dir():
        raise SystemExit(f"{options.data} has no folder dna15: give the folder of data sets")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        entries = write_reads(options.data, home)
        entrants = [mission(home), *(wabbit(home, int(bits)) for bits in options.bits.split(","))]
        for _ in range(options.repeat):
            for entrant in entrants:
                for part, command in entrant.learn.items():
                    entrant.costs[part].append(run(command))
        print("program | ns a k-mer, wall | CPU | ratio, wall | CPU | right")
        for entrant in entrants:
            ratios = [entrant.net(what) / entrants[0].net(what) for what in ("wall", "cpu")]
            times = [f"{entrant.net(what) / entries * 1e9:.0f}" for what in ("wall", "cpu")]
            row = [
                entrant.name,
                *times,
                *(f"{ratio:.1f}" for ratio in ratios),
                f"{share_right(entrant, home):.3f}",
            ]
            print(*row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
