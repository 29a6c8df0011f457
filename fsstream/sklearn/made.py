"""What selected features are made of columns: a column itself, the product of two, or a part of what an
additive kernel makes of one.

In: a model, then a matrix of the columns that its features need. Out: the features as columns: single
columns, then products, each by their columns, then by part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from fsstream.expansion import Expansion, part_name, split_part
from fsstream.pairs import pair_name, single_name, split_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsstream.model import Model

Feature = tuple[tuple[int, ...], int]  # the places of the columns it is made of, and which part of them it is


class Maker:
    """Makes features that are columns."""

    refusal: str | None = None  # why columns cannot be had back from features

    def split(self, name: bytes) -> tuple[tuple[bytes, ...], int]:
        """The columns of a feature, and the part."""
        return (name,), 0

    def join(self, names: Sequence[bytes], part: int) -> bytes:
        """The feature's name, of those of its columns."""
        return names[0]

    def make(self, columns: Any, names: Sequence[bytes], features: Sequence[Feature]) -> Any:
        """The features, `in_order`, of columns with these names."""
        return columns[:, [place for (place,), _ in features]]


class ProductMaker(Maker):
    """Products, and single columns before them."""

    refusal = "products of columns cannot be taken apart: there is no inverse_transform"

    def split(self, name: bytes) -> tuple[tuple[bytes, ...], int]:
        return split_pair(name), 0

    def join(self, names: Sequence[bytes], part: int) -> bytes:
        return pair_name(*names) if len(names) == 2 else single_name(*names)

    def make(self, columns: Any, names: Sequence[bytes], features: Sequence[Feature]) -> Any:
        singles = [factors[0] for factors, _ in features if len(factors) == 1]
        pairs = [factors for factors, _ in features if len(factors) == 2]
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        if not hasattr(columns, "tocsr"):
            return np.hstack([columns[:, singles], columns[:, left] * columns[:, right]])
        products = columns[:, left].multiply(columns[:, right])
        return hstack([columns[:, singles], products], format="csr", dtype=columns.dtype)


class PartMaker(Maker):
    """Parts of what an additive kernel makes of each column."""

    refusal = "what a kernel makes of columns cannot be undone: there is no inverse_transform"

    def __init__(self, expansion: Expansion) -> None:
        self._map = expansion.native_map()
        ranges = zip(expansion.names, expansion.lows.tolist(), expansion.highs.tolist(), strict=True)
        self._ranges = {name: (low, high) for name, low, high in ranges}

    def split(self, name: bytes) -> tuple[tuple[bytes, ...], int]:
        base, part = split_part(name)
        return (base,), part

    def join(self, names: Sequence[bytes], part: int) -> bytes:
        return part_name(names[0], part)

    def make(self, columns: Any, names: Sequence[bytes], features: Sequence[Feature]) -> Any:
        """Of floats what they were; numbers of other kinds become floats."""
        dtype = np.result_type(columns.dtype, np.float32)
        parts = [[part for (column,), part in features if column == place] for place in range(len(names))]
        if not hasattr(columns, "tocsc"):
            made = [self._parts(columns[:, place], names[place], parts[place]) for place in range(len(names))]
            return np.hstack(made).astype(dtype)
        by_column = columns.tocsc()
        blocks = []
        for place, name in enumerate(names):
            entries = slice(by_column.indptr[place], by_column.indptr[place + 1])
            values = self._parts(by_column.data[entries], name, parts[place])
            entry, part = values.nonzero()
            shape = (columns.shape[0], len(parts[place]))
            blocks.append(csr_matrix((values[entry, part], (by_column.indices[entries][entry], part)), shape))
        return hstack(blocks, format="csr", dtype=dtype)

    def _parts(self, values: Any, name: bytes, parts: Sequence[int]) -> NDArray[np.float32]:
        low, high = self._ranges[name]
        return self._map.expand(np.ascontiguousarray(values, np.float32), low, high)[:, parts]


def maker_of(model: Model) -> Maker:
    """What makes the features of a model of single columns, products or parts."""
    if isinstance(model.basis, Expansion):
        return PartMaker(model.basis)
    return ProductMaker() if model.has_products else Maker()


def in_order(features: Sequence[Feature]) -> list[Feature]:
    """The distinct ones: single columns first, then products, each by their columns, then by part."""
    return sorted(set(features), key=lambda feature: (len(feature[0]), feature))
