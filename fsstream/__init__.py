"""Select features from streams too wide and too long for anything else.

>>> import fsstream
>>> outcome = fsstream.select("train.svm", algo="mission", k=100)  # doctest: +SKIP
>>> outcome.model.selection.names[:3]  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsstream.api import select
    from fsstream.errors import FsstreamError
    from fsstream.model import Model, load_model
    from fsstream.selection import Selection

__version__ = "0.1.0"

# Imported on first use: the command line must not pay for what it does not need.
_HOMES = {
    "FsstreamError": "fsstream.errors",
    "Model": "fsstream.model",
    "Selection": "fsstream.selection",
    "load_model": "fsstream.model",
    "select": "fsstream.api",
}
__all__ = ["FsstreamError", "Model", "Selection", "__version__", "load_model", "select"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fsstream' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
