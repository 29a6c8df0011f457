"""The means of a table's columns with a dict: what native/learn/column_means.hpp must equal."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.sketch_oracle import F


@dataclass
class Column:
    mean: float = 0.0
    variance: float = 0.0
    missing: int = 0
    centred: bool = False


@dataclass
class ColumnMeans:
    on: bool
    rows: int = 0
    weight: float = 0.0
    entries: int = 0
    known: int = 0
    columns: dict[int, Column] = field(default_factory=dict)
    begun: dict[int, F] = field(default_factory=dict)  # what is left of values that first differ in the row

    def meet(self, row: list[tuple[int, F]], importance: float, forget: float) -> dict[int, float]:
        """Take in a row; by key, by how much more is taken off its values from now on."""
        self.begun = {}
        if not self.on or importance <= 0 or not (self.rows > 1 or row):
            return {}
        changes = {}
        before = {key for key, _ in row if key in self.columns}
        self.rows += 1
        self.weight = forget * self.weight + importance
        if self.rows > 1:
            self.entries += len(row)
            self.known += len(before)
            if 6 * self.known + self.entries // (self.rows - 1) <= 4 * self.entries:
                return self.stop()
        allowed = 2 + 0.75 * self.rows
        if self.rows - 1 <= allowed:
            for key, _ in row:
                self.columns.setdefault(key, Column(missing=self.rows - 1))
        values = dict(row)
        for key, column in list(self.columns.items()):
            column.missing += key not in values
            if column.missing > allowed:
                changes[key] = -self.columns.pop(key).mean
                continue
            x, share = float(values.get(key, 0.0)), importance / self.weight
            off, differed = x - column.mean, F(column.variance) > 0
            column.mean += off * share
            column.variance += (off * (x - column.mean) - column.variance) * share
            if not differed and F(column.variance) > 0:
                self.begun[key] = F(x - column.mean)
            if self.rows > 1 and not column.centred:
                column.centred, changes[key] = True, column.mean
        return changes

    def stop(self) -> dict[int, float]:
        """The stream is no table after all."""
        changes = {key: -column.mean for key, column in self.columns.items() if column.centred}
        self.on, self.columns = False, {}
        return changes

    def mean(self, key: int) -> float:
        return self.columns[key].mean if self.rows > 1 and key in self.columns else 0.0

    def variance(self, key: int) -> F:
        return F(self.columns[key].variance if self.rows > 1 and key in self.columns else 0)

    def centred(self, row: list[tuple[int, F]]) -> tuple[list[tuple[int, F]], set[int]]:
        """The row as it is learned, and the features that have no entry in it."""
        if self.rows < 2:
            return row, set()
        values = dict(row)
        absent = [key for key in self.columns if key not in values]
        made = [(key, F(float(x) - self.mean(key))) for key, x in [*row, *((key, F(0)) for key in absent)]]
        return [(key, x) for key, x in made if x != 0], set(absent)
