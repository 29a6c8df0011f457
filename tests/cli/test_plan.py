"""`fsstream plan`: what it says is what the run then takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.mission import Mission
from fsstream.algorithms.mission_parameters import MissionParameters
from fsstream.config import SelectOptions
from fsstream.planning import beginning, estimate
from fsstream.planning.beginning import Beginning
from fsstream.planning.estimate import no_table, plan_run
from fsstream.planning.extrapolation import Measured, memory_at_end, time_at_end
from fsstream.planning.trial import run_in_own_process
from tests.cli.command import ROOT, fsstream

MUSHROOMS = str(ROOT / "data" / "mushrooms.libsvm.zst")


@pytest.mark.parametrize("algo", ["l1-arda", "os"])
def test_memory_and_passes_are_those_of_the_run(algo: str, tmp_path: Path) -> None:
    options = ("--algo", algo, "--k", "5", MUSHROOMS)
    planned = fsstream("plan", *options)
    assert (planned.returncode, planned.stderr) == (0, b"")
    plan = json.loads(planned.stdout)
    done = fsstream("select", *options, "--summary", str(tmp_path / "summary"))
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "summary").read_bytes())
    assert plan["memory"] == pytest.approx(summary["peak_memory"], rel=0.1)
    assert plan["passes"] == summary["passes"]
    assert plan["rows"] == summary["input"]["rows"]
    assert plan["entries"] == summary["input"]["entries"]
    assert plan["disk"] == 0


@pytest.mark.parametrize(
    ("algo", "block"), [("mission", 1 << 18), ("b-amd", 1 << 15), ("l1-arda", 1 << 15), ("fgm", 1 << 17)]
)
def test_what_was_not_seen_is_reckoned(
    algo: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the stream is looked at, and less tried first; new features come until the end."""
    monkeypatch.setattr(beginning, "LARGEST", 1 << 18)
    monkeypatch.setattr(estimate, "FIRST_TRIAL", 1 << 16)
    rng = np.random.default_rng(4)
    ids = np.sort(rng.integers(1, 10**9, (800, 100)), axis=1)
    ids[:, 0] = 1 + rng.integers(0, 2, 800)
    data = tmp_path / "rows"
    data.write_text("".join(f"{row[0]} {' '.join(f'{i}:1' for i in row)}\n" for row in ids.tolist()))
    options = SelectOptions(
        inputs=(str(data),), algo=algo, k=5, format="libsvm", quiet=True, block_size=block
    )
    plan = plan_run(options)
    assert 0.2 < plan["looked_at"] < 0.7
    summary = run_in_own_process(options, tmp_path / "summary")
    assert plan["memory"] == pytest.approx(summary["peak_memory"], rel=0.1)
    assert plan["passes"] == summary["passes"]


def test_a_learner_grows_like_the_entries_or_the_features_or_not() -> None:
    mb = 1 << 20
    pieces = [bytes(mb)] * 16
    features = [1000 * count for count in (10, 14, 17, 20, 22, 24, 26, 28, 30, 31, 33, 34, 36, 37, 38, 40)]
    head = Beginning(pieces, 0.25, 100, 100, features, 0, 0, {}, Task("logistic"))
    trials = [Measured(4 * mb, 0, 1.0, 1), Measured(16 * mb, 0, 4.0, 1)]
    assert memory_at_end([10 * mb, 40 * mb], trials, head, no_table) == pytest.approx(160 * mb)
    assert memory_at_end([10 * mb, 20 * mb], trials, head, no_table) == pytest.approx(40 * mb, rel=0.05)
    assert memory_at_end([10 * mb, 11 * mb], trials, head, no_table) == 11 * mb
    assert time_at_end(trials, head) == pytest.approx(16)


@pytest.mark.parametrize("k", [100, 10_000])
@pytest.mark.parametrize("settings", [{}, {"step": "constant"}, {"rule": "paper"}], ids=str)
def test_what_mission_says_it_will_allocate_is_what_it_holds(k: int, settings: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    common, task = Common(k=k, memory=10**9), Task("logistic")
    parameters = MissionParameters(**settings)
    learner = Mission(common, parameters, task)
    starts = np.arange(0, 500_001, 50, dtype=np.uint64)
    for _ in range(3):  # too many rows to be kept
        keys = np.sort(rng.integers(0, 1_000_000, (10_000, 50)), axis=1).astype(np.uint64)
        values = rng.normal(size=keys.size).astype(np.float32)
        targets = rng.choice(np.float32([-1, 1]), 10_000)
        learner.update(Batch.from_arrays(starts, keys.ravel(), values, targets))
    parts = Mission.plan(common, parameters, task).items()
    said = sum(size for what, size in parts if "at most" not in what)
    assert said == pytest.approx(learner.kernel.memory_used, rel=0.1)


def test_data_that_is_shuffled_goes_to_disk(tmp_path: Path) -> None:
    plan = json.loads(fsstream("plan", "--k", "5", "--shuffle", MUSHROOMS).stdout)
    assert 0.1 < plan["disk"] / plan["entries"] < 20


def test_what_would_be_refused_is_refused() -> None:
    options = ("--k", "100000000", "--memory", "10MB", MUSHROOMS)
    planned, done = (fsstream(command, *options) for command in ("plan", "select"))
    assert planned.returncode == done.returncode == 4
    assert planned.stderr == done.stderr


def test_without_a_file_the_options_say_what_they_can() -> None:
    planned = fsstream("plan", "--k", "1000", "-v", stdin=b"1 1:1\n")
    plan = json.loads(planned.stdout)
    assert plan["memory"] > sum(plan["learner"].values()) > 0
    assert plan["seconds"] is None
    assert b"standard input is not read" in planned.stderr


def test_each_class_costs(tmp_path: Path) -> None:
    wanted = {}
    for classes in (3, 40):
        path = tmp_path / f"rows{classes}"
        path.write_bytes(b"".join(b"c%d\tone two w%d\n" % (i % classes, i) for i in range(400)))
        done = fsstream("plan", "--k", "10", "--format", "tokens", str(path))
        assert done.returncode == 0, done.stderr
        wanted[classes] = json.loads(done.stdout)["learner"]
    assert wanted[40]["sketch"] > 5 * wanted[3]["sketch"]
    assert wanted[40]["active set"] > 10 * wanted[3]["active set"]


START = """
import sys
from pathlib import Path
from typing import Any
from fsstream.config import SelectOptions
from fsstream.planning.trial import _started
print(_started(SelectOptions(inputs=(sys.argv[1],), k=1), Path(sys.argv[2])).pid, flush=True)
sys.stdin.read()
"""


def test_a_trial_ends_with_a_plan_that_is_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")  # reading it waits for ever
    arguments = [str(tmp_path / "never"), str(tmp_path / "summary")]
    starter = subprocess.Popen(
        [sys.executable, "-c", START, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with starter:
        assert starter.stdout is not None
        trial = int(starter.stdout.readline())
        starter.kill()
    until = time.monotonic() + 60
    while works(trial) and time.monotonic() < until:
        time.sleep(0.05)
    assert not works(trial)


def works(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_what_a_class_costs(loss: str, tmp_path: Path) -> None:
    def plan(classes: int) -> dict[str, Any]:
        data = tmp_path / "rows"
        data.write_text("".join(f"{at % classes} {at}:1\n" for at in range(1, 200)))
        return plan_run(SelectOptions(inputs=(str(data),), k=5, format="libsvm", loss=loss, quiet=True))

    four, eight = plan(4), plan(8)
    total = sum(four["learner"].values())
    assert four["each_class"] == (
        total if loss == "logistic" else (sum(eight["learner"].values()) - total) / 4
    )
    assert plan(2)["each_class"] is None
