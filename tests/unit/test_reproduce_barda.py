"""The commands of docs/results-barda.md on sets of a few rows: protocol, log, settings, absent data."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reproduce_barda.py"
FEATURES, ROWS = 60, 40


def lines(seed: int, rows: int) -> bytes:
    rng = np.random.default_rng(seed)
    x = (rng.random((rows, FEATURES)) < 0.3) * rng.integers(1, 4, (rows, FEATURES))
    x[:, -1] = 1  # the largest index is d
    y = np.where(x[:, 0] + x[:, 1] - x[:, 2] - x[:, 3] + 0.1 * rng.normal(size=rows) > 0, 1, -1)
    return b"".join(
        b"%d %s\n" % (label, b" ".join(b"%d:%d" % (i + 1, row[i]) for i in np.flatnonzero(row)))
        for row, label in zip(x, y, strict=True)
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for name in ("one", "two", "basehock", "dexter"):
        (folder / name).mkdir()
        (folder / name / "train.libsvm").write_bytes(lines(len(name), ROWS))
        (folder / name / "test.libsvm").write_bytes(lines(99, ROWS))
    (folder / "spam_katakis").mkdir()
    whole = zstandard.ZstdCompressor().compress(lines(7, 1200))
    (folder / "spam_katakis" / "all.libsvm.zst").write_bytes(whole)
    return folder


def run(*words: object) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(SCRIPT.parents[1]), "PATH": ""}
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )


def tables(text: str) -> list[list[list[str]]]:
    """Of each table its lines, of each line its cells."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return [[line.strip("|\n").split("|") for line in block.splitlines()] for block in blocks]


THINNED = ("--every", "7", "--max-passes", "3", "--orders", "2")


def test_figures_follow_the_protocol_and_a_log_is_gone_on_with(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    asked = ("figures", data, "--sets", "one", "--log", log, "--out", tmp_path / "plots", *THINNED)
    first = run(*asked)
    assert first.returncode == 0, first.stderr
    assert "40 rows, 3 passes, 2 orders." in first.stdout
    tuned, small, large, *versus = tables(first.stdout)
    assert [line[0].strip() for line in small[2:]] == ["b-arda", "b-amd", "ofs", "sofs"]
    assert [len(table[0]) for table in (small, large)] == [6, 4]
    assert len(tuned) == 2 + 2 * 4 + 2
    assert [table[3][0].strip() for table in versus] == ["b-arda", "b-amd"]
    assert len(list((tmp_path / "plots").glob("*.svg"))) == 4
    # Every run, and each of the runs that Figure 3 asks for has the budget that the l1 method left.
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    left = {(e["asked"]["order"], max(1, e["found"]["left"])) for e in entries if "l1" in e["asked"]}
    runs = {(e["asked"]["order"], e["asked"]["k"]) for e in entries if "k" in e["asked"]}
    assert left <= runs
    # The last run is taken from the log; then it is made again, and is what it was.
    again = run(*asked)
    assert again.stdout == first.stdout
    whole = log.read_text()
    log.write_text("".join(line + "\n" for line in whole.splitlines()[:-1]))
    assert run(*asked).stdout == first.stdout
    assert log.read_text() == whole


def test_settings_are_judged_on_training_rows(data: Path, tmp_path: Path) -> None:
    """Other test rows change no setting."""
    chosen = []
    for name in ("one", "other"):
        folder = tmp_path / name / "one"
        folder.mkdir(parents=True)
        (folder / "train.libsvm").write_bytes((data / "one" / "train.libsvm").read_bytes())
        (folder / "test.libsvm").write_bytes(lines(100 + len(name), ROWS))
        done = run(
            "figures",
            tmp_path / name,
            "--sets",
            "one",
            "--log",
            tmp_path / f"{name}.jsonl",
            *THINNED,
            "--without-l1",
        )
        chosen.append(tables(done.stdout)[:2])
    assert chosen[0][0] == chosen[1][0]
    assert chosen[0][1] != chosen[1][1]


def test_defaults_and_references(data: Path, tmp_path: Path) -> None:
    done = run("defaults", data, "--sets", "one,two", "--log", tmp_path / "runs", *THINNED)
    (table,) = tables(done.stdout)
    assert [(line[0].strip(), line[1].strip(), line[2].strip()) for line in table[2:]] == [
        (name, algorithm, way)
        for name in ("one", "two")
        for algorithm in ("b-arda", "b-amd")
        for way in ("budgeted", "untuned")
    ]
    assert "untuned minus grid, mean of 32 cells" in done.stdout
    (points,) = tables(run("references", data, "--log", tmp_path / "points", *THINNED).stdout)
    assert len(points) == 2 + 5


def test_settings_by_hand(data: Path) -> None:
    common = ("--sets", "one", "--orders", "2", "--max-passes", "3", "--after", "2")
    rows = tables(run("settings", data, *common, "--budget", "7", "--settings", "0.1:1e-4,untuned").stdout)[
        0
    ][2:]
    assert [(row[1].strip(), row[3].strip(), row[6].strip()) for row in rows] == [
        (algorithm, passes, "7.0")
        for algorithm in ("b-arda", "b-amd")
        for _ in range(2)
        for passes in ("2", "3")
    ]
    few, many = (
        tables(run("settings", data, *common, "--algorithms", "l1-arda", "--settings", text).stdout)[0][-1]
        for text in ("0.1:0.5", "0.1:0")
    )
    assert float(few[6]) < float(many[6])


def test_three_ways_to_choose_of_the_grid(data: Path) -> None:
    common = ("--sets", "one", "--orders", "2", "--max-passes", "3", "--after", "2", "--every", "7")
    rows = tables(run("criteria", data, *common, "--algorithms", "ofs,sofs", "--budget", "7").stdout)[0][2:]
    assert [row[2].strip() for row in rows] == ["accuracy", "mistakes", "loss"] * 2
    assert [row[4].strip().split()[-1] for row in rows] == ["9"] * 3 + ["3"] * 3
    assert all(row[3].strip().startswith("gamma") for row in rows[3:])


def test_ablation_sketch_and_drift(data: Path, tmp_path: Path) -> None:
    few = ("--sets", "one", "--orders", "2", "--max-passes", "2")
    assert len(tables(run("ablation", data, *few).stdout)[0]) == 2 + 4
    sketched = tables(run("sketch", data, *few).stdout)[0]
    assert sketched[2][3] == sketched[2][-1]  # 60 features in 65,536 cells
    drift = run("drift", data, "--out", tmp_path)
    assert [line[0].strip() for line in tables(drift.stdout)[0][2:]] == ["500", "1000", "1200"]
    assert (tmp_path / "barda-drift.svg").exists()


@pytest.mark.parametrize("command", ["figures", "drift", "speed", "stream"])
def test_absent_data_is_said(command: str, tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert done.returncode == 2
    assert f"there is no data at {tmp_path}" in done.stderr
    assert run(command).returncode == 2


PAGE = """
### small

9 rows, 4 passes, 5 orders.

| Figure 2 | B = 500 | B = 1,000 | B = 2,000 |
|---|---|---|---|
| b-arda | 90.0 ± 1.0 | 90.0 ± 1.0 | 88.0 ± 1.0 |
| b-amd | 91.0 ± 0.0 | 91.0 ± 0.0 | 91.0 ± 0.0 |
| ofs | 85.0 ± 1.0 | 89.0 ± 1.0 | 80.0 ± 1.0 |
| sofs | 80.0 ± 1.0 | 80.0 ± 1.0 | 91.0 ± 1.0 |
"""


def test_orderings_are_counted_from_the_tables(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    orderings = SCRIPT.with_name("barda_orderings.py")
    environment = {"PYTHONPATH": str(SCRIPT.parents[1]), "PATH": ""}

    def counted(path: Path) -> str:
        command = [sys.executable, orderings, path]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    rows = [[cell.strip() for cell in line] for line in tables(counted(page))[0]]
    assert rows[3] == ["Figure 2", "b-arda against the best of ofs, sofs", "1", "1", "1", "small 1"]
    assert rows[4] == ["Figure 2", "b-amd against ofs", "3", "0", "0", ""]
    real = SCRIPT.parents[1] / "docs" / "results-barda.md"
    assert counted(real).strip() in real.read_text()
