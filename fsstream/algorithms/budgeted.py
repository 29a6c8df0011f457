"""What the online learners of the B-ARDA paper share: a kernel, passes, state.

In: batches. Out: scores before learning; the features with a weight, at most k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fsstream.algorithms.learner import Common, Learner, in_32_bits, parameter
from fsstream.algorithms.sketch_shape import CELL_BYTES, checked_width, fitting_width, wanted_width
from fsstream.errors import CorruptError, UsageError
from fsstream.numerics import np
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch, OnlineLearner
    from fsstream.model import Model
    from fsstream.numerics import Floats
    from fsstream.state import StateSink

UNTUNED = 0.0  # the kernel finds eta from the length of the rows
CELLS_PER_FEATURE = 64  # of a sketch row, for each of the k features
SUM_ROWS, SQUARE_ROWS = 3, 2  # of the sketches of gradients and of their squares
RECORD_BYTES = 128  # of a feature of the working set, names included


def delta_parameter() -> Any:
    """The parameter of all backends with adaptive sub-gradient steps."""
    return parameter(
        0.01,
        "added to the root of each feature's sum of squared gradients, by which its steps are divided: "
        "the larger, the smaller the first steps",
        low=1e-12,
    )


class OnlineBackend(Learner):
    """Drives one native OnlineLearner for a number of passes."""

    state_refusal: ClassVar[str | None] = None

    def __init__(self, kernel: OnlineLearner, passes: int) -> None:
        self.kernel = kernel
        self.passes = passes
        self.passed = 0

    def update(self, batch: Batch) -> Floats:
        """Learn the rows; return what they would have been given before."""
        return self.kernel.update(batch)

    def end_pass(self) -> bool:
        """Another scan until all passes are done."""
        self.passed += 1
        return self.passed < self.passes

    def selection(self) -> Selection:
        """The features with a weight."""
        names, weights = self.kernel.chosen()
        return Selection(names, weights)

    def intercepts(self) -> Floats:
        """The one intercept; 0 without."""
        return in_32_bits([self.kernel.intercept])

    @property
    def memory_used(self) -> int:
        """Tables and names."""
        return self.kernel.memory_used

    def allow(self, memory: int) -> None:
        """Its tables may grow up to that."""
        self.kernel.allow(memory)

    def facts(self) -> Mapping[str, Any]:
        """How many features state is kept for, in how many bytes; names that met on one key."""
        return {
            "features_kept": self.kernel.features,
            "state_bytes": self.kernel.memory_used,
            "collisions": self.kernel.collisions,
        }

    def save(self, out: StateSink) -> None:
        """The kernel's sums and the number of finished passes."""
        self.kernel.save(out)
        out.put("passed", np.array([self.passed], dtype=np.uint64))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        try:
            self.kernel.restore(state)
            self.passed = int(state["passed"][0])
        except (IndexError, KeyError, RuntimeError) as error:
            raise CorruptError(f"the saved state does not fit these options: {error}") from error

    def start_again(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The state, before the first pass."""
        self.restore({**state, "passed": np.zeros(1, np.uint64)})

    def start_from(self, model: Model) -> None:
        """Weights alone would leave out the sums that the next step is made of."""
        raise UsageError(
            f"--init: {self.name} goes on from whole states, and the model holds weights alone",
            hint="train it with --with-state",
        )


def rate_of(common: Common) -> float:
    """eta; UNTUNED unless given."""
    if common.learning_rate is None:
        return UNTUNED
    if not common.learning_rate > 0:
        raise UsageError(f"--learning-rate {common.learning_rate:g} is not above 0")
    return common.learning_rate


def ridge_of(common: Common) -> float:
    """lambda."""
    if not common.l2 >= 0:
        raise UsageError(f"--l2 {common.l2:g} is below 0")
    return common.l2


def width_of_sketch(common: Common, store: str, asked: int) -> int:
    """Cells in a row of the sketches, a power of two: as asked for, or for this k in this memory; 0: none."""
    if store == "exact":
        if asked:
            raise UsageError("sketch_width has no use with store=exact", hint="--set store=sketch")
        return 0
    if asked:
        return checked_width(asked)
    wanted, half_of_memory = wanted_width(common.k, CELLS_PER_FEATURE), common.memory // 2
    return fitting_width(wanted, half_of_memory, CELL_BYTES * (SUM_ROWS + SQUARE_ROWS))


def planned(working_set: int, width: int) -> dict[str, int]:
    """Bytes that are known before any data is seen; the exact state grows with the features seen."""
    plan = {"working set": RECORD_BYTES * working_set}
    if width:
        plan["sketch"] = CELL_BYTES * (SUM_ROWS + SQUARE_ROWS) * width
    return plan
