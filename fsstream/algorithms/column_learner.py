"""What the backends that read columns share: features in, at most k of them out.

In: batches whose rows are features; the targets of the samples come with the task. Out: the
kernel's selection. The kernel says which row it cannot take; the message is made here.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from fsstream.algorithms.feature_tables import open_table
from fsstream.algorithms.learner import Access, Common, Learner, Task, parameter
from fsstream.errors import CorruptError, DataError, RowError, UsageError
from fsstream.selection import Selection
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.numerics import Floats
    from fsstream.state import StateSink

NAME = 64  # bytes planned for a name and what is kept beside it


def refit_parameter() -> Any:
    """Of all backends that read columns."""
    return parameter(
        "yes", "yes: at the end, fit the loss once more on the selected features alone", choices=("yes", "no")
    )


def scale_parameter(more: str = "") -> Any:
    """The same; `more` is what else there is to say."""
    return parameter(
        "unit",
        "how columns are seen while learning: unit: divided so that their mean square is 1; none: as they "
        f"are{more}",
        choices=("unit", "none"),
    )


class ColumnKernel(Protocol):
    """The native side."""

    def update(self, batch: Batch) -> tuple[int, str, int] | None:
        """Take the rows; (row, what is wrong, sample) of the first that cannot be taken."""

    def end_scan(self) -> object:
        """Every feature has been seen once more; some kernels say whether they want another scan."""

    def save(self, out: StateSink) -> None:
        """Everything needed to go on bit for bit."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""


class ColumnLearner(Learner):
    """A learner over features that arrive one by one."""

    access: ClassVar[Access] = Access.COLUMNS
    losses: ClassVar[tuple[str, ...]] = ("squared", "squared-hinge", "logistic")
    auto_binary_loss: ClassVar[str] = "squared-hinge"
    merge_refusal: ClassVar[str | None] = (
        "its weights were fitted on all samples at once, and shards of features or samples see others"
    )
    state_refusal = merge_refusal
    intercept_default: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l2", "passes", "intercept", "learning_rate"})

    def __init__(self, kernel: ColumnKernel, passes: int) -> None:
        self.kernel = kernel
        self.passes = passes
        self.scans = 0

    def update(self, batch: Batch) -> None:
        """Take the features of the batch."""
        fault = self.kernel.update(batch)
        if fault is None:
            return
        row, what, sample = fault
        name = to_text(batch.labels()[row])
        if what == "repeated":
            raise RowError(
                row, name, "a feature that comes once",
                hint="a feature is one line; give its second line another name",
            )  # fmt: skip
        raise DataError(
            f"feature {name!r} has a value for sample {sample}, which does not exist",
            hint="sample numbers are line numbers of --targets, from 1",
        )

    def end_pass(self) -> bool:
        """True until the scans asked for are done."""
        self.kernel.end_scan()
        self.scans += 1
        return self.scans < self.passes

    @abstractmethod
    def chosen(self) -> tuple[list[bytes], NDArray[np.float32], float]:
        """Names, weights and intercept."""

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """While rows become columns."""
        return open_table(features)

    def selection(self) -> Selection:
        """The selected features; zero weights are no features."""
        names, weights, _ = self.chosen()
        kept = np.flatnonzero(weights)
        return Selection([names[i] for i in kept], weights[kept])

    def intercepts(self) -> Floats:
        """The one intercept."""
        return np.array([self.chosen()[2]], np.float32)

    def save(self, out: StateSink) -> None:
        """The kernel's arrays and the scans done."""
        out.put("scans", np.array([self.scans]))
        self.kernel.save(out)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state of the same options and targets."""
        try:
            self.scans = int(state["scans"][0])
            self.kernel.restore(state)
        except (KeyError, IndexError, ValueError) as error:
            raise CorruptError(f"this is no state of {self.name}: {error}") from error


def at_most(columns: int, task: Task) -> int:
    """Of so many columns, those that can be filled."""
    return columns if task.features is None else min(columns, task.features)


def sample_targets(task: Task) -> NDArray[np.float32]:
    """The targets of the samples, which a learner of columns is always given."""
    assert task.targets is not None
    return np.ascontiguousarray(task.targets, np.float32)


def samples_of(task: Task) -> int:
    """How many samples a column has."""
    return 0 if task.targets is None else len(task.targets)


def column_bytes(samples: int, columns: int) -> int:
    """Bytes of so many retained float32 columns."""
    return 4 * samples * columns


def check_step(common: Common) -> float:
    """The step given, or 0 for an estimated one."""
    if common.learning_rate is None:
        return 0.0
    if not common.learning_rate > 0:
        raise UsageError(f"--learning-rate {common.learning_rate:g}: a step is above 0")
    return common.learning_rate
