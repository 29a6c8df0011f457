"""What a backend is: a learner that sees batches, and a description that the command line reads.

In: Batches, in input order, pass after pass. Out: a Selection and what prediction needs.
A backend never sees text or files; it declares the access it needs and the runner provides it.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream.errors import LimitError, UsageError
from fsstream.state import collected
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.algorithms.merging.shards import Shards
    from fsstream.basis import Basis
    from fsstream.expansion import Expansion
    from fsstream.model import Model
    from fsstream.numerics import Floats
    from fsstream.selection import Selection
    from fsstream.state import StateSink

BINARY_LOSSES = ("logistic", "squared-hinge", "hinge")
ALL_LOSSES = (*BINARY_LOSSES, "squared", "softmax")


def in_32_bits(numbers: Iterable[float]) -> array[float]:
    """Intercepts. What is larger becomes infinite, which is told when a model is made of it."""
    return array("f", numbers)


class Access(Enum):
    """How a backend reads the data."""

    ROWS = "rows"  # one pass is enough; any stream
    ROWS_AGAIN = "rows again"  # several scans: files are re-read, streams spooled
    COLUMNS = "columns"  # a batch row is a feature; row streams are transposed


def parameter(
    default: Any,
    doc: str,
    *,
    choices: Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """A field of a backend's Parameters: feeds `--set`, its checks, and `fsstream algos NAME`."""
    metadata = {"doc": doc, "choices": choices, "low": low, "high": high}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class NoParameters:
    """Of a backend that has nothing to set."""


@dataclass(frozen=True)
class Common:
    """The common options of `select` that reach a backend. None: not given by the user."""

    k: int | None = None
    learning_rate: float | None = None
    l1: float | None = None
    l2: float = 0.0
    passes: int = 1
    intercept: bool = True
    seed: int = 0
    memory: int = 1 << 30  # bytes the learner may use
    threads: int = 1
    workers: int = 1
    groups: Mapping[int, Sequence[str]] | None = None  # --groups: the groups of each feature, by its key


@dataclass(frozen=True)
class Task:
    """What is to be predicted, decided before learning starts.

    Targets in a batch are -1 / +1 when binary, a class number (0, 1, ... in order of first
    appearance) with classes, a number in regression.
    """

    loss: str
    labels: tuple[str, ...] = ()  # binary: (negative, positive); classes: those known so far
    max_classes: int = 1000
    targets: NDArray[np.float32] | None = None  # columns only: the target of each sample
    features: int | None = None  # of an estimate: how many there are


def required_k(k: int | None) -> int:
    """k, which has no default."""
    if k is None:
        raise UsageError("--k is missing", hint="how many features to select, for example --k 100")
    return k


def check_plan(plan: Mapping[str, int], memory: int) -> None:
    """LimitError when what is known to be needed, by purpose, is more than there is."""
    total = sum(plan.values())
    if total > memory:
        largest = max(plan, key=lambda what: plan[what])
        raise LimitError(
            f"needs {show_size(total)}, and --memory is {show_size(memory)}",
            hint=f"the largest part is {largest} with {show_size(plan[largest])}",
        )


class Learner(ABC):
    """The state of one algorithm in one run.

    Its outcome may depend on the rows and their order alone, never on how they fall into batches.
    """

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for `fsstream algos`
    paper: ClassVar[str]  # title and the algorithm or equation
    access: ClassVar[Access] = Access.ROWS
    losses: ClassVar[tuple[str, ...]] = BINARY_LOSSES
    auto_binary_loss: ClassVar[str] = "squared-hinge"  # what --loss auto picks for two labels
    intercept_default: ClassVar[bool] = False
    default_passes: ClassVar[int] = 1  # without --passes; 0: as many as it asks for
    knows_rows_by_number: ClassVar[bool] = False  # then a shuffle is the same in every pass
    resumes_within_a_pass: ClassVar[bool] = True  # else `restore` passes over the rest of one
    uses: ClassVar[frozenset[str]] = frozenset({"k"})  # common options that mean something here
    Parameters: ClassVar[type] = NoParameters

    predicts_with_state: ClassVar[bool] = False  # then every model holds it; else the selection is enough

    entry_bytes: ClassVar[int] = 16  # of scratch memory for each entry of the longest row

    between_scans: Callable[[], None] = staticmethod(lambda: None)  # of rows in memory; it may raise

    rows_a_step: int = 1  # rows wait for the rest of their step until end_pass

    merge_refusal: ClassVar[str | None] = None  # why models of shards cannot be averaged
    # Why learners of shards cannot become one, None where `merge` makes them one.
    state_refusal: ClassVar[str | None] = "what it holds belongs to the scan of one input, not to its rows"
    goes_on: ClassVar[bool] = False  # `--init` goes on from a state that cannot be merged

    @abstractmethod
    def __init__(self, common: Common, parameters: Any, task: Task) -> None: ...

    @abstractmethod
    def update(self, batch: Batch) -> Floats | None:
        """Learn the rows; return the scores they had before each was learned, if there are any."""

    def end_pass(self) -> bool:
        """The data has been seen once more: True asks for another scan."""
        return False

    @property
    def rows_learned(self) -> int:
        """As a DivergedError of it counts them, where it names a row."""
        return 0

    @classmethod
    def reads_again(cls, passes: int | None, l1: float | None) -> bool:
        """Whether a run with `--passes` and `--l1`, None when not given, sees the data more than once."""
        return cls.access is Access.ROWS_AGAIN or (passes or cls.default_passes) != 1

    @abstractmethod
    def selection(self) -> Selection:
        """Exactly k features, fewer only when fewer have a non-zero weight."""

    @abstractmethod
    def intercepts(self) -> Floats:
        """One number, or one a class; zeros without an intercept."""

    def basis(self) -> Basis | Expansion | None:
        """What the names stand for, when they are not those of the input."""
        return None

    def start_from(self, model: Model) -> None:
        """Take over the weights of a model before the first row; backends with `init` in `uses`."""
        raise UsageError(f"{self.name} cannot start from a model")

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """Rows by outputs, nothing learned; backends that predict with their state."""
        raise UsageError(f"{self.name} predicts with what it selected, not with its state")

    def facts(self) -> Mapping[str, Any]:
        """What the summary reports of this backend: counts, estimates, collisions."""
        return {}

    def remarks(self) -> Iterable[str]:
        """What the user may not expect of the outcome, or of the options: said in notes."""
        return ()

    @abstractmethod
    def save(self, out: StateSink) -> None:
        """Everything `restore` needs to go on bit for bit, as plain arrays."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The same as copies, which hold when the learner learns more."""
        return collected(self.save)

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None: ...

    def merge(self, shards: Shards) -> None:
        """Take over, as one, what learners of these options have learned from shards of a stream."""
        self.start_again(self.merged(shards))

    def merged(self, shards: Shards) -> dict[str, NDArray[Any]]:
        """The state of that one learner, for backends without a `state_refusal`."""
        raise UsageError(f"learners of {self.name} cannot be merged: {self.state_refusal}")

    def start_again(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over a state to learn other rows with it: passes are counted anew."""
        raise UsageError(f"{self.name} cannot go on from a state: {self.state_refusal}")

    @property
    def memory_used(self) -> int:
        """Bytes of what grows with the rows, where learners share their memory; 0: all was planned."""
        return 0

    def allow(self, memory: int) -> None:  # noqa: B027 - what was planned stays as it is
        """From now on what grows may take so many bytes: other learners' tables have grown, too."""

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """Of its table of all features once there are so many: it grows by leaps that no trial may show."""
        return 0

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Bytes by purpose that can be known before any data is seen: see check_plan."""
        return {}
