"""Fields of dataclasses that are flags, TOML keys and keywords at once.

In: names and plain values, as a TOML file or a Python caller gives them. Out: the dataclass, or UsageError.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
from functools import cache
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
    metavar: str | None = None,
) -> Any:
    """A field that is also a flag.

    Kinds: text, integer, number, size, interval, flag, switch, path, list; table: a path or mapping.
    `metavar` is what --help calls the value, where the kind alone would not tell what it is.
    """
    metadata = {"doc": doc, "kind": kind, "choices": tuple(choices or ()), "low": low, "high": high}
    metadata |= {"group": group, "metavar": metavar}
    return dataclasses.field(default=default, metadata=metadata)


def suggest(word: str, known: Iterable[str]) -> str:
    """The hint for a name that does not exist."""
    known = sorted(known)
    import difflib  # most runs have nothing to suggest

    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there is: {', '.join(known)}" if known else "there is none to set"


def from_mapping(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Options from names and plain values, as a TOML file or a Python caller gives them."""
    fields = _fields(kind)  # type: ignore[arg-type]  # a class is hashable
    converted = {}
    for name, value in values.items():
        key = name.replace("-", "_")
        if key not in fields:
            raise UsageError(f"there is no option {name!r}", hint=suggest(key, fields))
        if value is not None:  # None: not given
            converted[key] = _convert(fields[key], value)
    return kind(**converted)


def names_of_kind(options: type[Any], *kinds: str) -> list[str]:
    """The options of these kinds."""
    return [field.name for field in dataclasses.fields(options) if field.metadata.get("kind") in kinds]


@cache
def _fields(kind: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(kind)}


_PLAIN = {
    "text": str,
    "path": str,
    "integer": int,
    "size": int,
    "number": float,
    "flag": bool,
    "switch": bool,
}


def _convert(field: dataclasses.Field[Any], value: Any) -> Any:
    kind = field.metadata.get("kind")
    if type(value) is _PLAIN.get(str(kind)):
        return value
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
    if kind == "table" and not isinstance(value, str | os.PathLike):
        return _table(field.name, value)
    if kind == "list" or field.name == "inputs":
        if isinstance(value, str):
            return (value,)
        return tuple(value) if hasattr(value, "__iter__") else value  # what is no list is told by the check
    if kind == "number":
        return _number(value)
    if kind == "integer" and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)  # numpy's are no int
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _number(value: Any) -> Any:
    """What is none is told by the check."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return value


def _table(name: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A mapping, or pairs, as a checkpoint has them: a name, and one text or several."""
    found = []
    try:
        for key, texts in value.items() if hasattr(value, "items") else value:
            found.append((str(key), (texts,) if isinstance(texts, str) else tuple(map(str, texts))))
    except (TypeError, ValueError):
        raise UsageError(f"--{name}: expected a file or a table of names, got {value!r}") from None
    return tuple(found)


EMPTY_NAME_HINT = "is a variable of the script not set?"

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
_SAID = {  # of those, in messages
    "integer": "a whole number",
    "size": "a size like 256MB",
    "number": "a number",
    "flag": "true or false",
    "switch": "true or false",
    "interval": "a time like 60s or a size like 1GB",
    "text": "a text",
    "path": "the name of a file",
    "table": "the name of a file, or a table of names",
    "list": "a list of texts",
}


@dataclasses.dataclass(frozen=True)
class _Rule:
    """What a field may hold."""

    name: str
    kind: str
    expected: tuple[type, ...]
    choices: tuple[str, ...]
    low: float | None
    high: float | None

    def check(self, value: Any) -> None:
        if self.expected and (
            not isinstance(value, self.expected) or (isinstance(value, bool) and bool not in self.expected)
        ):
            raise UsageError(f"{self.flag}: expected {_SAID[self.kind]}, got {value!r}")
        if self.kind == "path" and not os.fspath(value):
            raise UsageError(f"{self.flag}: the name of the file is empty", hint=EMPTY_NAME_HINT)
        if self.kind in ("path", "table") and not isinstance(value, tuple):
            check_name(self.flag, value)
        if self.kind == "list" and not all(isinstance(item, str) for item in value):
            raise UsageError(f"{self.flag}: expected a list of texts, got {value!r}")
        if self.kind == "number" and math.isinf(value):
            raise UsageError(f"{self.flag}: expected a finite number, got {value!r}")
        if self.choices and value not in self.choices:
            raise UsageError(
                f"{self.flag}: expected one of {', '.join(self.choices)}, got {value!r}",
                hint=suggest(value, self.choices),
            )
        if self.low is not None and not value >= self.low:
            raise UsageError(f"{self.flag}: expected {self.low} or more, got {value!r}")
        if self.high is not None and not value <= self.high:
            raise UsageError(f"{self.flag}: expected at most {self.high}, got {value!r}")

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


def check_name(what: str, path: str | os.PathLike[str]) -> None:
    """UsageError for what is no name of a file on any system of files."""
    if "\0" in os.fspath(path):
        raise UsageError(f"{what}: the name of the file holds a NUL: {os.fspath(path)!r}")


@cache
def _rules(kind: type[Any]) -> tuple[_Rule, ...]:
    rules = []
    for field in dataclasses.fields(kind):
        choices, low, high, form = map(field.metadata.get, ("choices", "low", "high", "kind"))
        rules.append(_Rule(field.name, str(form), _EXPECTED.get(str(form), ()), choices or (), low, high))
    return tuple(rules)


def check_fields(options: Any) -> None:
    """UsageError for a value that is not of its field's kind, or not among its choices or in its range."""
    for rule in _rules(type(options)):  # type: ignore[arg-type]
        value = getattr(options, rule.name)
        if value is not None:
            rule.check(value)
