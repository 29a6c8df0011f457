"""Changed files for every loader that is written in Python: refused with a message, or read.

    python -m scripts.fuzz_loaders --runs 2000                  # the same changes each time
    python -m scripts.fuzz_loaders --seconds 600 --count        # adds what ran to tests/fuzz/counts.json

In: a small model, checkpoint, selection and config, made here. Bytes of text are changed as they are; an
archive is changed inside, or in its bytes, and sealed with a digest that fits, or left with the one it had.
A finding is an exception that is none of ours, one with another exit status than the loader's, or a number
that is not finite: its traceback and the seed that makes it again are printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream import run
from fsstream.archive import unpack
from fsstream.checkpoint import checkpoint_of
from fsstream.cli.options import config_of
from fsstream.config import ResumeOptions, SelectOptions
from fsstream.errors import FsstreamError
from fsstream.merging import merge
from fsstream.model import model_of, parse_model
from fsstream.output import selection_lines
from fsstream.selection_reader import parse_selection
from scripts.fuzz import add

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fsstream.archive import Members

    # Takes what a generator draws; the exit statuses with which it may be refused.
    Target = tuple[Callable[["Draws"], object], set[int]]

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 17, i * i % 13, i % 2) for i in range(60))
CONFIG = b'k = 1\nformat = "libsvm"\nseed = 5\ninputs = ["a"]\nmemory = "1GB"\n[set]\nsketch_depth = 1\n'
LETTERS = b'\0\xff"=[]\n 1x.-{},:\\eE0e'
DIGEST = 64


class Draws:
    """What is drawn for one changed file: `random.Random` takes longer to start than a loader needs."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 0x9E3779B97F4A7C15 + 1

    def below(self, bound: int) -> int:
        """From 0 on: the high bits of a linear congruential generator."""
        self._state = state = (self._state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (state >> 33) * bound >> 31

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.below(1 << 30) < share * (1 << 30)

    def choice(self, items: Sequence[Any]) -> Any:
        """One of them."""
        return items[self.below(len(items))]


def changed(value: Any, rng: Draws) -> Any:
    """The same JSON value with one thing in it changed, left out or of another type."""
    odd = [None, -1, 0, 1.5, 2**70, "", "x", [], {}, [[]], True, "\udcff", float("nan"), 1e308]
    if isinstance(value, dict) and value and rng.chance(0.9):
        key = rng.choice(sorted(value))
        rest = {name: inside for name, inside in value.items() if name != key}
        return rest if rng.chance(0.15) else {**rest, key: changed(value[key], rng)}
    if isinstance(value, list | tuple) and value and rng.chance(0.8):
        place = rng.below(len(value))
        return [*value[:place], changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(odd)


def changed_array(array: Any, rng: Draws) -> Any:
    """Another length, another type, or another bit."""
    way = rng.below(4)
    if way == 0:
        return array[: len(array) // 2] if array.ndim else array.reshape(1)
    if way == 1:
        return array.astype("f8" if array.dtype.kind != "f" else "u8")
    if way == 2 and array.dtype.kind == "f" and array.size:
        other = array.copy()
        other.reshape(-1)[rng.below(array.size)] = rng.choice([np.nan, np.inf, -0.0, 1e30, -1.0])
        return other
    raw = bytearray(array.tobytes() or b"\0")
    raw[rng.below(len(raw))] ^= 1 << rng.below(8)
    return np.frombuffer(bytes(raw), array.dtype).reshape(array.shape) if array.nbytes else array


def changed_parts(meta: dict[str, Any], members: Members, rng: Draws) -> tuple[dict[str, Any], Members]:
    """One thing in the description or in an array of an archive is another, or is left out."""
    if rng.chance(0.6):
        other = changed(meta, rng)
        return (other if isinstance(other, dict) else {}), members
    name = rng.choice(sorted(members))
    if rng.chance(0.25):
        return meta, {key: array for key, array in members.items() if key != name}
    with np.errstate(all="ignore"):
        return meta, {**members, name: changed_array(members[name], rng)}


def changed_bytes(data: bytes, rng: Draws) -> bytes:
    """Some bytes are others, left out, or there twice."""
    made = bytearray(data)
    for _ in range(1 + rng.below(4)):
        place = rng.below(len(made) + 1)
        way = rng.below(4)
        if way == 0:
            made[place:place] = bytes([rng.choice(LETTERS)])
        elif way == 1:
            del made[place : place + 1 + rng.below(8)]
        elif way == 2:
            made[place:place] = made[place : place + 1 + rng.below(30)]
        elif place < len(made):
            made[place] = rng.choice(LETTERS) if rng.chance(0.5) else rng.below(256)
    return bytes(made)


def sealed(data: bytes) -> bytes:
    """With the digest that an archive of these bytes has."""
    return data[:-DIGEST] + hashlib.sha256(data[:-DIGEST]).hexdigest().encode()


def targets(folder: Path) -> dict[str, Target]:
    """By name; what they need lies in the folder."""
    rows, saved = folder / "rows", folder / "saved"
    rows.write_bytes(ROWS)
    more: dict[str, Any] = {"k": 3, "format": "pairs", "quiet": True, "block_size": 500, "memory": 1 << 24}
    more["inputs"] = (str(rows),)
    tiny = ("sketch_width=64",)
    learned = run.select(SelectOptions(set=tiny, with_state=True, **more)).model
    saving = SelectOptions(set=tiny, checkpoint=str(saved), checkpoint_every=1, **more)
    plain = run.select(saving).model.to_bytes()
    model, stateful = unpack(plain, "model"), unpack(learned.to_bytes(), "model")
    checkpoint = unpack(saved.read_bytes(), "saved")
    lines = selection_lines(learned.selection)
    table = b"rank,feature,weight\n1,w1,0.5\n2,s1,-0.25\n"

    def unpack_unsealed(rng: Draws) -> None:
        other = changed_bytes(plain, rng)
        unpack(other, "model")
        if other != plain:
            raise ArithmeticError("read, with a digest that does not fit")

    def read_model(rng: Draws) -> None:
        found = model_of(*changed_parts(*model, rng), "model")
        found.predictor()
        selection_lines(found.selection)

    def go_on(rng: Draws) -> None:
        found = checkpoint_of(*changed_parts(*checkpoint, rng), str(saved))
        run.resume(found, found.resumed(ResumeOptions(checkpoint_file=str(saved))))

    def merged(rng: Draws) -> None:
        parts = [stateful if rng.chance(0.7) else model, stateful]
        models = [model_of(*changed_parts(*parts[0], rng), "one"), model_of(*parts[1], "two")]
        if rng.chance(0.5):
            models.reverse()
        found = merge(models, ["one", "two"])
        if not (np.isfinite(found.selection.weights).all() and np.isfinite(found.intercepts).all()):
            raise ArithmeticError("a weight is no finite number")

    def read_selection(rng: Draws) -> None:
        found, _ = parse_selection(changed_bytes(rng.choice([lines, table]), rng), "words")
        selection_lines(found)

    def read_config(rng: Draws) -> None:
        SelectOptions(**config_of(changed_bytes(CONFIG, rng), "c.toml", SelectOptions)).check()

    return {
        "archive": (lambda rng: unpack(sealed(changed_bytes(plain, rng)), "model"), {5}),
        "unsealed": (unpack_unsealed, {5}),
        "model": (read_model, {2, 5}),
        "model bytes": (lambda rng: parse_model(sealed(changed_bytes(plain, rng)), "model"), {5}),
        "checkpoint": (lambda rng: checkpoint_of(*changed_parts(*checkpoint, rng), "saved"), {5}),
        "resume": (go_on, {1, 2, 3, 4, 5}),
        "merge": (merged, {1, 2, 4, 5}),
        "selection": (read_selection, {3, 5}),
        "config": (read_config, {2}),
    }


def attempt(target: Target, seed: int) -> tuple[int, str]:
    """The exit status of one changed file, and what is wrong with it, if anything is."""
    take, allowed = target
    try:
        take(Draws(seed))
    except FsstreamError as error:
        wrong = "" if error.exit_code in allowed else f"exit {error.exit_code}: {error.message}"
        return error.exit_code, wrong
    except Exception:
        return -1, traceback.format_exc()
    return 0, ""


def tried(target: Target, seeds: Iterable[int], seconds: float) -> tuple[int, list[tuple[int, str]]]:
    """How many ran before the time was over, and the findings."""
    until = time.monotonic() + (seconds or float("inf"))
    findings: list[tuple[int, str]] = []
    runs = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning is a finding
        for seed in seeds:
            if time.monotonic() > until or len(findings) > 20:
                break
            wrong = attempt(target, seed)[1]
            runs += 1
            if wrong:
                findings.append((seed, wrong))
    return runs, findings


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=0, help="for each target; 0: no limit")
    parser.add_argument("--runs", type=int, default=0, help="for each target; 0: no limit")
    parser.add_argument("--seed", type=int, default=0, help="the first; each run has its own")
    parser.add_argument("--count", action="store_true", help="add to the counts file")
    parser.add_argument("target", nargs="*")
    given = parser.parse_args()
    if given.seconds <= 0 and given.runs <= 0:
        parser.error("say --seconds or --runs")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        known = targets(Path(folder))
        for name in given.target or known:
            seeds = range(given.seed, given.seed + given.runs) if given.runs else itertools.count(given.seed)
            runs, findings = tried(known[name], seeds, given.seconds)
            for seed, wrong in findings:
                print(f"{name}: --seed {seed} --runs 1: {wrong}", file=sys.stderr)
            failed = failed or bool(findings)
            in_all = add(f"{name}, loaded", runs, given.count and not findings)
            print(f"{name}: {runs:,} changed files, {len(findings)} findings, {in_all:,} in all", flush=True)
        os.chdir("/")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
