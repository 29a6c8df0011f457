"""What `--set` knows about mission, and what follows from it: rule, width and depth of the sketch.

In: the common options, the parameters, the task. Out: numbers, or UsageError for what cannot be together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.algorithms.learner import parameter
from fsstream.algorithms.sgd import lanes_for
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Common, Task

CELL = 4  # bytes of a cell of the sketch
BLOCK = 16  # cells of a block, where active weights live beside the sketch
CANDIDATE = 48  # bytes a candidate takes in the active set, its table being half full
NUMBERS = 24  # bytes more where evidence is kept beside the weight
NAME = 32  # bytes planned for a name; long ones are counted as they come
SMALLEST_WIDTH, LARGEST_WIDTH = 1 << 12, 1 << 26
DEPTH = 3
CELLS_PER_FEATURE = 16  # of a sketch row, for each of the k features
PAIRS = 100_000  # of a row, unless more are allowed
KEPT = 8 << 20  # bytes of rows that are kept for a refit
SINGLE_ROW = 4  # times as wide is the row of a sketch that has one where others have three


@dataclass(frozen=True)
class MissionParameters:
    """What `--set` can change."""

    rule: str = parameter(
        "default",
        "paper: the literal algorithm, which is step=constant and active=estimated",
        choices=("default", "paper"),
    )
    step: str | None = parameter(
        None,
        "adaptive: diagonal Newton steps, nothing to tune, any units; constant: learning_rate * slope. "
        "Adaptive unless --learning-rate, --l2, gamma, batch, sketch=identity, active=estimated or "
        "rule=paper asks for constant ones",
        choices=("adaptive", "constant"),
    )
    active: str | None = parameter(
        None,
        "where the weights of active features live: exact, beside the sketch; estimated, in it. Exact unless "
        "rule=paper",
        choices=("exact", "estimated"),
    )
    sketch: str = parameter(
        "count",
        "count: a count-sketch of all weights; identity: a cell for each feature ever met, in memory that "
        "grows with them, and constant steps",
        choices=("count", "identity"),
    )
    sketch_width: int = parameter(
        0,
        "cells in a row of the sketch, a power of two; 0: 16 for each of the k features, at least 65,536, "
        "less where half of --memory would not hold it; four times as many in a single row of classes",
        low=0,
        high=1 << 28,
    )
    sketch_depth: int = parameter(
        0,
        "rows of the sketch: 1, 3, 5 or 7; 0: 3, or 1 for classes with the softmax loss and exact weights",
        low=0,
        high=7,
    )
    gamma: float = parameter(
        1.0, "factor on all that is not among the top k, after each row; 1 keeps everything", low=0.5, high=1
    )
    gamma_doubling: float = parameter(
        0.0,
        "rows after which 1 - gamma has doubled, so that gamma falls step by step to 0.5; 0: it stays",
        low=0,
    )
    batch: int = parameter(
        1,
        "rows whose mean gradient makes one constant step, and so do those left at the end of a pass; "
        "as many as there are: full gradients",
        low=1,
    )
    forget: float = parameter(
        1.0,
        "for streams that drift: factor on all evidence once a row, with constant steps on all weights; "
        "1 forgets nothing",
        low=0.5,
        high=1,
    )
    interactions: int = parameter(
        1,
        "2: each pair of a row's features is a feature, too, named a*b, its value the product",
        low=1,
        high=2,
    )
    pairs_per_row: int = parameter(
        PAIRS, "interactions=2: most pairs of a row; more end the run", low=1, high=1 << 30
    )
    stability: int = parameter(
        0,
        "B: add to each feature the share of B bootstrap replicates that also select it; time and memory "
        "are B + 1 times those of one",
        low=0,
        high=1000,
    )
    refit: str = parameter(
        "yes",
        "logistic loss, adaptive steps: yes: the rows of a short stream are kept (8 MB of them, less "
        "where --memory leaves less), and fitting all decides at the end which candidates stay; no: the "
        "pass decides",
        choices=("yes", "no"),
    )
    tolerance: float = parameter(
        1e-3, "with several passes: stop when a pass lowers the mean loss by less than this share", low=0
    )

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
                self.interactions == 1 and self.pairs_per_row != PAIRS,
            ),
        }
        for name, (where, is_idle) in idle.items():
            if is_idle:
                raise UsageError(f"--set {name} has no use {where}")


def power_of_two_below(number: int) -> int:
    """The largest power of two that is not above `number`."""
    return 1 << (number.bit_length() - 1)


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
    width = parameters.sketch_width
    if width != 0:
        if width == 1:
            raise UsageError(
                "sketch_width=1 tells nothing apart", hint="--set sketch_width=N with N from 2 on"
            )
        if width & (width - 1):
            raise UsageError(
                f"sketch_width={width} is not a power of two",
                hint=f"--set sketch_width={power_of_two_below(width)} or {2 * power_of_two_below(width)}",
            )
        return width
    wanted = max(1 << 16, CELLS_PER_FEATURE * (common.k or 1))
    depth = parameters.sketch_depth or DEPTH
    if single_row:
        wanted, depth = SINGLE_ROW * wanted, 1
    copies = 2 * (parameters.stability + 1)
    fitting = common.memory // (copies * CELL * depth * lanes)
    limit = min(LARGEST_WIDTH, power_of_two_below(max(fitting, SMALLEST_WIDTH)))
    return min(2 * power_of_two_below(wanted - 1), limit)


def numbers_of_part(depth: int) -> int:
    """Of a block, those that one row of the sketch owns; the last so many hold evidence."""
    return BLOCK >> depth.bit_length()


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
    return wanted and task.loss == "logistic" and is_adaptive(common, parameters)


def checked_depth(depth: int) -> int:
    """An odd depth: a median needs a middle."""
    if depth % 2 == 0:
        raise UsageError(f"sketch_depth={depth} is even", hint="--set sketch_depth=1, 3, 5 or 7")
    return depth
