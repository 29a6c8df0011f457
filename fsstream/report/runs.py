"""What the report shows of a run, from a summary, a model or a selection."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream.errors import DataError
from fsstream.output import selection_records
from fsstream.selection_reader import parse_selection, read_bytes

if TYPE_CHECKING:
    from fsstream.model import Model


@dataclass(frozen=True)
class Run:
    """One column of the page."""

    name: str
    features: list[dict[str, Any]]  # records of a selection, by rank
    complete: bool  # whether these are all
    summary: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def fact(self, *path: str) -> Any:
        """What the summary says there; None where it says nothing."""
        found: Any = self.summary
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def series(self, *path: str) -> list[dict[str, Any]]:
        """The points of a curve in the summary; none where there are none."""
        return [point for point in self.fact(*path) or [] if isinstance(point, dict)]

    def chosen(self) -> set[tuple[Any, str]]:
        """The features with their classes."""
        return {(record.get("class"), record["feature"]) for record in self.features}


def load_runs(paths: list[str]) -> list[Run]:
    """A run for each file; those of one name are told apart by their folders."""
    names = ["<stdin>" if path == "-" else Path(path).name for path in paths]
    return [
        _load(path, name if names.count(name) == 1 else path) for path, name in zip(paths, names, strict=True)
    ]


def _load(path: str, name: str) -> Run:
    data = read_bytes(path)
    summary = _summary(data)
    if summary is not None:
        return _of_summary(summary, path, name)
    selection, model = parse_selection(data, "<stdin>" if path == "-" else path)
    return Run(name, list(selection_records(selection.ranked())), True, options=_options(model))


def _summary(data: bytes) -> dict[str, Any] | None:
    """A summary is one object over the whole file; a selection has an object a line."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "feature" not in found else None


def _of_summary(summary: dict[str, Any], path: str, name: str) -> Run:
    features = summary.get("largest")
    if "fsstream" not in summary or not isinstance(features, list):
        raise DataError(
            "expected a summary, a model or a selection",
            path=path,
            hint="`fsstream select --summary FILE` writes summaries",
        )
    valid = [
        record
        for record in features
        if isinstance(record, dict)
        and isinstance(record.get("feature"), str)
        and isinstance(record.get("weight"), int | float)
    ]
    if len(valid) < len(features):
        raise DataError("the features of the summary are not what select writes", path=path)
    complete = len(valid) == summary.get("selected")
    return Run(name, valid, complete, summary, dict(summary.get("options") or {}))


def _options(model: Model | None) -> dict[str, Any]:
    if model is None:
        return {}
    return {"rows": model.rows, **model.options, **model.reading}
