"""How wide and how deep a sketch is. In: what was asked for, or k and the memory. Out: rows and cells.

A width is a power of two. Unless one is asked for it is so many cells for each of the k features, no more
than the memory holds.
"""

from __future__ import annotations

from fsstream.errors import UsageError

CELL_BYTES = 4
LEAST_WANTED = 1 << 16  # cells in a row, unless memory is short
SMALLEST_WIDTH, LARGEST_WIDTH = 1 << 12, 1 << 26


def checked_depth(depth: int) -> int:
    """An odd depth: a median needs a middle."""
    if depth % 2 == 0:
        raise UsageError(f"sketch_depth={depth} is even", hint="--set sketch_depth=1, 3, 5 or 7")
    return depth


def checked_width(width: int) -> int:
    """A width that was asked for."""
    if width == 1:
        raise UsageError("sketch_width=1 tells nothing apart", hint="--set sketch_width=N with N from 2 on")
    if width & (width - 1):
        below = _power_of_two_below(width)
        raise UsageError(
            f"sketch_width={width} is not a power of two",
            hint=f"--set sketch_width={below} or {2 * below}",
        )
    return width


def fitting_width(wanted: int, memory: int, column_bytes: int) -> int:
    """The next power of two from `wanted` on, or less: as many columns of cells as the memory holds."""
    limit = _power_of_two_below(max(memory // column_bytes, SMALLEST_WIDTH))
    return min(2 * _power_of_two_below(wanted - 1), limit, LARGEST_WIDTH)


def wanted_width(k: int | None, cells_per_feature: int) -> int:
    """Cells in a row, were there memory enough; a backend without k is given the least."""
    return max(LEAST_WANTED, cells_per_feature * (k or 1))


def _power_of_two_below(number: int) -> int:
    """The largest power of two that is not above `number`."""
    return 1 << (number.bit_length() - 1)
