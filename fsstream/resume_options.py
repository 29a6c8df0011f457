"""What `resume` may be told."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from fsstream.config import SelectOptions
from fsstream.option_fields import check_fields, option


def _anew(name: str, doc: str = "") -> Any:
    """The option of `select` with this name; not given it is as it was, a switch is off."""
    [told] = [field.metadata for field in dataclasses.fields(SelectOptions) if field.name == name]
    default = False if told["kind"] == "switch" else None
    return option(default, **{**told, "doc": doc or told["doc"].partition(" (default")[0]})


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """What a run that goes on may be told anew; None: as it was told when it began."""

    checkpoint_file: str = ""
    inputs: tuple[str, ...] = ()
    threads: int | None = _anew("threads")
    memory: int | None = _anew("memory", "most memory to use: more, where the run ended for want of it")
    spool_dir: str | None = _anew("spool_dir")
    output: str | None = _anew("output", "write the selection to another file")
    model: str | None = _anew("model", "write a model, also where the run was to write none")
    summary: str | None = _anew("summary")
    checkpoint: str | None = _anew("checkpoint", "save to another file than CHECKPOINT")
    checkpoint_every: float | None = _anew("checkpoint_every")
    lock: str | None = _anew("lock")
    progress: bool | None = _anew("progress")
    quiet: bool = _anew("quiet")
    verbose: bool = _anew("verbose")

    def check(self) -> None:
        """Raise UsageError for what can be known to be wrong before any file is opened."""
        check_fields(self)

    @property
    def told_anew(self) -> dict[str, Any]:
        """What takes the place of the options of the run."""
        names = [field.name for field in dataclasses.fields(self) if field.metadata]
        return {name: value for name in names if (value := getattr(self, name)) not in (None, False)}
