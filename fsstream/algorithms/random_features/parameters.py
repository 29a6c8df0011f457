"""What `--set` knows about the features of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from fsstream.algorithms.learner import parameter
from fsstream.algorithms.random_features.inputs import SCALES, THRESHOLDS
from fsstream.basis import KERNELS


@dataclass(frozen=True)
class ScaleParameters:
    """How inputs are seen."""

    scale: str = parameter(
        "standard",
        "inputs are seen as: standard: mean 0, variance 1; log: the same of sign(x) log(1 + |x|); "
        "range: 0 to 1; none: as they are",
        choices=SCALES,
    )


@dataclass(frozen=True)
class KernelParameters(ScaleParameters):
    """Which features are drawn."""

    kernel: str = parameter("gaussian", "whose random features are drawn", choices=KERNELS)
    width: float = parameter(
        0.0, "of the kernel (not of perceptrons); 0: the median distance of rows", low=0.0
    )
    thresholds: str = parameter(
        "data",
        "of perceptrons: data: planes go by rows of the data; uniform: the literal kernel, anywhere between "
        "the outermost rows, which far outliers leave almost without planes that part the others",
        choices=THRESHOLDS,
    )
