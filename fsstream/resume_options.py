"""What `resume` may be told."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from fsstream.config import OUT, WITH
from fsstream.option_fields import check_fields, option


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """What a run that goes on may be told anew; None: as it was told when it began."""

    checkpoint_file: str = ""
    inputs: tuple[str, ...] = ()
    threads: int | None = option(
        None,
        "threads to use; changes the speed, never the result",
        kind="integer",
        low=1,
        high=1024,
        group=WITH,
    )
    spool_dir: str | None = option(
        None, "where data that must be read again is kept", kind="path", group=WITH, metavar="FOLDER"
    )
    output: str | None = option(None, "write the selection to another file", kind="path", group=OUT)
    model: str | None = option(
        None, "write a model, also where the run was to write none", kind="path", group=OUT
    )
    summary: str | None = option(
        None, "write options, counts, losses and times as JSON", kind="path", group=OUT
    )
    checkpoint: str | None = option(None, "save to another file than CHECKPOINT", kind="path", group=OUT)
    checkpoint_every: float | None = option(
        None, "how often to save: 60s, or each 1GB of data", kind="interval", group=OUT
    )
    lock: str | None = option(
        None, "end at once with exit 75 when another run holds this file", kind="path", group=OUT
    )
    progress: bool | None = option(
        None, "show how far the run is (default: on a terminal)", kind="flag", group=OUT
    )
    quiet: bool = option(False, "print nothing but errors", kind="switch", group=OUT)
    verbose: bool = option(
        False, "also print what was read and decided, the time and the memory", kind="switch", group=OUT
    )

    def check(self) -> None:
        """Raise UsageError for what can be known to be wrong before any file is opened."""
        check_fields(self)

    @property
    def told_anew(self) -> dict[str, Any]:
        """What takes the place of the options of the run."""
        names = [field.name for field in dataclasses.fields(self) if field.metadata]
        return {name: value for name in names if (value := getattr(self, name)) not in (None, False)}
