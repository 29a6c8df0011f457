"""Bytes of the core's tables of all features, which double when they are full.

In: how many features there are. Out: what the table takes then, records of the features left out,
which grow with each feature.
"""

from __future__ import annotations

import math

NUMBER = 4  # bytes of a feature's number
SPARE, DIRECT = 2, 4  # numbers for each feature there is room for: keys hashed, or keys as places


def open_table(features: float) -> int:
    """solve/feature_index.hpp: a key and a number a slot; 7 slots of 10 are taken at most."""
    return 16 * _power_of_two(features * 10 / 7)


def numbered(features: float, largest_key: int) -> int:
    """learn/feature_table.hpp: a key is its own place while that takes no more than DIRECT a feature."""
    room = _power_of_two(features)
    return NUMBER * room * (DIRECT if largest_key < DIRECT * room else SPARE)


def _power_of_two(number: float) -> int:
    return 1 << math.ceil(math.log2(max(number, 16)))
