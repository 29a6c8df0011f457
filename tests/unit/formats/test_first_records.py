"""What is decided from the first 10,000 records looks at records, not at lines or blocks."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fsstream.config import InputOptions
from fsstream.reading import Reading

if TYPE_CHECKING:
    from pathlib import Path

FASTQ = b"@r label=%d\nACGT\n+\nIIII\n"
FASTA = b">r label=%d\nACGT\nACGT\n"


def reading(path: Path, text: bytes, **options: object) -> Reading:
    path.write_bytes(text)
    return Reading(InputOptions(inputs=(str(path),), **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("record", [FASTQ, FASTA], ids=["fastq", "fasta"])
@pytest.mark.parametrize(("ones", "seen"), [(9_999, 2), (10_000, 1)])
def test_labels_of_10_000_records(tmp_path: Path, record: bytes, ones: int, seen: int) -> None:
    text = (record % 1) * ones + (record % 0) * 3
    with closing(reading(tmp_path / "reads", text, kmer=3, canonical=True)) as read:
        assert len(read.labels()) == seen


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(("numbers", "kind"), [(9_999, "categorical"), (10_000, "numeric")])
def test_kinds_of_columns_come_from_10_000_cells(
    tmp_path: Path, header: bool, numbers: int, kind: str
) -> None:
    text = b"y,x\n" * header + b'"1\n2",3\n' * numbers + b"1,word\n"
    with closing(reading(tmp_path / "table", text, format="csv", no_header=not header)) as read:
        assert [its_kind for _, its_kind in read.format_options.columns] == ["label", kind]
