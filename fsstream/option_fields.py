"""Fields of dataclasses that are flags, TOML keys and keywords at once.

In: names and plain values, as a TOML file or a Python caller gives them. Out: the dataclass, or UsageError.
"""

from __future__ import annotations

import dataclasses
import difflib
import numbers
import os
from typing import TYPE_CHECKING, Any

from fsstream.errors import UsageError
from fsstream.units import parse_interval, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def option(
    default: Any,
    doc: str,
    *,
    kind: str = "text",
    choices: Iterable[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    group: str = "",
) -> Any:
    """A field that is also a flag.

    Kinds: text, integer, number, size, interval, flag, switch, path, list; table: a path or mapping.
    """
    metadata = {"doc": doc, "kind": kind, "choices": tuple(choices or ()), "low": low, "high": high}
    metadata["group"] = group
    return dataclasses.field(default=default, metadata=metadata)


def suggest(word: str, known: Iterable[str]) -> str:
    """The hint for a name that does not exist."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there is: {', '.join(known)}" if known else "there is none to set"


def from_mapping(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Options from names and plain values, as a TOML file or a Python caller gives them."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    converted = {}
    for name, value in values.items():
        key = name.replace("-", "_")
        if key not in fields:
            raise UsageError(f"there is no option {name!r}", hint=suggest(key, fields))
        converted[key] = _convert(fields[key], value)
    return kind(**converted)


def _convert(field: dataclasses.Field[Any], value: Any) -> Any:
    kind = field.metadata.get("kind")
    if value is None:
        return None
    try:
        if kind == "size" and isinstance(value, str):
            return parse_size(value)
        if kind == "interval":
            return parse_interval(value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(f"{field.name}: {error}") from None
    if field.name == "set" and hasattr(value, "items"):
        return tuple(f"{key}={setting}" for key, setting in value.items())
    if field.name == "class_weight" and hasattr(value, "items"):
        return tuple(f"{label}={weight}" for label, weight in value.items())
    if kind == "table" and hasattr(value, "items"):
        return tuple((str(name), _texts(groups)) for name, groups in value.items())
    if kind == "list" or field.name == "inputs":
        if isinstance(value, str):
            return (value,)
        return tuple(value) if hasattr(value, "__iter__") else value  # what is no list is told by the check
    if kind == "number":
        return float(value)
    if kind == "integer" and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)  # numpy's are no int
    return os.fspath(value) if kind == "path" or isinstance(value, os.PathLike) else value


def _texts(value: Any) -> tuple[str, ...]:
    """One text, or several."""
    return (value,) if isinstance(value, str) else tuple(map(str, value))


_EXPECTED: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "size": (int,),
    "number": (int, float),
    "flag": (bool,),
    "switch": (bool,),
    "interval": (int, float),
    "text": (str,),
    "path": (str, os.PathLike),
    "table": (str, tuple),
    "list": (tuple, list),
}


def check_fields(options: Any) -> None:
    """UsageError for a value that is not of its field's kind, or not among its choices or in its range."""
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        flag = "--" + field.name.replace("_", "-")
        choices, low, high, kind = map(field.metadata.get, ("choices", "low", "high", "kind"))
        if value is None:
            continue
        expected = _EXPECTED.get(str(kind))
        if expected and (
            not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected)
        ):
            raise UsageError(f"{flag}: expected {kind}, got {value!r}")
        if kind == "list" and not all(isinstance(item, str) for item in value):
            raise UsageError(f"{flag}: expected a list of texts, got {value!r}")
        if choices and value not in choices:
            raise UsageError(
                f"{flag}: expected one of {', '.join(choices)}, got {value!r}", hint=suggest(value, choices)
            )
        if low is not None and not value >= low:
            raise UsageError(f"{flag}: expected {low} or more, got {value!r}")
        if high is not None and not value <= high:
            raise UsageError(f"{flag}: expected at most {high}, got {value!r}")
