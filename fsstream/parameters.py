"""`--set KEY=VALUE`: what belongs to one backend, by the fields of its Parameters."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from fsstream.errors import UsageError
from fsstream.option_fields import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_INTEGER = 2**63 - 1  # that the core can be told


def parse_parameters(parameters: type, settings: Iterable[str], algo: str) -> Any:
    """The backend's Parameters from `--set` items; UsageError names what exists."""
    fields = {field.name: field for field in dataclasses.fields(parameters)}
    values: dict[str, Any] = {}
    for item in settings:
        key, equals, text = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise UsageError(f"--set: expected KEY=VALUE, got {item!r}")
        if key not in fields:
            raise UsageError(f"--set: {algo} has no parameter {key!r}", hint=suggest(key, fields))
        values[key] = _parse_parameter(fields[key], text.strip(), f"`fsstream algos {algo}` tells more")
    return parameters(**values)


def _parse_parameter(field: dataclasses.Field[Any], text: str, hint: str) -> Any:
    choices, low, high = (field.metadata.get(name) for name in ("choices", "low", "high"))
    if choices:
        if text not in choices:
            raise UsageError(
                f"--set {field.name}: expected {' or '.join(choices)}, got {text!r}",
                hint=suggest(text, choices),
            )
        return text
    integer = str(field.type).startswith("int")
    try:
        value = _integer(text) if integer else float(text)
    except ValueError:
        expected = "a whole number" if integer else "a number"
        raise UsageError(f"--set {field.name}: expected {expected}, got {text!r}", hint=hint) from None
    if integer and value > MOST_INTEGER:
        raise UsageError(f"--set {field.name}: expected a number below 2^63, got {text!r}", hint=hint)
    in_range = (low is None or value >= low) and (high is None or value <= high)
    if not in_range or not math.isfinite(value):
        bounds = f"from {low} on" if high is None else f"from {low} to {high}"
        kind = "number" if math.isfinite(value) else "finite number"
        raise UsageError(f"--set {field.name}: expected a {kind} {bounds}, got {text!r}", hint=hint)
    return value


def _integer(text: str) -> int:
    """Whole numbers, also as powers: `2^18`."""
    base, caret, exponent = text.partition("^")
    if not caret:
        return int(text)
    if not 0 <= int(exponent) <= 63:
        raise ValueError
    power: int = int(base) ** int(exponent)
    return power
