"""Kills runs, resumes them, and compares what comes out with a run that was never stopped.

    python scripts/kill_and_resume.py --kills 1000              # at random moments, for each backend family
    python scripts/kill_and_resume.py --kills 1000 --signals KILL TERM INT
    python scripts/kill_and_resume.py --steps 1 2 5             # at each named step of writing a checkpoint

Every line of output is a JSON object, for kills at random the sums of a family up to then. The exit status
is 1 when any output was not the same, byte for byte.
A run is a fork of this process, so that a kill costs milliseconds and not a start of Python.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fsstream import archive, checkpoint, leftovers, publish
from fsstream.cli.main import run

# One or more members of each family, with options that make it learn in many batches.
FAMILIES: dict[str, list[list[str]]] = {
    "mission": [
        ["--algo", "mission"],
        ["--algo", "hashing"],
        ["--algo", "mission", "--passes", "2", "--shuffle"],
    ],
    "b-arda": [["--algo", name] for name in ("b-arda", "b-amd", "ofs", "sofs", "l1-arda", "ada-fobos")],
    "os": [["--algo", name] for name in ("os", "asy-os", "proj-gd", "grafting")],
    "fgm": [["--algo", "fgm"]],
    "sparse-rf": [["--algo", name] for name in ("sparse-rf", "rf", "boosting")],
    "rows in memory": [
        ["--algo", "fgm", "--k", "30", "--set", "B=1"],
        ["--algo", "fgm", "--k", "30", "--set", "B=1", "--set", "gap=0.1"],
        ["--algo", "fgm", "--k", "10", "--set", "degree=2"],
        ["--algo", "sparse-rf", "--k", "30", "--set", "draw=60", "--set", "rounds=10"],
        ["--algo", "rf", "--k", "200"],
        ["--algo", "boosting", "--k", "10"],
    ],
}
# Their rows, the size of a block, and what lies between two checkpoints: where a row costs more there are
# fewer, for runs of a second.
SIZES = {
    "mission": (1000, 4096, "8192B"),
    "b-arda": (1000, 4096, "8192B"),
    "os": (250, 1024, "2048B"),
    "fgm": (150, 512, "1024B"),
    "sparse-rf": (100, 512, "1024B"),
    "rows in memory": (400, 65536, "0.001s"),
}
# What writing a checkpoint does, in this order; a run is killed before or after each.
STEPS: list[tuple[Any, str]] = [
    (checkpoint.CheckpointWriter, "write"),
    (leftovers, "_lock"),
    (archive, "_entry"),
    (archive._Sealed, "finish"),
    (os, "fchmod"),
    (os, "fsync"),
    (publish, "_sync_folder"),
    (Path, "replace"),
]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=0, help="for each family")
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument(
        "--steps", type=int, nargs="+", default=[], metavar="CALL", help="at which calls of each"
    )
    parser.add_argument("--signals", choices=("KILL", "TERM", "INT"), nargs="+", default=["KILL"])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if given.steps:
            failures += kill_at_steps(given.steps, random.Random(given.seed))
        for family in (given.family or list(FAMILIES)) if given.kills else []:
            signals = [signal.Signals[f"SIG{name}"] for name in given.signals]
            failures += kill_at_random(family, given.kills, signals, random.Random(given.seed))
        os.chdir("/")
    return 1 if failures else 0


def write_data(rows: int, rng: random.Random) -> None:
    with Path("rows").open("w") as file:
        for _ in range(rows):
            words = {rng.randrange(400): rng.randint(1, 3) for _ in range(12)}
            label = int(words.get(3, 0) + words.get(7, 0) - words.get(11, 0) + rng.gauss(0, 0.5) > 0)
            print(label, *(f"w{word}:{count}" for word, count in words.items()), file=file)


def commands(family: str, options: list[str]) -> tuple[list[str], list[str]]:
    """Without and with checkpoints."""
    _, size, every = SIZES[family]
    words = [
        "select",
        "--format",
        "pairs",
        "--block-size",
        f"{size}",
        "--threads",
        "1",
        "--quiet",
        *options,
    ]
    if "hashing" not in options and "--k" not in options:
        words += ["--k", "5"]
    saving = ["--checkpoint", "saved", "--checkpoint-every", every]
    return [*words, "--model", "model", "rows"], [*words, *saving, "--model", "model", "rows"]


def forked(arguments: list[str], die: Any = None) -> int:
    """Start the command in a child; its process id."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open("messages", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        status = 70
        try:
            if die is not None:
                die()
            status = run(arguments)
        finally:
            os._exit(status)  # nothing of this process is the child's to tidy up
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def finished(arguments: list[str]) -> tuple[bytes, float]:
    """Run to the end: the model, and the time it took."""
    Path("model").unlink(missing_ok=True)
    started = time.monotonic()
    status = ended(forked(arguments))
    if status != 0:
        raise SystemExit(f"{arguments}: exit {status}: {Path('messages').read_text()}")
    return Path("model").read_bytes(), time.monotonic() - started


def kill_at_random(family: str, kills: int, signals: list[signal.Signals], rng: random.Random) -> int:
    """Kill runs, and the runs that go on, again and again; now and then one is let go to its end."""
    done = wrong = compared = resumed = 0
    started = time.monotonic()
    write_data(SIZES[family][0], rng)
    while done < kills:
        plain, anew = commands(family, rng.choice(FAMILIES[family]))
        whole, _ = finished(plain)
        Path("saved").unlink(missing_ok=True)
        same, seconds = finished(anew)
        wrong += same != whole
        arguments = anew
        Path("saved").unlink(missing_ok=True)
        for _ in range(min(50, kills - done)):
            Path("model").unlink(missing_ok=True)
            child = forked(arguments)
            time.sleep(rng.uniform(0, 1.2 * seconds))
            number = rng.choice(signals)
            os.kill(child, number)
            status = ended(child)
            done += status in (-number, 128 + number)
            wrong += status not in (0, -number, 128 + number)
            if status == 0:  # it was faster
                wrong += Path("model").read_bytes() != whole
                arguments = anew
                compared += 1
            elif Path("saved").exists():
                resumed += 1
                arguments = ["resume", "saved"]
                if rng.random() < 0.3:
                    wrong += finished(arguments)[0] != whole
                    compared += 1
                    arguments = anew
        if Path("saved").exists():
            wrong += finished(["resume", "saved"])[0] != whole
            compared += 1
        left = [path.name for path in Path().iterdir() if path.name.endswith(".tmp")]
        so_far = {
            "family": family, "kills": done, "resumed": resumed, "compared": compared, "not_the_same": wrong,
            "seconds": round(time.monotonic() - started, 1), "left_over": len(left),
        }  # fmt: skip
        print(json.dumps(so_far), flush=True)
    return wrong


def kill_at_steps(calls: list[int], rng: random.Random) -> int:
    """Kill before and after each step, at its first, second ... call."""
    write_data(SIZES["mission"][0], rng)
    plain, arguments = commands("mission", FAMILIES["mission"][0])
    whole, _ = finished(plain)
    wrong = 0
    for place, name in STEPS:
        for when in ("before", "after"):
            for count in calls:
                Path("saved").unlink(missing_ok=True)
                status = ended(forked(arguments, functools.partial(arm, place, name, when, count)))
                again = ["resume", "saved"] if Path("saved").exists() else arguments
                same = status == -signal.SIGKILL and finished(again)[0] == whole
                stray = [path.name for path in Path().iterdir() if path.name.endswith(".tmp")]
                wrong += not same or bool(stray)
                step = f"{when} {getattr(place, '__name__', place)}.{name}, call {count}"
                result = {"killed": step, "resumed": again[0], "same": same, "stray": stray}
                print(json.dumps(result), flush=True)
    return wrong


def arm(place: Any, name: str, when: str, count: int) -> None:
    """In the child: die at the call of that number."""
    original = getattr(place, name)
    calls = 0

    def dying(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if when == "before" and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **named)
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(place, name, dying)


if __name__ == "__main__":
    sys.exit(main())
