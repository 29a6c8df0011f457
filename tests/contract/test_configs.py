"""Every file of configs/ runs."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from fsstream.algorithms import BACKENDS
from fsstream.cli.config_file import read_config
from fsstream.config import SelectOptions
from tests.cli.command import ROOT, fsstream

CONFIGS = sorted((ROOT / "configs").glob("*.toml"))
TABLES = sorted((ROOT / "configs").glob("table-*.toml"))
RUNNABLE = [path for path in CONFIGS if "data/" in "".join(tomllib.loads(path.read_text()).get("inputs", []))]


def test_every_backend_has_a_config() -> None:
    named = {tomllib.loads(path.read_text())["algo"] for path in CONFIGS}
    assert named >= set(BACKENDS)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_makes_sense(path: Path) -> None:
    options = SelectOptions(**read_config(str(path), SelectOptions))
    options.check()
    assert options.algo in BACKENDS


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_a_config_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    inputs = tomllib.loads(path.read_text())["inputs"]
    if not all(Path(name).exists() for name in inputs):
        pytest.skip(f"{path.name} needs {inputs}, which is not here")
    done = fsstream("select", "--config", str(path), "--quiet")
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["weight"] for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", ["mission", "b-arda", "fgm"])
def test_a_rerun_gives_the_same_bytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    written = set()
    for run in ("first", "again"):
        files = [tmp_path / f"{run}-{what}" for what in ("selection", "model")]
        done = fsstream(
            "select", "--config", f"configs/{name}.toml", "-q", "-o", str(files[0]), "--model", str(files[1])
        )
        assert done.returncode == 0, done.stderr
        written.add(tuple(file.read_bytes() for file in files))
    [(selection, model)] = written
    assert selection
    assert model


def planting(path: Path) -> str | None:
    """The command in the file's own comment that makes its data."""
    found = [line for line in path.read_text().splitlines() if line.startswith("# fsstream synth")]
    return found[0].removeprefix("# fsstream ") if found else None


@pytest.mark.parametrize("path", [path for path in TABLES if planting(path)], ids=lambda path: path.stem)
def test_a_reproduced_table_is_found_again(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the planted data that the file's own comment makes."""
    monkeypatch.chdir(tmp_path)
    assert fsstream(*str(planting(path)).split()).returncode == 0
    done = fsstream("select", "--config", str(path), "--quiet", "--model", "model")
    assert done.returncode == 0, done.stderr
    [truth] = tmp_path.glob("*.truth")
    planted, found = (
        {record.get("group") or record["feature"] for record in map(json.loads, text.splitlines())}
        for text in (truth.read_bytes(), done.stdout)
    )
    if path.stem == "table-sparse-rf":  # features of a kernel: the model tells the inputs that matter
        inputs = json.loads(fsstream("inspect", "model").stdout)["inputs"]
        found = set(sorted(inputs, key=inputs.get, reverse=True)[: len(planted)])
    assert len(planted & found) >= 0.8 * len(planted)


def clicks(rng: np.random.Generator) -> dict[str, str]:
    """Column 20 tells of clicks, beside columns that do not."""
    rows = rng.integers(0, 9, (400, 39))
    labels = rows[:, 18] < 4
    lines = (
        "\t".join([str(int(y)), *(f"{v:08x}" for v in row)]) for y, row in zip(labels, rows, strict=True)
    )
    return {"train.tsv": "\n".join(lines) + "\n"}


def letters(rng: np.random.Generator, count: int, length: int) -> list[str]:
    return ["".join(row) for row in rng.choice(list("ACGT"), (count, length))]


def sites(rng: np.random.Generator) -> dict[str, str]:
    """A site has TTTCAG before its AG, the others do not."""
    rows = [(-1, text) for text in letters(rng, 600, 60)]
    rows += [(1, text[:30] + "TTTCAG" + text[36:]) for text in letters(rng, 200, 60)]
    return {"train.tsv": "".join(f"{rows[i][0]}\t{rows[i][1]}\n" for i in rng.permutation(len(rows)))}


def reads(rng: np.random.Generator) -> dict[str, str]:
    """Three genomes, reads from either strand."""
    genomes, turned = letters(rng, 3, 3000), str.maketrans("ACGT", "TGCA")
    records, table = [], []
    for number in range(300):
        whose, start = int(rng.integers(3)), int(rng.integers(2800))
        read = genomes[whose][start : start + 200]
        read = read.translate(turned)[::-1] if number % 2 else read
        records.append(f"@read{number}\n{read}\n+\n{'I' * len(read)}\n")
        table.append(f"read{number}\tgenome{whose}\n")
    return {"reads.fastq": "".join(records), "genomes.tsv": "".join(table)}


def circles(rng: np.random.Generator) -> dict[str, str]:
    """One class lies within the other: no line parts them, products and kernels do."""
    angle, noise = rng.uniform(0, 6.3, 600), rng.normal(scale=0.1, size=(600, 4))
    inner = rng.random(600) < 0.5
    far = np.where(inner, 1, 2)
    points = np.column_stack([far * np.cos(angle), far * np.sin(angle), np.ones(600), np.zeros(600)]) + noise
    lines = (
        f"{'in' if y else 'out'} " + " ".join(f"{j}:{v:.4f}" for j, v in enumerate(point, 1))
        for y, point in zip(inner, points, strict=True)
    )
    return {"train.svm": "\n".join(lines) + "\n"}


CUTS = {
    "table-mission-clicks": (clicks, 0.9),
    "table-mission-splice": (sites, 0.8),
    "table-mission-reads": (reads, 0.9),
    "table-sparse-rf-classes": (circles, 0.95),
    "table-fgm-degree2": (circles, 0.9),
}


def test_every_table_is_run_by_a_test() -> None:
    bundled = {path for path in TABLES if "data/" in path.read_text()}
    assert {path.stem for path in TABLES if not planting(path)} - {path.stem for path in bundled} == set(CUTS)


@pytest.mark.parametrize("name", CUTS)
def test_a_table_of_real_data_runs_on_a_small_cut_of_its_form(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made here, with something in it to be found: the accuracy on the rows says that it was."""
    monkeypatch.chdir(tmp_path)
    make, accuracy = CUTS[name]
    for file, text in make(np.random.default_rng(3)).items():
        Path(file).write_text(text)
    config = ROOT / "configs" / f"{name}.toml"
    done = fsstream("select", "--config", str(config), "--quiet", "--passes", "3", "--model", "model")
    if b"--passes has no use" in done.stderr:
        done = fsstream("select", "--config", str(config), "--quiet", "--model", "model")
    assert done.returncode == 0, done.stderr
    beside = ("--labels", "genomes.tsv") if Path("genomes.tsv").exists() else ()
    [data] = tomllib.loads(config.read_text())["inputs"]
    done = fsstream("evaluate", "model", *beside, data)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"] >= accuracy


def test_the_nightly_job_goes_on_from_yesterday(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = gzip.decompress((ROOT / "data" / "spam_sample.tsv.gz").read_bytes())
    monkeypatch.chdir(tmp_path)
    config = str(ROOT / "configs" / "cron.toml")
    first = fsstream(
        "select", "--format", "tokens", "--k", "1000", "--model", "model.fsstream", "-q", stdin=text
    )
    assert first.returncode == 0, first.stderr
    models = [Path("model.fsstream").read_bytes()]
    for _ in range(2):
        done = fsstream("select", "--config", config, stdin=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        models.append(Path("model.fsstream").read_bytes())
    assert len(set(models)) == 3
    kept = Path("selection.jsonl").read_bytes()
    assert len(kept.splitlines()) == 1000
    assert fsstream("select", "--config", config, stdin=text[:1000] + b"\0\n" * 200).returncode == 3
    assert Path("selection.jsonl").read_bytes() == kept
    assert Path("model.fsstream").read_bytes() == models[-1]
