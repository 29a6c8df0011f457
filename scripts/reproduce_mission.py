"""Tables and figures of "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches".

    python scripts/reproduce_mission.py attenuation [--trials 100] [--rules "mission;iht, full gradients"]
    python scripts/reproduce_mission.py accuracy DATA [--sets rcv1_small,20news_binary] [--k 100,1000]
    python scripts/reproduce_mission.py sketch DATA [--k 1000]
    python scripts/reproduce_mission.py splice DATA

DATA is the folder of data sets.

attenuation  Table 1: planted regression, p = 1000, the columns of the support divided by alpha; the
             share of trials that are right at alpha = 1 and the mean of the largest alpha up to 5
             that still is, over a grid of .25.
accuracy     Figure 4: test accuracy against k, one pass.
sketch       Figure 5: accuracy on dna15 against cells a row for each of the k features, with batch-iht.
splice       Table 5: average precision on acceptor sites as 6-mers and 12-mers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from planted_regression import Rule, planted

P = 1000
ALPHAS = np.arange(1, 5.01, 0.25)
# (n, k): MISSION and IHT of Table 1, (accuracy at alpha = 1, mean alpha).
PAPER = {
    (100, 2): ((100, 2.68), (100, 1.49)),
    (100, 3): ((100, 2.52), (92, 1.36)),
    (100, 4): ((100, 2.53), (72, 1.92)),
    (200, 5): ((100, 4.07), (99, 2.34)),
    (200, 6): ((100, 4.17), (97, 2.64)),
    (200, 7): ((100, 4.07), (83, 1.64)),
}

COUNT = {"sketch_width": 1 << 12, "step": "constant"}
FULL_RATES = (0.25, 0.5)
RULES = {
    "mission": Rule("mission", {"sketch_width": 1 << 14}, rates=(None,)),
    "mission, count-sketch, full gradients": Rule("mission", COUNT, passes=600, full=True, cooling=60),
    "mission, identity sketch, full gradients": Rule(
        "mission", {"sketch": "identity"}, passes=600, full=True, cooling=60
    ),
    "iht, full gradients": Rule("iht", {}, rates=FULL_RATES, passes=200, full=True),
}


def largest_alpha(rule: Rule, rate: float | None, n: int, k: int, seed: int) -> float:
    """0 when not even alpha = 1 is right; the grid's end when that is, else by halving the grid."""
    draw = planted(n, P, k, seed)
    if not rule.finds(draw, rate):
        return 0.0
    if rule.finds(draw.attenuated(float(ALPHAS[-1])), rate):
        return float(ALPHAS[-1])
    low, high = 0, len(ALPHAS) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if rule.finds(draw.attenuated(float(ALPHAS[middle])), rate):
            low = middle
        else:
            high = middle
    return float(ALPHAS[low])


def attenuation(options: argparse.Namespace) -> None:
    """Table 1."""
    print("| (n, k) | rule | accuracy | alpha | paper: accuracy | alpha |\n|---|---|---|---|---|---|")
    for (n, k), (ours, iht) in PAPER.items():
        for rule in options.rules:
            found = []
            for rate in RULES[rule].rates:
                reached = [largest_alpha(RULES[rule], rate, n, k, s) for s in range(options.trials)]
                right = [alpha for alpha in reached if alpha]
                found.append((len(right) / len(reached), float(np.mean(right)) if right else 0.0))
            accuracy, alpha = max(found)
            paper = iht if RULES[rule].name == "iht" else ours
            print(
                f"| ({n}, {k}) | {rule} | {accuracy:.0%} | {alpha:.2f} | {paper[0]} % | {paper[1]} |",
                flush=True,
            )


def measure(train: Path, test: Path, arguments: list[str]) -> dict[str, float]:
    """What `evaluate` says of a model of one pass, and how long `select` took."""
    with tempfile.TemporaryDirectory() as folder:
        model, summary = f"{folder}/model", f"{folder}/summary"
        select = ["select", *arguments, "--model", model, "--summary", summary, "-q", str(train)]
        command(*select, "--output", f"{folder}/selection")
        found: dict[str, float] = json.loads(command("evaluate", "-q", model, str(test)))
        seconds = json.loads(Path(summary).read_text())["seconds"]
    return {**found, "seconds": seconds}


def command(*arguments: str) -> bytes:
    """Standard output of an fsstream command."""
    done = subprocess.run([sys.executable, "-m", "fsstream", *arguments], capture_output=True, check=True)
    return done.stdout


SETS = {"rcv1_small": [], "20news_binary": [], "dna15": ["--format", "seq", "--kmer", "12", "--canonical"]}
RATE = ["--learning-rate", "0.5"]  # the paper's, for all of its methods
METHODS = {
    "mission": [],
    "mission, rule=paper": ["--set", "rule=paper", *RATE],
    "iht": ["--algo", "iht", *RATE],
    "batch-iht": ["--algo", "batch-iht", *RATE],
}


def files(folder: Path, name: str) -> tuple[Path, Path]:
    """The training and the test file of a set."""
    return next((folder / name).glob("train.*")), next((folder / name).glob("test.*"))


def accuracy(options: argparse.Namespace) -> None:
    """Figure 4."""
    print("| set | k | " + " | ".join(METHODS) + " |\n|" + "---|" * (len(METHODS) + 2))
    for name in options.sets:
        for k in options.k:
            shape = SETS[name] + (["--loss", "softmax"] if name == "dna15" else [])
            cells = [
                measure(*files(options.data, name), [*shape, "--k", str(k), *method])["accuracy"]
                for method in METHODS.values()
            ]
            print(f"| {name} | {k} | " + " | ".join(f"{cell:.4f}" for cell in cells) + " |", flush=True)


def sketch(options: argparse.Namespace) -> None:
    """Figure 5."""
    train, test = files(options.data, "dna15")
    shape = [*SETS["dna15"], "--loss", "softmax", "--memory", "3GB"]
    print(
        "| cells a row / k | mission | mission, rule=paper | batch-iht, as many entries |\n|---|---|---|---|"
    )
    for k in options.k:
        for ratio in (1, 4, 16, 64):
            width = 1 << (ratio * k - 1).bit_length()
            mission = [*shape, "--k", str(k), "--set", f"sketch_width={width}"]
            table = [*shape, "--k", str(k), *METHODS["batch-iht"], "--set", f"table={3 * width}"]
            cells = [
                measure(train, test, mission),
                measure(train, test, [*mission, *METHODS["mission, rule=paper"]]),
                measure(train, test, table),
            ]
            shown = " | ".join(f"{cell['accuracy']:.4f}" for cell in cells)
            print(f"| {width / k:.1f} (k = {k}) | {shown} |", flush=True)


def splice(options: argparse.Namespace) -> None:
    """Table 5."""
    folder = options.data / "splice_celegans"
    train, test = folder / "acc_100000.tsv.zst", folder / "acc_modsel.tsv.zst"
    print("| letters | method | average precision | seconds |\n|---|---|---|---|")
    for letters, k in (("6", "1000"), ("12", "16384")):
        shape = ["--format", "seq", "--kmer", letters, "--no-canonical", "--k", k]
        for name, method in METHODS.items():
            found = measure(train, test, [*shape, *method])
            shown = f"{found['average_precision']:.4f} | {found['seconds']:.1f}"
            print(f"| {letters} | {name} | {shown} |", flush=True)


EXPERIMENTS = {"attenuation": attenuation, "accuracy": accuracy, "sketch": sketch, "splice": splice}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("data", type=Path, nargs="?", default=Path())
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rules", type=lambda text: text.split(";"), default=list(RULES))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[100, 1000])
    options = parser.parse_args()
    EXPERIMENTS[options.experiment](options)


if __name__ == "__main__":
    main()
