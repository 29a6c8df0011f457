"""How much ridge the k features that were chosen are fitted again with.

    ridge = 1/N  k s^2 / |w|^2        at the solution with the l1 weight, cut to k features

as if weights were drawn with the variance |w|^2 / k, and the rows had noise of the variance s^2. For a loss
with slopes g and curvatures h the noise is the mean of g^2 over the mean of h. The fit has bent to the rows,
which look quieter than they are: with n rows' worth of curvature s^2 is divided by (1 - k/n)^2, as in
generalised cross-validation. At most k/(2 N) times the curvature that rows have where they have it, which is
the kernel method's own ridge with lambda_N = 1 for the squared hinge: l1 shrinks the weights of few features
far below what they will be, and no noise is left to be seen where features are as many as rows.
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
    size, bend = float(np.sum(weights**2)), float(np.sum(curvatures))
    if bend == 0.0:
        return float(k)
    filled = costs > 0
    most = 0.5 * k * float(np.sum(curvatures[filled] ** 2 / costs[filled])) / bend
    left = 1.0 - k * float(np.sum(curvatures**2)) / bend**2
    if size == 0.0 or not left > 0.0:
        return _short(most)
    noise = float(np.sum(slopes[filled] ** 2 / costs[filled])) / (bend * left**2)
    return _short(min(k * noise / size, most))


def _short(ridge: float) -> float:
    return float(f"{ridge:.3g}")
