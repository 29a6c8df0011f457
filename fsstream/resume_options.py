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
    threads: int | None = option(None, "threads to use", kind="integer", low=1, high=1024, group=WITH)
    memory: int | None = option(
        None,
        "most memory to use: more, where the run ended for want of it",
        kind="size",
        high=2**62,
        group=WITH,
    )
    spool_dir: str | None = option(None, "folder for data that is read again", kind="path", group=WITH)
    output: str | None = option(None, "write the selection to a file", kind="path", group=OUT)
    model: str | None = option(None, "write a model for predict and --init", kind="path", group=OUT)
    summary: str | None = option(None, "write what happened as JSON", kind="path", group=OUT)
    checkpoint: str | None = option(None, "save to another file than CHECKPOINT", kind="path", group=OUT)
    checkpoint_every: float | None = option(
        None, "how often: 60s, or each 1GB of data", kind="interval", group=OUT
    )
    lock: str | None = option(None, "exit 75 at once when another run holds it", kind="path", group=OUT)
    progress: bool | None = option(None, "show progress (default: on a terminal)", kind="flag", group=OUT)
    quiet: bool = option(False, "only errors", kind="switch", group=OUT)
    verbose: bool = option(False, "say what was decided", kind="switch", group=OUT)

    def check(self) -> None:
        """Raise UsageError for what can be known to be wrong before any file is opened."""
        check_fields(self)

    @property
    def told_anew(self) -> dict[str, Any]:
        """What takes the place of the options of the run."""
        names = [field.name for field in dataclasses.fields(self) if field.metadata]
        return {name: value for name in names if (value := getattr(self, name)) not in (None, False)}
