"""Tables and figures of "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches".

    python scripts/reproduce_mission.py attenuation [--trials 100] [--rules "mission;iht, full gradients"]
    python scripts/reproduce_mission.py accuracy DATA [--sets rcv1_small,20news_binary] [--k 100,1000]
    python scripts/reproduce_mission.py splice DATA
    python scripts/reproduce_mission.py classes DATA --trials 3 [--k 100,1000]

DATA is the folder of data sets.

attenuation  Table 1: planted regression, p = 1000, the columns of the support divided by alpha; the
             share of trials that are right at alpha = 1 and the mean of the largest alpha up to 5
             that still is, over a grid of .25.
accuracy     Figure 4: test accuracy against k, one pass; where no split is given, a third is the test.
splice       Table 5: average precision on acceptor sites as 6-mers and 12-mers.
classes      Test accuracy of one softmax learner and of one learner a class, the mean over --trials random
             orders of the training rows; where no test rows are given, a random fifth are.
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
from shuffled_data import unpacked

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
        command("select", *arguments, "--model", model, "--summary", summary, "-q", str(train))
        found: dict[str, float] = json.loads(command("evaluate", "-q", model, str(test)))
        seconds = json.loads(Path(summary).read_text())["seconds"]
    return {**found, "seconds": seconds}


def command(*arguments: str) -> bytes:
    """Standard output of an fsstream command."""
    done = subprocess.run([sys.executable, "-m", "fsstream", *arguments], capture_output=True, check=True)
    return done.stdout


SETS: dict[str, list[str]] = {
    "rcv1_small": [],
    "20news_binary": [],
    "spam_katakis": [],
    "dna15": ["--format", "seq", "--kmer", "12", "--canonical", "--loss", "softmax"],
}
RATE = ["--learning-rate", "0.5"]  # the paper's, for all of its methods
METHODS = {
    "mission": [],
    "mission, rule=paper": ["--set", "rule=paper", *RATE],
    "iht": ["--algo", "iht", *RATE],
    "batch-iht": ["--algo", "batch-iht", *RATE],
}
CEILING = ["--algo", "hashing", "--with-state", *RATE]


def files(folder: Path, name: str) -> tuple[Path, Path]:
    """The training and the test file of a set."""
    return next((folder / name).glob("train.*")), next((folder / name).glob("test.*"))


def split(folder: Path, name: str, into: str) -> tuple[Path, Path]:
    """The given files, or a random two thirds of the lines of the only one and the other third."""
    whole = next((folder / name).glob("all.*"), None)
    if whole is None:
        return files(folder, name)
    lines = unpacked(whole).splitlines(keepends=True)
    order = np.random.default_rng(0).permutation(len(lines)).tolist()
    train, test = Path(into) / f"{name}.train", Path(into) / f"{name}.test"
    cut = 2 * len(lines) // 3
    for path, part in ((train, order[:cut]), (test, order[cut:])):
        path.write_bytes(b"".join(lines[i] for i in part))
    return train, test


def accuracy(options: argparse.Namespace) -> None:
    """Figure 4; hashing keeps all features, whatever k is."""
    print("| set | k | " + " | ".join(METHODS) + " | hashing |\n|" + "---|" * (len(METHODS) + 3))
    with tempfile.TemporaryDirectory() as into:
        for name in options.sets or SETS:
            parts = split(options.data, name, into)
            ceiling = measure(*parts, [*SETS[name], *CEILING])["accuracy"]
            for k in options.k:
                found = [
                    measure(*parts, [*SETS[name], "--k", str(k), *method])["accuracy"]
                    for method in METHODS.values()
                ]
                shown = " | ".join(f"{cell:.4f}" for cell in [*found, ceiling])
                print(f"| {name} | {k} | {shown} |", flush=True)


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


ROOM = ["--memory", "3GB"]  # for a sketch of each of 105 classes
CLASSES = {
    "20newsgroups": ["--format", "tokens"],
    "news20_multiclass": [],
    "sector": [],
    "dna15": ["--format", "seq", "--kmer", "12", "--canonical"],
}


def shuffled(folder: Path, into: str, seed: int) -> tuple[Path, Path]:
    """Training rows in a random order, and test rows; the numbers of newsgroups' posts are no words."""
    parts = {path.name.split(".")[0]: unpacked(path).splitlines(keepends=True) for path in folder.iterdir()}
    if folder.name == "20newsgroups":
        for name, lines in parts.items():
            parts[name] = [b"\t".join(line.split(b"\t", 2)[::2]) for line in lines]
    order = np.random.default_rng(seed).permutation(len(parts["train"])).tolist()
    rows = [parts["train"][i] for i in order]
    fifth = len(rows) // 5
    learned, judged = (rows, parts["test"]) if "test" in parts else (rows[fifth:], rows[:fifth])
    train, test = Path(into) / "train", Path(into) / "test"
    train.write_bytes(b"".join(learned))
    test.write_bytes(b"".join(judged))
    return train, test


def classes(options: argparse.Namespace) -> None:
    """Several classes: the weights of all in one sketch, and a sketch for each."""
    losses = ("softmax", "logistic")
    print("| set | k | " + " | ".join(losses) + " |\n|---|---|---|---|")
    for name in options.sets or CLASSES:
        found: dict[tuple[int, str], list[float]] = {}
        for seed in range(options.trials):
            with tempfile.TemporaryDirectory() as into:
                parts = shuffled(options.data / name, into, seed)
                for k in options.k:
                    shape = [*CLASSES[name], *ROOM, "--k", str(k)]
                    for loss in losses:
                        right = measure(*parts, [*shape, "--loss", loss])["accuracy"]
                        found.setdefault((k, loss), []).append(right)
        for k in options.k:
            shown = " | ".join(f"{np.mean(found[k, loss]):.4f}" for loss in losses)
            print(f"| {name} | {k} | {shown} |", flush=True)


EXPERIMENTS = {"attenuation": attenuation, "accuracy": accuracy, "splice": splice, "classes": classes}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("data", type=Path, nargs="?", default=Path())
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--rules", type=lambda text: text.split(";"), default=list(RULES))
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[100, 1000])
    options = parser.parse_args()
    EXPERIMENTS[options.experiment](options)


if __name__ == "__main__":
    main()
