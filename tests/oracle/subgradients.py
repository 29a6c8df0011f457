"""Losses as the B-ARDA paper writes them: value and slope in the prediction u."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def prediction(w: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """w . x summed from the first feature to the last, as the kernels sum a row (numpy's dot does not)."""
    return float(np.cumsum(w * x)[-1])


def value(loss: str, u: float, y: float) -> float:
    """f_t(w_t) where w_t . x_t is u."""
    m = y * u
    return {
        "squared-hinge": max(0.0, 1.0 - m) ** 2,
        "hinge": max(0.0, 1.0 - m),
        "logistic": math.log1p(math.exp(-abs(m))) + max(0.0, -m),
        "squared": (y - u) ** 2,
    }[loss]


def slope(loss: str, u: float, y: float) -> float:
    """A sub-gradient of the loss is slope times x."""
    m = y * u
    if loss == "squared-hinge":
        return -2.0 * max(0.0, 1.0 - m) * y
    if loss == "hinge":
        return -y if m < 1.0 else 0.0
    if loss == "logistic":
        return -y / (1.0 + math.exp(m)) if m < 700.0 else 0.0
    return -2.0 * (y - u)
