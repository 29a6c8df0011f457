"""The file of --config: options in TOML."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

from fsstream.errors import UsageError
from fsstream.option_fields import check_fields, from_mapping
from fsstream.text import without_mark


def read_config(path: str, kind: type[Any]) -> dict[str, Any]:
    """The options of a TOML file by field name; an unknown key is an error with a suggestion."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"--config {path}: {error.strerror}") from None
    return config_of(data, path, kind, switches=("debug",))


def config_of(data: bytes, path: str, kind: type[Any], *, switches: tuple[str, ...] = ()) -> dict[str, Any]:
    """The options in the bytes of a TOML file; `path` is for messages, `switches` are no fields of `kind`."""
    try:
        table = tomllib.loads(without_mark(data).decode())
        switched = {name: table.pop(name) for name in switches if name in table}
        for name, value in switched.items():
            if not isinstance(value, bool):
                raise UsageError(f"--{name}: expected true or false, got {value!r}")
        options = from_mapping(kind, table)
        check_fields(options)  # before click makes 3 of 3.5
        options.check_inputs()
        for field in dataclasses.fields(options):
            if field.metadata.get("kind") == "table" and isinstance(getattr(options, field.name), tuple):
                raise UsageError(f"--{field.name}: expected the name of a file, got a table")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--config {path}: not valid TOML: {error}") from None
    except UsageError as error:
        raise UsageError(f"--config {path}: {error.message}", hint=error.hint) from None
    named = {name.replace("-", "_"): getattr(options, name.replace("-", "_")) for name in table}
    return named | switched
