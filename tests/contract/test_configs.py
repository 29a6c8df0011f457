"""Every file of configs/ runs."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path

import pytest

from fsstream.algorithms import BACKENDS
from fsstream.cli.options import read_config
from fsstream.config import SelectOptions
from tests.cli.command import ROOT, fsstream

CONFIGS = sorted((ROOT / "configs").glob("*.toml"))
TABLES = sorted((ROOT / "configs").glob("table-*.toml"))
RUNNABLE = [path for path in CONFIGS if "inputs" in tomllib.loads(path.read_text()) and path not in TABLES]


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


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_reproduced_table_is_found_again(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the planted data that the file's own comment makes."""
    monkeypatch.chdir(tmp_path)
    [made] = [line for line in path.read_text().splitlines() if line.startswith("# fsstream synth")]
    assert fsstream(*made.split()[2:]).returncode == 0
    done = fsstream("select", "--config", str(path), "--quiet")
    assert done.returncode == 0, done.stderr
    [truth] = tmp_path.glob("*.truth")
    planted, found = (
        {json.loads(line)["feature"] for line in text.splitlines()}
        for text in (truth.read_bytes(), done.stdout)
    )
    assert len(planted & found) >= 0.8 * len(planted)


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
