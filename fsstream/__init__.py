"""Select features from streams too wide and too long for anything else.

>>> import fsstream
>>> fsstream.select("data/spam_sample.tsv.gz", algo="mission", k=3, format="tokens").names
['re', 'click', 'your']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsstream.api import Selector, read, select
    from fsstream.errors import FsstreamError
    from fsstream.model import Model
    from fsstream.model_file import load_model
    from fsstream.rows import Rows
    from fsstream.run import Outcome
    from fsstream.selection import Selection

__version__ = "0.1.0"

# Imported on first use: the command line must not pay for what it does not need.
_HOMES = {
    "FsstreamError": "fsstream.errors",
    "Model": "fsstream.model",
    "Outcome": "fsstream.run",
    "Rows": "fsstream.rows",
    "Selection": "fsstream.selection",
    "Selector": "fsstream.api",
    "load_model": "fsstream.model_file",
    "read": "fsstream.api",
    "select": "fsstream.api",
}
__all__ = [
    "FsstreamError",
    "Model",
    "Outcome",
    "Rows",
    "Selection",
    "Selector",
    "__version__",
    "load_model",
    "read",
    "select",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fsstream' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
