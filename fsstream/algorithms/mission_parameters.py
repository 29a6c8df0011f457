"""What `--set` knows about mission, and what follows from it: rule, width and depth of the sketch.

In: the common options, the parameters, the task. Out: numbers, or UsageError for what cannot be together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.algorithms.learner import parameter
from fsstream.algorithms.sgd import lanes_for, pass_tolerance
from fsstream.algorithms.sketch_shape import (
    CELL_BYTES,
    LEAST_WANTED,
    checked_depth,
    checked_width,
    fitting_width,
    wanted_width,
)
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Common, Task

BLOCK_CELLS = 16  # of the native BlockSketch, the sketch of active=exact
CANDIDATE_BYTES = 48  # of a candidate in the active set, whose table is half full at least
EVIDENCE_BYTES = 24  # more for each candidate with adaptive steps, which keep evidence beside the weight
NAME_BYTES = 32  # planned for a name; longer ones are counted as they come
DEPTH = 3  # rows of a sketch, unless another number is asked for
CELLS_PER_FEATURE = 16  # in each row of a sketch, for each of the k features
SINGLE_ROW = 4  # a sketch of one row has so many times the width
MOST_PAIRS = 100_000  # of features in a row, unless more are allowed
KEPT_BYTES = 8 << 20  # of rows that are kept for the refit of a short stream


@dataclass(frozen=True)
class MissionParameters:
    """What `--set` can change."""

    rule: str = parameter(
        "default",
        "paper: the algorithm as its paper has it, that is step=constant and active=estimated",
        choices=("default", "paper"),
    )
    step: str | None = parameter(
        None,
        "adaptive: each feature has a step of its own, which follows from what was seen of it: nothing to "
        "tune, and columns may have any units; constant: every step is --learning-rate times the slope of "
        "the loss. Unless given: adaptive, but constant with --learning-rate, --l2, gamma, batch, "
        "sketch=identity, active=estimated or rule=paper",
        choices=("adaptive", "constant"),
    )
    active: str | None = parameter(
        None,
        "where the weights of the best features so far are kept: exact: in a table beside the sketch; "
        "estimated: in the sketch, where others disturb them. Unless given: exact, but estimated with "
        "rule=paper",
        choices=("exact", "estimated"),
    )
    sketch: str = parameter(
        "count",
        "count: all weights share a table of fixed size; identity: every feature ever met has a cell of its "
        "own, so memory grows with them; it implies constant steps",
        choices=("count", "identity"),
    )
    sketch_width: int = parameter(
        0,
        f"cells in a row of the sketch, a power of two; 0: {CELLS_PER_FEATURE} for each of the k features, "
        f"at least {LEAST_WANTED:,}, fewer where half of --memory would not hold them; with a single row "
        f"(several classes) {SINGLE_ROW} times as many",
        low=0,
        high=1 << 28,
    )
    sketch_depth: int = parameter(
        0,
        f"rows of the sketch: 1, 3, 5 or 7; 0: {DEPTH}, but 1 with the softmax loss and active=exact",
        low=0,
        high=7,
    )
    gamma: float = parameter(
        1.0,
        "after each row, weights that are not among the top k are multiplied by this; 1 keeps them",
        low=0.5,
        high=1,
    )
    gamma_doubling: float = parameter(
        0.0,
        "rows in which 1 - gamma doubles, so that gamma falls with time, to 0.5; 0: it stays",
        low=0,
    )
    batch: int = parameter(
        1,
        "rows that make one step together, by the mean of their gradients; those left at the end of a pass "
        "make one, too. With as many as there are rows, steps follow the full gradient",
        low=1,
    )
    forget: float = parameter(
        1.0,
        "for streams that drift: after each row all evidence is multiplied by this (with constant steps all "
        "weights), so that old rows count less; 1 forgets nothing, 0.999 most of what is 3,000 rows old",
        low=0.5,
        high=1,
    )
    interactions: int = parameter(
        1,
        "2: each pair of features in a row is a feature, too, named a*b, and its value is their product",
        low=1,
        high=2,
    )
    pairs_per_row: int = parameter(
        MOST_PAIRS, "with interactions=2: a row with more pairs ends the run", low=1, high=1 << 30
    )
    stability: int = parameter(
        0,
        "N: learn N bootstrap replicates of the stream beside it, and write for each selected feature the "
        "share of them that select it, too; takes N + 1 times the time and memory",
        low=0,
        high=1000,
    )
    refit: str = parameter(
        "yes",
        "with the logistic or squared loss and adaptive steps: yes: keep the rows of a short stream (up to "
        f"{KEPT_BYTES >> 20} MB of them, less where --memory leaves less) and fit them all at the end, "
        "which decides what is selected; no: the pass alone decides",
        choices=("yes", "no"),
    )
    tolerance: float = pass_tolerance()

    def __post_init__(self) -> None:
        """UsageError for a setting that another one leaves nothing to say."""
        identity = self.sketch == "identity"
        idle = {
            "active=exact": ("with rule=paper", self.rule == "paper" and self.active == "exact"),
            "active": ("with sketch=identity", identity and self.active is not None),
            "sketch_width": ("with sketch=identity", identity and self.sketch_width != 0),
            "sketch_depth": ("with sketch=identity", identity and self.sketch_depth != 0),
            "gamma_doubling": ("without gamma below 1", self.gamma == 1 and self.gamma_doubling != 0),
            "pairs_per_row": (
                "without interactions=2",
                self.interactions == 1 and self.pairs_per_row != MOST_PAIRS,
            ),
        }
        for name, (where, is_idle) in idle.items():
            if is_idle:
                raise UsageError(f"--set {name} has no use {where}")


def sketch_depth(common: Common, parameters: MissionParameters, task: Task) -> int:
    """The depth asked for, or the default.

    A median guards against heavy weights; where those are beside the sketch, one row of all cells errs least.
    """
    if parameters.sketch_depth:
        return checked_depth(parameters.sketch_depth)
    return 1 if task.loss == "softmax" and is_exact(common, parameters) else DEPTH


def sketch_width(
    common: Common, parameters: MissionParameters, lanes: int = 1, *, single_row: bool = False
) -> int:
    """The width asked for, or the default for this k in this memory."""
    if parameters.sketch_width != 0:
        return checked_width(parameters.sketch_width)
    wanted, depth = wanted_width(common.k, CELLS_PER_FEATURE), parameters.sketch_depth or DEPTH
    if single_row:
        wanted, depth = SINGLE_ROW * wanted, 1
    sketches = parameters.stability + 1
    half_of_memory = common.memory // 2
    return fitting_width(wanted, half_of_memory, sketches * CELL_BYTES * depth * lanes)


def numbers_of_part(depth: int) -> int:
    """How many numbers of a block of the BlockSketch belong to one of its rows.

    The parts of a block are as many as the rows and one more, which holds evidence, rounded up to a power of
    two: native/sketch/block_sketch.hpp.
    """
    return BLOCK_CELLS >> depth.bit_length()


def width_for(common: Common, parameters: MissionParameters, task: Task) -> int:
    """Cells in a row of the sketch, of one number or of all classes."""
    single = parameters.sketch_depth == 0 and sketch_depth(common, parameters, task) == 1
    return sketch_width(common, parameters, lanes_for(task), single_row=single)


def is_exact(common: Common, parameters: MissionParameters) -> bool:
    """Whether active weights live beside the sketch."""
    estimated = parameters.active == "estimated" or parameters.rule == "paper"
    return is_adaptive(common, parameters) or not estimated


def is_adaptive(common: Common, parameters: MissionParameters) -> bool:
    """Whether steps find their own size; UsageError when they are told to and to do what they cannot."""
    wants_constant = {
        "--learning-rate": common.learning_rate is not None,
        "--l2": common.l2 != 0,
        "--set gamma": parameters.gamma != 1,
        "--set batch": parameters.batch != 1,
        "--set sketch=identity": parameters.sketch != "count",
        "--set active=estimated": parameters.active == "estimated",
        "--set rule=paper": parameters.rule == "paper",
    }
    given = [flag for flag, is_given in wants_constant.items() if is_given]
    if parameters.step == "adaptive" and given:
        raise UsageError(f"{given[0]} has no use with adaptive steps", hint="leave out --set step=adaptive")
    return parameters.step != "constant" and not given


def refits(common: Common, parameters: MissionParameters, task: Task) -> bool:
    """Whether the rows of a short stream are kept: not once for each of several classes."""
    wanted = parameters.refit == "yes" and parameters.forget == 1 and len(task.labels) <= 2
    return wanted and task.loss in ("logistic", "squared") and is_adaptive(common, parameters)
