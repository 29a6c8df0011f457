"""How much ridge the k features that were chosen are fitted again with.

    ridge = 1/N  k s^2 / |w|^2        at the solution with the l1 weight, cut to k features

as if weights were drawn with the variance |w|^2 / k, and the rows had noise of the variance s^2. For a loss
with slopes g and curvatures h the noise is the mean of g^2 over the mean of h. The fit has bent to the rows,
which look quieter than they are: with n rows' worth of curvature s^2 is divided by (1 - k/n)^2, as in
generalised cross-validation. k/N at most, the kernel method's own with lambda_N = 1: l1 shrinks the weights
of few features far below what they will be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ridge_for(
    weights: NDArray[np.float64],
    slopes: NDArray[np.float64],
    curvatures: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> float:
    """N times the ridge. Slopes and curvatures have the costs in them, which sum to 1.

    Three digits: enough for a ridge, and the same ones on every machine.
    """
    k = len(weights)
    size = float(np.sum(weights**2))
    bend = float(np.sum(curvatures))
    left = bend * bend - k * float(np.sum(curvatures**2))  # n - k, but for a factor
    if size == 0.0 or not left > 0.0:
        return float(k)
    squares = np.divide(slopes**2, costs, out=np.zeros_like(slopes), where=costs > 0)
    noise = float(np.sum(squares)) / bend * (bend * bend / left) ** 2
    return float(f"{min(k * noise / size, k):.3g}")
