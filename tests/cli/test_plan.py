"""`fsstream plan`: what it says is what the run then takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fsstream.planning import Measured, _extended
from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

MUSHROOMS = str(ROOT / "data" / "mushrooms.libsvm.zst")


@pytest.mark.parametrize("algo", ["mission", "l1-arda", "os"])
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


def test_a_part_of_the_input_is_extended_to_the_whole() -> None:
    trials = [Measured(100, 0, 0, 1), Measured(400, 0, 0, 1)]
    assert _extended([10.0, 40.0], trials, 5, 1, 1.2) == pytest.approx(200)
    assert _extended([10.0, 20.0], trials, 4, 1, 1.2) == pytest.approx(40)
    assert _extended([40.0, 40.5], trials, 5, 1, 1.2) == 40.5
    assert _extended([1.0, 1000.0], trials, 2, 1, 1.2) == pytest.approx(1000 * 2**1.2)


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
