"""Changed files for every loader that is written in Python: refused with a message, or read.

    python -m scripts.fuzz_loaders --runs 2000                  # the same changes each time
    python -m scripts.fuzz_loaders --seconds 600 --count        # adds what ran to tests/fuzz/counts.json

In: a small model, checkpoint, selection and config, made here. Bytes of text are changed as they are; an
archive is changed inside, or in its bytes, and sealed with a digest that fits, or left with the one it had;
of a checkpoint the description (checkpoint), the learner's arrays (state), or either, and the run goes on.
A finding is an exception that is none of ours, one with another exit status than the loader's, or a number
that is not finite: its traceback and the seed that makes it again are printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
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
from fsstream.algorithms.learner import Task
from fsstream.archive import pack, unpack
from fsstream.checkpoint import checkpoint_of
from fsstream.cli.config_file import config_of
from fsstream.config import SelectOptions
from fsstream.errors import FsstreamError, fitting
from fsstream.merging import merge
from fsstream.model_file import model_of, parse_model
from fsstream.output import selection_lines
from fsstream.parameters import parse_parameters
from fsstream.resume_options import ResumeOptions
from fsstream.selection_reader import parse_selection
from fsstream.training import common_options, find_backend, make_learner
from scripts.fuzz import add
from scripts.fuzz_changes import Draws, changed_bytes, changed_members, changed_meta, changed_parts, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fsstream.checkpoint import Checkpoint

    # Takes what a generator draws; the exit statuses with which it may be refused.
    Target = tuple[Callable[["Draws"], object], set[int]]

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 17, i * i % 13, i % 2) for i in range(60))
SAID = ("algo", "k", "memory", "inputs", "set")  # of the options: these, and some others
TABLES = [b"rank,feature,weight\n1,w1,0.5\n", b'feature,group,class\n"a,b",g,1\n', b"feature\n\xe9\n"]
SETTINGS = [
    b"k = 1\n", b'format = "libsvm"\n', b"seed = 5\n", b'inputs = ["a"]\n', b'memory = "1GB"\n',
    b"l1 = 0.5\n", b'checkpoint = "c"\ncheckpoint-every = "60s"\n', b"shuffle = true\n",
    b"[set]\nsketch_depth = 1\n", b'[class-weight]\nspam = 2\n', b'class_weight = ["a=2"]\n',
    b'[groups]\na = ["b"]\n', b'algo="rf"\n',
]  # fmt: skip


class Learners:
    """The arrays that a checkpoint's learner takes over."""

    def __init__(self, whole: Checkpoint) -> None:
        assert whole.snapshot is not None
        feed, options = whole.snapshot.feed, whole.origin.options
        chosen = find_backend(options.algo)
        task = Task(feed.loss, feed.labels[: whole.snapshot.first_labels], options.max_classes)
        parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
        common = common_options(options, chosen)
        self._make = lambda: make_learner(chosen, common, parameters, task, feed.kind)
        self._state = dict(whole.snapshot.part("learner"))

    def take_over(self, rng: Draws) -> None:
        """One to three of them changed."""
        learner = self._make()
        with fitting("the checkpoint"):
            state = self._state
            for _ in range(1 + rng.below(3)):
                state = changed_members(state, rng)
            learner.restore(state)
        learner.selection()
        learner.intercepts()


def targets(folder: Path) -> dict[str, Target]:
    """By name; what they need lies in the folder."""
    rows, saved = folder / "rows", folder / "saved"
    rows.write_bytes(ROWS)
    more: dict[str, Any] = {"k": 3, "format": "pairs", "quiet": True, "block_size": 500, "memory": 1 << 24}
    more |= {"inputs": (str(rows),), "threads": 1}
    tiny = ("sketch_width=64",)
    learned = run.select(SelectOptions(set=tiny, with_state=True, **more)).model
    saving = SelectOptions(set=tiny, checkpoint=str(saved), checkpoint_every=1, **more)
    plain = run.select(saving).model.to_bytes()
    model, stateful = unpack(plain, "model"), unpack(learned.to_bytes(), "model")
    described, members = unpack(saved.read_bytes(), "saved")
    described["options"]["checkpoint_every"] = None  # a run that goes on writes no file
    small = pack({"a": [1, "b"]}, {"c": np.arange(3.0), "d": np.zeros((1, 2), "u1")})
    lines = selection_lines(learned.selection).splitlines(keepends=True)
    learner = Learners(checkpoint_of(described, members, "saved"))

    def unpack_unsealed(rng: Draws) -> None:
        other = changed_bytes(small, rng)
        unpack(other, "model")
        if other != small:
            raise ArithmeticError("read, with a digest that does not fit")

    def read_model(rng: Draws) -> None:
        found = model_of(*changed_parts(*model, rng), "model")
        found.predictor()
        selection_lines(found.selection)

    def read_checkpoint(rng: Draws) -> None:
        options = described["options"]
        some = {name: options[name] for name in (*SAID, *(rng.choice(list(options)) for _ in range(4)))}
        meta = {**described, "options": some}
        for _ in range(1 + rng.below(3)):
            meta = changed_meta(meta, rng)
        checkpoint_of(meta, members, "saved")

    def go_on(rng: Draws) -> None:
        found = checkpoint_of(*changed_parts(described, members, rng), str(saved))
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
        text = b"".join(rng.choice(lines) for _ in range(1 + rng.below(2)))
        found, _ = parse_selection(changed_bytes(rng.choice([text, *TABLES]), rng), "words")
        selection_lines(found)

    def read_config(rng: Draws) -> None:
        text = b"".join(rng.choice(SETTINGS) for _ in range(1 + rng.below(3)))
        SelectOptions(**config_of(changed_bytes(text, rng), "c.toml", SelectOptions)).check()

    return {
        "archive": (lambda rng: unpack(sealed(changed_bytes(small, rng)), "model"), {5}),
        "unsealed": (unpack_unsealed, {5}),
        "model": (read_model, {2, 5}),
        "model bytes": (lambda rng: parse_model(sealed(changed_bytes(plain, rng)), "model"), {5}),
        "checkpoint": (read_checkpoint, {5}),
        "state": (learner.take_over, {1, 5}),
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
