"""os, asy-os, proj-gd and grafting as a user runs them: features a line, targets in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fsstream as library
from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

FAMILY = ("os", "asy-os", "proj-gd", "grafting")


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Path, bytes]:
    """A targets file and a columns stream whose first, third and tenth features matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40)).round(3)
    names = [b"gene_%c" % (97 + j) for j in range(9)] + [b"42"] + [b"n%d" % j for j in range(30)]
    y = 2 * X[:, 0] - X[:, 2] + 1.5 * X[:, 9] + 5 + 0.1 * rng.standard_normal(60)
    targets = tmp_path / "targets"
    targets.write_text("".join(f"{value:.4f}\n" for value in y))
    lines = [
        name + b"".join(b" %d:%.3f" % (i + 1, X[i, j]) for i in range(60)) + b"\n"
        for j, name in enumerate(names)
    ]
    return targets, b"".join(lines)


def select(targets: Path, stream: bytes, *options: str) -> list[dict[str, object]]:
    done = fsstream("select", "--format", "columns", "--targets", str(targets), "-q", *options, stdin=stream)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("algo", FAMILY)
def test_the_planted_features_come_out_by_name_with_their_weights(
    planted: tuple[Path, bytes], algo: str
) -> None:
    targets, stream = planted
    path = targets.with_name("columns")
    path.write_bytes(stream)
    options = ["--algo", algo, "--k", "3", *(["--passes", "4"] if algo in ("os", "asy-os") else [])]
    done = fsstream("select", "--format", "columns", "--targets", str(targets), "-q", *options, str(path))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["feature"] for line in found] == ["gene_a", "42", "gene_c"]
    assert [line["weight"] for line in found] == pytest.approx([2, 1.5, -1], abs=0.05)


def test_grafting_gives_all_that_its_lambda_leaves_when_no_number_is_asked_for(
    planted: tuple[Path, bytes],
) -> None:
    targets, stream = planted
    path = targets.with_name("columns")
    path.write_bytes(stream)
    for l1 in ("0.2", "0.02"):
        most = select(targets, b"", "--algo", "grafting", "--l1", l1, "--k", "40", str(path))
        assert 3 <= len(most) < 40
        assert select(targets, b"", "--algo", "grafting", "--l1", l1, str(path)) == most


def test_every_rule_of_os_and_both_ways_to_refit(planted: tuple[Path, bytes]) -> None:
    targets, stream = planted
    seen = set()
    for rule in ("pool", "paper", "projection", "proximal"):
        for refit in ("yes", "no"):
            options = ("--algo", "os", "--k", "3", "--set", f"rule={rule}", "--set", f"refit={refit}")
            found = select(targets, stream, *options)
            assert len(found) == 3
            seen.add(tuple(str(line["weight"]) for line in found))
    assert len(seen) >= 4


def test_classes_get_a_ridge_of_k_over_the_samples(planted: tuple[Path, bytes]) -> None:
    """Numbers get none."""
    targets, stream = planted
    path = targets.with_name("columns")
    path.write_bytes(stream)

    def weights(l2: float, shrink: str) -> dict[str, float]:
        options = {"format": "columns", "targets": str(targets), "algo": "os", "k": 3, "l2": l2}
        return library.select(str(path), set=(f"shrink={shrink}",), **options).to_dict()

    assert weights(0, "yes") == weights(0, "no")
    numbers = np.loadtxt(targets)
    targets.write_text("".join(f"{int(number > np.median(numbers))}\n" for number in numbers))
    assert weights(0, "yes") == weights(3 / 60, "no")
    assert weights(0, "yes") != weights(0, "no")
    assert weights(0.5, "yes") == weights(0.5, "no")


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--set", "rule=pool", "--learning-rate", "0.1"], 2, b"no step"),
        (["--l1", "0.1"], 2, b"--l1"),
        (["--set", "rule=pool", "--set", "m=2"], 2, b"rule=paper only"),
        (["--learning-rate", "0.1", "--set", "columns=2"], 2, b"rule=pool only"),
        (["--set", "rule=paper", "--set", "shrink=no"], 2, b"rule=pool only"),
        (["--memory", "4KB"], 4, b"--memory"),
    ],
)
def test_what_cannot_be_is_said(
    planted: tuple[Path, bytes], options: list[str], status: int, message: bytes
) -> None:
    targets, stream = planted
    command = ["select", "--format", "columns", "--targets", str(targets), "--algo", "os", "--k", "3"]
    done = fsstream(*command, *options, stdin=stream)
    assert (done.returncode, done.stdout) == (status, b"")
    assert message in done.stderr


@pytest.mark.parametrize("given", [("--learning-rate", "0.1"), ("--set", "m=2"), ("--set", "descent=0.3")])
def test_an_option_of_the_papers_steps_asks_for_them(
    planted: tuple[Path, bytes], given: tuple[str, ...]
) -> None:
    """The table of options gives `os` a learning rate: with the default rule it was exit 2."""
    targets, stream = planted
    command = ["select", "--format", "columns", "--targets", str(targets), "--algo", "os", "--k", "3"]
    done = fsstream(*command, *given, stdin=stream)
    named = fsstream(*command, *given, "--set", "rule=paper", stdin=stream)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 3)
    assert done.stdout == named.stdout


@pytest.mark.parametrize("algo", FAMILY)
def test_a_stream_without_features_is_bad_data(planted: tuple[Path, bytes], algo: str) -> None:
    targets, _ = planted
    command = ["select", "--format", "columns", "--targets", str(targets), "--algo", algo, "--k", "3"]
    done = fsstream(*command, stdin=b"")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"there is no data" in done.stderr


def test_targets_without_a_line_are_named(tmp_path: Path) -> None:
    """It was told that there is no data, not which of the two files is empty."""
    targets = tmp_path / "targets"
    targets.write_bytes(b"")
    done = fsstream("select", "--algo", "os", "--k", "1", "--targets", str(targets), stdin=b"a 1:1\n")
    assert (done.returncode, done.stdout) == (3, b"")
    assert f"error: {targets}: there is no label: not one line".encode() in done.stderr


def test_whole_numbers_as_targets_are_asked_about(tmp_path: Path) -> None:
    targets = tmp_path / "targets"
    targets.write_text("1\n2\n3\n")
    command = ["select", "--format", "columns", "--targets", str(targets), "--algo", "os", "--k", "1"]
    done = fsstream(*command, stdin=b"a 1:1\n")
    assert done.returncode == 2
    assert b"say --loss squared-hinge (or another) for classes, --loss squared for quantities" in done.stderr


def test_a_name_twice_in_one_scan_is_bad_data(planted: tuple[Path, bytes]) -> None:
    targets, stream = planted
    first = stream.splitlines(keepends=True)[0]
    command = ["select", "--format", "columns", "--targets", str(targets), "--algo", "os", "--k", "3"]
    done = fsstream(*command, stdin=stream + first)
    assert done.returncode == 3
    place = b"<stdin>:%d:1" % (len(stream.splitlines()) + 1)
    assert place + b": expected a feature that comes once, got 'gene_a'\nhint: " in done.stderr


def test_a_name_twice_among_shuffled_lines_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "targets").write_text("1.5\n0.5\n2.5\n0.25\n")
    lines = [b"%d %d:1\n" % (n % 40, n % 4 + 1) for n in range(41)]
    done = fsstream(
        "select", "--format", "columns", "--targets", str(tmp_path / "targets"), "--algo", "os", "--k", "2",
        "--shuffle", stdin=b"".join(lines),
    )  # fmt: skip
    assert done.returncode == 3
    first = done.stderr.splitlines()[0]
    assert first in {
        b"fsstream: error: <stdin>:%d:1: expected a feature that comes once, got '0'" % line
        for line in (1, 41)
    }


def rows_of(targets: Path, stream: bytes) -> str:
    """The samples of a columns stream as lines of pairs."""
    labels = targets.read_text().split()
    rows = [f"{label}" for label in labels]
    for line in stream.decode().splitlines():
        name, *cells = line.split()
        for cell in cells:
            sample, value = cell.split(":")
            rows[int(sample) - 1] += f" {name}:{value}"
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("trained_on", ["columns", "pairs"])
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_scores_samples_be_they_rows_or_in_columns(
    trained_on: str, command: str, planted: tuple[Path, bytes], tmp_path: Path
) -> None:
    """A line of columns was scored as if it were a row: one prediction a feature."""
    targets, stream = planted
    columns, rows, model = (tmp_path / name for name in ("columns", "rows", "model"))
    columns.write_bytes(stream)
    rows.write_text(rows_of(targets, stream))
    given = ["--targets", str(targets), str(columns)]
    learned_from = given if trained_on == "columns" else [str(rows)]
    done = fsstream("select", "--algo", "os", "--k", "3", "-q", "--model", str(model), *learned_from)
    assert done.returncode == 0, done.stderr
    of_rows = fsstream(command, str(model), "-q", str(rows))
    assert of_rows.returncode == 0, of_rows.stderr
    of_columns = fsstream(command, str(model), *given)
    assert (of_columns.returncode, of_columns.stderr) == (0, b"")
    assert of_columns.stdout == of_rows.stdout
    if command == "predict":
        assert len(of_columns.stdout.splitlines()) == len(targets.read_text().split())
        unlabelled = fsstream(command, str(model), "--format", "columns", str(columns))
        assert unlabelled.stdout == of_rows.stdout
    else:
        assert json.loads(of_columns.stdout)["r2"] > 0.9
        unlabelled = fsstream(command, str(model), "--format", "columns", str(columns))
        assert (unlabelled.returncode, unlabelled.stdout) == (2, b"")


def test_samples_that_have_no_label_or_no_number(planted: tuple[Path, bytes], tmp_path: Path) -> None:
    targets, stream = planted
    model, short = tmp_path / "model", tmp_path / "short"
    select(targets, stream, "--algo", "os", "--k", "3", "--model", str(model))
    short.write_text("".join(targets.read_text().splitlines(keepends=True)[:5]))
    done = fsstream("predict", str(model), "--targets", str(short), stdin=stream)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"expected samples from 1 to 5" in done.stderr
    done = fsstream("predict", str(model), "--format", "columns", stdin=b"gene_a 18446744073709551615:1\n")
    assert (done.returncode, done.stdout) == (3, b"")


def test_validation_of_columns_is_on_rows(planted: tuple[Path, bytes], tmp_path: Path) -> None:
    targets, stream = planted
    rows, summary = tmp_path / "rows", tmp_path / "summary"
    rows.write_text(rows_of(targets, stream))
    select(targets, stream, "--algo", "os", "--k", "3", "--valid", str(rows), "--summary", str(summary))
    assert json.loads(summary.read_text())["validation"][-1]["r2"] > 0.9


def test_rows_give_what_their_columns_give(planted: tuple[Path, bytes], tmp_path: Path) -> None:
    targets, stream = planted
    path = tmp_path / "rows"
    path.write_text(rows_of(targets, stream))
    done = fsstream("select", "--format", "pairs", "--algo", "os", "--k", "3", "-q", str(path))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == select(targets, stream, "--algo", "os", "--k", "3")


@pytest.mark.parametrize("algo", FAMILY)
def test_later_scans_of_a_stream_that_cannot_be_read_again_come_from_a_spool(
    planted: tuple[Path, bytes], algo: str
) -> None:
    targets, stream = planted
    path = targets.with_name("columns")
    path.write_bytes(stream)
    options = ("--format", "columns", "--targets", str(targets), "-q", "--algo", algo, "--k", "5")
    from_file = fsstream("select", *options, str(path))
    assert from_file.returncode == 0, from_file.stderr
    piped = fsstream("select", *options, stdin=stream)
    assert (piped.returncode, piped.stdout) == (0, from_file.stdout)


def test_os_scans_twice_unless_told_otherwise(planted: tuple[Path, bytes], tmp_path: Path) -> None:
    targets, stream = planted
    for options, scans in (((), 2), (("--passes", "1"), 1), (("--passes", "3"), 3)):
        summary = tmp_path / "summary.json"
        select(targets, stream, "--algo", "os", "--k", "3", "--summary", str(summary), *options)
        assert json.loads(summary.read_text())["passes"] == scans
