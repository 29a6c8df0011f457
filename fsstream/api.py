"""The library's door to the main job."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fsstream import run
from fsstream.config import SelectOptions, from_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsstream.run import Outcome


def select(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], **options: Any) -> Outcome:
    """Select features from one or several files, with the options of `fsstream select` as keywords.

    Returns the model and the summary of the run; nothing is written.
    """
    paths = [source] if isinstance(source, str | os.PathLike) else list(source)
    resolved = from_mapping(
        SelectOptions, {"inputs": [os.fspath(path) for path in paths], "quiet": True, **options}
    )
    resolved.check()
    return run.select(resolved)
