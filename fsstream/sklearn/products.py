"""Columns made of selected ones: a column itself, or the product of two.

In: a matrix of the columns that are needed, and for each column of the outcome one or two places in it. Out:
the outcome, single columns first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import hstack

from fsstream.pairs import split_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.model import Model

Factors = tuple[int, ...]


def factors_of(model: Model) -> list[tuple[bytes, ...]]:
    """The names that each selected feature is made of: its own, or those of both factors."""
    names = model.selection.raw_names
    return [split_pair(name) for name in names] if model.has_products else [(name,) for name in names]


def in_order(features: Sequence[Factors]) -> list[Factors]:
    """The distinct ones: single columns first, then products, each by their columns."""
    return sorted(set(features), key=lambda factors: (len(factors), factors))


def multiplied(columns: Any, features: Sequence[Factors]) -> Any:
    """The features, `in_order`, as columns; their factors are places among the given ones."""
    singles = [factors[0] for factors in features if len(factors) == 1]
    pairs = [factors for factors in features if len(factors) == 2]
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    if not hasattr(columns, "tocsr"):
        return np.hstack([columns[:, singles], columns[:, left] * columns[:, right]])
    products = columns[:, left].multiply(columns[:, right])
    return hstack([columns[:, singles], products], format="csr", dtype=columns.dtype)
