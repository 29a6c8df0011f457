"""The table of --groups. In: a file of lines `feature TAB group`. Out: the groups of each feature."""

from __future__ import annotations

from pathlib import Path

from fsstream.errors import DataError, UsageError
from fsstream.text import to_text


def read_groups(path: str) -> dict[bytes, tuple[str, ...]]:
    """A feature on several lines is in several groups, in the order of the lines."""
    found: dict[bytes, tuple[str, ...]] = {}
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
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
    return found
