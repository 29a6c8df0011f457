"""The scans that random features ask for: one that loads the rows, and those that fill columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsstream._native import ColumnFiller, FeatureMap, InputRows, SparseProblem
from fsstream.algorithms.scanning import Rescan, Scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream._native import Batch

ALL_ROWS = np.zeros(0, np.uint32)


class Load(Scan):
    """The first scan."""

    def __init__(self, rows: InputRows) -> None:
        super().__init__()
        self._rows = rows

    def see(self, batch: Batch, first_row: int) -> None:
        self._rows.load(batch)


class Fill(Rescan):
    """New columns: features computed on every row, or on those chosen."""

    def __init__(
        self,
        problem: SparseProblem,
        rows: InputRows,
        maps: list[FeatureMap],
        chosen: NDArray[np.uint32] = ALL_ROWS,
    ) -> None:
        super().__init__(rows.rows)
        self._problem = problem
        self._input_rows = rows
        self._maps = maps
        self._chosen = chosen
        self._fillers: list[ColumnFiller] | None = None

    def see(self, batch: Batch, first_row: int) -> None:
        if self._fillers is None:
            self._fillers = [
                ColumnFiller(self._problem, one, self._input_rows, self._chosen) for one in self._maps
            ]
        for filler in self._fillers:
            filler.add(batch, first_row)

    def use_kept_rows(self) -> bool:
        if not self._input_rows.all_kept:
            return False
        for one in self._maps:
            self._problem.fill_kept(one, self._input_rows, self._chosen)
        return True
