"""The rows of a zstd-compressed libsvm file, as the parsers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import zstandard

from fsstream import _native

if TYPE_CHECKING:
    from pathlib import Path


def parsed(path: Path) -> tuple[_native.Batch, np.ndarray, np.ndarray]:
    """All rows, with their starts and keys as signed numbers."""
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    batch = _native.Batch()
    _native.LibsvmParser().parse(text, batch, False)
    return batch, batch.row_starts.astype(np.int64), batch.keys.astype(np.int64)
