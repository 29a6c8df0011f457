"""What `--set` knows about the features of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fsstream.algorithms.learner import parameter
from fsstream.algorithms.random_features.inputs import SCALES, THRESHOLDS
from fsstream.basis import KERNELS


def gap_parameter(default: float, what: str) -> Any:
    """How exactly something is solved."""
    return parameter(
        default,
        f"{what} is solved until its objective is this close to the best one (the duality gap, as a share of "
        "the loss without features)",
        low=0.0,
        high=1.0,
    )


@dataclass(frozen=True)
class ScaleParameters:
    """How inputs are seen."""

    scale: str = parameter(
        "standard",
        "how the inputs are scaled first: standard: to mean 0 and variance 1; log: the same of "
        "sign(x) log(1 + |x|); range: to values from 0 to 1; none: not at all",
        choices=SCALES,
    )


@dataclass(frozen=True)
class KernelParameters(ScaleParameters):
    """Which features are drawn."""

    kernel: str = parameter("gaussian", "the kernel whose random features are drawn", choices=KERNELS)
    width: float = parameter(
        0.0,
        "how wide the kernel is, in units of the scaled inputs (perceptrons have no width); 0: the median "
        "distance of two rows",
        low=0.0,
    )
    thresholds: str = parameter(
        "data",
        "with kernel=perceptron, where its planes lie: data: near rows of the data; uniform: anywhere "
        "between the outermost rows, as the kernel is defined; with far outliers hardly any such plane "
        "parts the other rows",
        choices=THRESHOLDS,
    )
