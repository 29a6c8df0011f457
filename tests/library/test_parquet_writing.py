"""A Parquet file reduced to a selection: the same rows, what was selected of the columns, as they came."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import fsstream
from fsstream import parquet_writing
from fsstream.apply_options import TransformOptions
from fsstream.errors import DataError, UsageError
from fsstream.option_fields import from_mapping
from fsstream.transform import Transform
from tests.cli.command import fsstream as command
from tests.library.test_parquet import COLUMNS, rows_of, written

if TYPE_CHECKING:
    from pathlib import Path


def selection_of(tmp_path: Path, names: list[str]) -> str:
    path = tmp_path / "selection.jsonl"
    path.write_text(
        "".join(json.dumps({"rank": i + 1, "feature": n, "weight": 1}) + "\n" for i, n in enumerate(names))
    )
    return str(path)


def reduced(tmp_path: Path, table: Any, kept: list[str], **options: Any) -> pa.Table:
    """What comes out for a table, or for the tables of several files."""
    paths = []
    for number, part in enumerate(table if isinstance(table, list) else [table]):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(written(part, row_group_size=2))
        paths.append(str(path))
    settings = {"inputs": tuple(paths), "model": selection_of(tmp_path, kept), "quiet": True, **options}
    data = b"".join(Transform(from_mapping(TransformOptions, settings)).texts())
    return parquet.read_table(io.BytesIO(data))


@pytest.mark.parametrize(("column", "expected"), [c[1:] for c in COLUMNS], ids=[c[0] for c in COLUMNS])
def test_every_type_of_column_keeps_what_was_selected(
    column: Any, expected: list[dict[str, float]], tmp_path: Path
) -> None:
    table = pa.table({"label": ["a"] * len(column), "z": range(len(column)), "x": column})
    met = sorted({name for entries in expected for name in entries})
    for kept in (met[:1], met[1:], met, []):
        kept = [name for name in kept if "\udcff" not in name]  # noqa: PLW2901 - JSON cannot say it
        out = reduced(tmp_path, table, [*kept, "z"])
        filtered = [{name: value for name, value in row.items() if name in kept} for row in expected]
        assert rows_of(written(out)) == [("a", {"z": at, **row}) for at, row in enumerate(filtered)]
        assert out.column_names == ["label", "z", "x"][: 3 if kept else 2]
        assert not kept or pa.types.is_struct(column.type) or out.schema.field("x").type == column.type


def test_columns_stay_in_order_with_their_types_and_the_label(tmp_path: Path) -> None:
    table = pa.table(
        {
            "n": pa.array([1.25, None, 3], pa.float64()),
            "w": pa.array(["r", "b", None]),
            "y": pa.array([1, 0, None], pa.int8()),
            "gone": [1, 2, 3],
            "i": pa.array([2**60 + 1, 5, 6], pa.int64()),
        }
    )
    out = reduced(tmp_path, table, ["i", "n", "w=b", "w=never"], label_column="y")
    assert out.equals(
        table.drop_columns("gone").set_column(1, "w", pa.array([None, "b", None]))
    )  # 2^60 + 1 is no float32: values are not read and written, they stay


def test_words_that_were_not_selected_are_in_no_dictionary(tmp_path: Path) -> None:
    table = pa.table({"label": [1, 2, 1], "w": pa.array(["keep", "secret", "keep"]).dictionary_encode()})
    out = reduced(tmp_path, table, ["w=keep"])
    assert out.column("w").combine_chunks().dictionary.to_pylist() == ["keep"]
    assert out.column("w").to_pylist() == ["keep", None, "keep"]


def test_a_label_within_a_struct_stays_there(tmp_path: Path) -> None:
    table = pa.table({"s": [{"a": 1, "y": "p", "b": 3}, None], "x": [1, 2]})
    out = reduced(tmp_path, table, ["s.b"], label_column="s.y")
    assert out.to_pylist() == [{"s": {"y": "p", "b": 3}}, {"s": None}]


def test_bad_rows_are_left_out(tmp_path: Path) -> None:
    table = pa.table({"label": [1, 2, 3], "x": [1.0, float("nan"), 3.0], "z": [4, 5, 6]})
    assert reduced(tmp_path, table, ["z"], on_bad_line="skip").to_pylist() == [
        {"label": 1, "z": 4},
        {"label": 3, "z": 6},
    ]
    with pytest.raises(DataError, match=r"0.parquet:2: expected a finite"):
        reduced(tmp_path, table, ["z"])


def test_later_files_get_the_columns_of_the_first(tmp_path: Path) -> None:
    first = pa.table({"label": [1], "x": pa.array([1], pa.int32()), "z": [2]})
    second = pa.table({"x": pa.array([7], pa.int64()), "label": [0]})
    assert reduced(tmp_path, [first, second], ["x", "z"]).to_pylist() == [
        {"label": 1, "x": 1, "z": 2},
        {"label": 0, "x": 7, "z": None},
    ]
    with pytest.raises(DataError, match=r"1.parquet: column 'x' is no int32"):
        reduced(tmp_path, [first, pa.table({"label": [0], "x": [2**40]})], ["x", "z"])


def test_keep_and_ignore_leave_columns_out(tmp_path: Path) -> None:
    table = pa.table({"label": [1], "x": [2], "z": [3], "w": ["a"]})
    out = reduced(tmp_path, table, ["x", "z", "w=a"], ignore=("z", "w*"))
    assert out.to_pylist() == [{"label": 1, "x": 2}]


@pytest.mark.parametrize("options", [{"names": "names"}, {"normalize": "l2"}])
def test_what_would_change_columns_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="stay as they are"):
        reduced(tmp_path, pa.table({"label": [1], "x": [2]}), ["x"], **options)


def test_row_groups_are_written_as_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but one row group is held: most of the file is out before the last rows are read."""
    monkeypatch.setattr(parquet_writing, "_GROUP_BYTES", 1 << 16)
    rows = 40_000
    table = pa.table({"label": np.arange(rows) % 2, "x": np.random.default_rng(1).random(rows)})
    path = tmp_path / "long.parquet"
    path.write_bytes(written(table, row_group_size=4096))
    settings = {"inputs": str(path), "model": selection_of(tmp_path, ["x"]), "quiet": True}
    pieces = list(Transform(from_mapping(TransformOptions, settings)).texts())
    data = b"".join(pieces)
    assert parquet.read_table(io.BytesIO(data)).equals(table)
    assert parquet.ParquetFile(io.BytesIO(data)).num_row_groups == 10
    assert max(map(len, pieces)) < len(data) / 5


def test_the_command_writes_files_and_pipes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 500))
    table = pa.table({"label": (x > 0).astype(int), "x": x, "z": z})
    path, model, out = tmp_path / "in.parquet", tmp_path / "m.fss", tmp_path / "out.parquet"
    path.write_bytes(written(table))
    assert command("select", "--k", "1", "--model", str(model), str(path)).returncode == 0
    done = command("transform", str(model), str(path), "-o", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    piped = command("transform", str(model), "-", stdin=path.read_bytes())
    assert piped.stdout == out.read_bytes()
    assert parquet.read_table(out).equals(table.select(["label", "x"]))
    predicted = command("predict", str(model), str(path)).stdout
    assert command("predict", str(model), str(out)).stdout == predicted
    assert fsstream.select(out, k=1).names == ["x"]


def test_an_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pa.table({"label": [1] * 50_000, "x": np.append(np.ones(49_999), np.nan)})
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    path.write_bytes(written(table))
    out.write_bytes(b"before")
    done = command("transform", selection_of(tmp_path, ["x"]), str(path), "-o", str(out))
    assert done.returncode == 3
    assert out.read_bytes() == b"before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.parquet", "out.parquet", "selection.jsonl"]
