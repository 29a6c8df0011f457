"""A run that goes on from any of its checkpoints ends as if it had never been stopped."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from fsstream import run
from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.checkpoint import CheckpointWriter, load_checkpoint
from fsstream.config import SelectOptions
from fsstream.errors import DataError
from fsstream.resume_options import ResumeOptions
from tests.contract.samples import SAMPLES
from tests.contract.test_output import options_for

if TYPE_CHECKING:
    from collections.abc import Iterator


ROWS = SAMPLES["pairs"].text
SEVERAL_PASSES = [name for name in BACKENDS if "passes" in backend(name).uses]
SCANNING = [name for name in BACKENDS if not backend(name).resumes_within_a_pass]
COLUMNS = [name for name in BACKENDS if backend(name).access is Access.COLUMNS]


@contextmanager
def poured(path: Path, data: bytes | None) -> Iterator[None]:
    """The data through a named pipe at the path; nothing is done without data."""
    if data is None:
        yield
        return
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    def pour() -> None:
        try:
            with path.open("wb") as pipe:
                pipe.write(data)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=pour)
    writer.start()
    yield
    writer.join()


def learned(options: SelectOptions) -> tuple[bytes, Any]:
    """The model and what was measured while learning."""
    outcome = run.select(options)
    return outcome.model.to_bytes(), comparable(outcome.summary)


def comparable(summary: dict[str, Any]) -> dict[str, Any]:
    """What is in a summary and does not depend on time, nor on how often the stream was read."""
    parts = {name: summary[name] for name in ("task", "progressive_validation", "validation", "selected")}
    counted = {name: summary["input"][name] for name in ("rows", "entries", "bad_records", "skipped_windows")}
    return json.loads(json.dumps({**parts, **counted}))


def assert_same_end(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: bytes | None = None,
    every: float = 1,
    **given: Any,
) -> None:
    """Checkpoints of a run, and of a run that went on, lead to the same end."""
    options = SelectOptions(block_size=6000, **given)
    options.check()
    pipe = tmp_path / "pipe"
    with poured(pipe, stream):
        whole = learned(options)
    saved: list[bytes] = []
    write = CheckpointWriter.write

    def keep(self: CheckpointWriter, *snapshot: Any) -> None:
        write(self, *snapshot)
        saved.append(Path(self.path).read_bytes())

    file = tmp_path / "saved"
    monkeypatch.setattr(CheckpointWriter, "write", keep)
    saving = SelectOptions(block_size=6000, checkpoint=str(file), checkpoint_every=every, **given)
    with poured(pipe, stream):
        assert learned(saving) == whole, "saving changes nothing"
    taken = list(saved)
    assert len(taken) > 1

    def assert_goes_on(data: bytes, resumes: int) -> None:
        file.write_bytes(data)
        checkpoint = load_checkpoint(str(file))
        with poured(pipe, stream):
            resumed = checkpoint.resumed(ResumeOptions(checkpoint_file=str(file)))
            outcome = run.resume(checkpoint, resumed)
        assert outcome.model.to_bytes() == whole[0]
        assert comparable(outcome.summary) == whole[1]
        assert outcome.summary["resumes"] == resumes

    for data in [taken[1], taken[len(taken) // 2], taken[-1]]:
        assert_goes_on(data, 1)
    again = saved[len(taken) :]
    for data in again[len(again) // 2 :][:1]:
        assert_goes_on(data, 2)


def parquet_file(path: Path, rows: int, seed: int, **options: Any) -> str:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    columns = {f"x{i}": column for i, column in enumerate(x.T)} | {"word": rng.choice(["a", "b", "c"], rows)}
    pq.write_table(pa.table({"label": (x[:, 0] + x[:, 1] > 0).astype(int), **columns}), path, **options)
    return str(path)


@pytest.mark.parametrize(("algo", "passes"), [("mission", 1), ("b-arda", 3), ("fgm", 1), ("os", 1)])
def test_parquet(algo: str, passes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of many batches, of one, and a file of several."""
    monkeypatch.setattr("fsstream.arrow._ROWS", 64)
    one = parquet_file(tmp_path / "one.parquet", 300, 1, row_group_size=130)
    two = parquet_file(tmp_path / "two.parquet", 80, 2)
    more = {"passes": passes} if "passes" in backend(algo).uses else {}
    assert_same_end(tmp_path, monkeypatch, inputs=(one, two), algo=algo, k=2, **more)


def test_parquet_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsstream.arrow._ROWS", 64)
    data = Path(parquet_file(tmp_path / "one.parquet", 300, 1, row_group_size=130)).read_bytes()
    given = {"inputs": (str(tmp_path / "pipe"),), "algo": "mission", "k": 2, "passes": 2}
    assert_same_end(tmp_path, monkeypatch, stream=data, **given)


def test_another_parquet_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fsstream.arrow._ROWS", 64)
    path = tmp_path / "rows.parquet"
    parquet_file(path, 300, 1, row_group_size=130, compression="none")
    file = tmp_path / "saved"
    run.select(SelectOptions(inputs=(str(path),), k=2, checkpoint=str(file), checkpoint_every=1))
    other = tmp_path / "other.parquet"
    for change in ("values", "fewer"):
        parquet_file(other, 300 if change == "values" else 100, 3, row_group_size=130, compression="none")
        checkpoint = load_checkpoint(str(file))
        resumed = checkpoint.resumed(ResumeOptions(checkpoint_file=str(file), inputs=(str(other),)))
        with pytest.raises(DataError, match=r"other.parquet: this is not the input"):
            run.resume(checkpoint, resumed)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.write_bytes(ROWS)
    return path


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend(name: str, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_end(tmp_path, monkeypatch, inputs=(str(rows),), **options_for(name))


@pytest.mark.parametrize("name", SCANNING)
@pytest.mark.parametrize("classes", [2, 3])
def test_between_scans_of_rows_in_memory(
    name: str, classes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is time to save at each of them."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 6))
    labels = np.digitize(x[:, 0] * x[:, 1], np.linspace(-0.5, 0.5, classes - 1))
    path = tmp_path / "numbers"
    path.write_text(
        "".join(
            f"c{label} " + " ".join(f"w{j}:{value:.3f}" for j, value in enumerate(row)) + "\n"
            for label, row in zip(labels.tolist(), x.tolist(), strict=True)
        )
    )
    more = {"fgm": ("B=1",), "sparse-rf": ("draw=30", "rounds=5")}
    given = {"algo": name, "k": 4, "set": more.get(name, ()), "format": "pairs"}
    assert_same_end(tmp_path, monkeypatch, every=1e-9, inputs=(str(path),), **given)


@pytest.mark.parametrize("name", SEVERAL_PASSES)
def test_a_stream_in_several_passes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"passes": 3, "format": "pairs"}
    assert_same_end(
        tmp_path, monkeypatch, ROWS, inputs=(str(tmp_path / "pipe"),), **options_for(name, **more)
    )


def test_a_shuffled_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {"passes": 2, "shuffle": True}
    assert_same_end(
        tmp_path, monkeypatch, ROWS, inputs=(str(tmp_path / "pipe"),), **options_for("mission", **more)
    )


@pytest.mark.parametrize("name", ["mission", "b-amd", "l1-arda", "fgm"])
def test_classes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ROWS.splitlines(keepends=True)
    path = tmp_path / "classes"
    path.write_bytes(
        b"".join(b"c%d" % (min(i // 100, 3)) + line.lstrip(b"-1") for i, line in enumerate(lines))
    )
    more = {"loss": "squared-hinge", "memory": 1 << 28}
    assert_same_end(tmp_path, monkeypatch, inputs=(str(path),), **options_for(name, **more))


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: dict[bytes, list[bytes]] = {}
    targets = []
    for sample, line in enumerate(ROWS.splitlines(), 1):
        label, *entries = line.split()
        targets.append(label)
        for entry in entries:
            feature, _, value = entry.rpartition(b":")
            columns.setdefault(feature, []).append(b"%d:%s" % (sample, value))
    (tmp_path / "columns").write_bytes(
        b"".join(feature + b" " + b" ".join(entries) + b"\n" for feature, entries in columns.items())
    )
    (tmp_path / "targets").write_bytes(b"\n".join(targets) + b"\n")
    more = {"format": "columns", "targets": str(tmp_path / "targets"), "passes": 2}
    assert_same_end(tmp_path, monkeypatch, inputs=(str(tmp_path / "columns"),), **options_for(name, **more))


def test_several_files_bad_records_and_validation(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path / "second"
    second.write_bytes(ROWS[:3000].replace(b"w17:2", b"w17:x"))
    copies = tmp_path / "copies"
    assert_same_end(
        tmp_path,
        monkeypatch,
        inputs=(str(second), str(rows), str(second)),
        format="pairs",
        on_bad_line="skip",
        bad_lines=str(copies),
        valid=str(rows),
        patience=2,
        **options_for("mission", passes=4),
    )
    assert copies.read_bytes().count(b"w17:x") == 2 * ROWS[:3000].count(b"w17:2")
