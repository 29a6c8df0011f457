"""The table of --groups. In: lines `feature TAB group`, or a table. Out: the groups of each key."""

from __future__ import annotations

from pathlib import Path

from fsstream._native import key_of_name
from fsstream.errors import DataError, UsageError, opening
from fsstream.kmers import first_stranger, kmer_key, shown_kmers
from fsstream.text import to_bytes, to_text, without_mark

GroupTable = str | tuple[tuple[str, tuple[str, ...]], ...]  # a file, or features with their groups


def groups_by_key(table: GroupTable, kmer: int | None, canonical: bool | None) -> dict[int, tuple[str, ...]]:
    """As a learner sees features, in a stream of such k-mers or of none."""
    found = read_groups(table)
    if kmer is None:
        return {key_of_name(name): groups for name, groups in found.items()}
    stranger = first_stranger(found, kmer, canonical)
    if stranger is not None:
        raise UsageError(
            f"--groups lists {to_text(stranger)!a}, and the stream holds {shown_kmers(kmer, canonical)}",
            hint="its features are named as `fsstream select` names them",
        )
    return {kmer_key(name): groups for name, groups in found.items()}


def read_groups(table: GroupTable) -> dict[bytes, tuple[str, ...]]:
    """The groups of each feature, from a file or as a Python caller gave them."""
    if isinstance(table, str):
        return _of_file(table)
    return {to_bytes(name): groups for name, groups in table}


def _of_file(path: str) -> dict[bytes, tuple[str, ...]]:
    """A feature on several lines is in several groups, in the order of the lines."""
    found: dict[bytes, tuple[str, ...]] = {}
    with opening(path):
        lines = without_mark(Path(path).read_bytes()).splitlines()
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        feature, tab, group = line.partition(b"\t")
        if not (feature and tab and group) or b"\t" in group:
            raise DataError(
                "expected feature, TAB, group",
                path=path,
                line=number,
                column=1,
                hint="a feature in several groups has a line for each of them",
            )
        found[feature] = (*found.get(feature, ()), to_text(group))
    if not found:
        raise DataError(
            "no feature has a group: there is nothing in it", path=path, hint="did what wrote it fail?"
        )
    return found
