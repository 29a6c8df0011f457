"""rf: plain Random Features. In: rows. Out: k random features of a kernel, all of them with a weight.

    minimise over w, b   l2/2 |w|^2 + 1/N sum L(w.z(x_n) + b, y_n),   z = phi / sqrt k

The k features are the first k that are drawn: nothing is selected. With k large this is the kernel
method with lambda = l2; its lambda_N is N times --l2, 1 unless given. Weights are written for phi.
Paper: Rahimi, Recht: Random Features for Large-Scale Kernel Machines, NIPS 2007; equation (5) of
the Sparse Random Features paper, whose rival it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from fsstream.algorithms.random_features.learner import KernelLearner
from fsstream.algorithms.random_features.parameters import KernelParameters, gap_parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsstream.algorithms.scanning import Scan

MOST_STEPS = 2000


@dataclass(frozen=True)
class RfParameters(KernelParameters):
    """What `--set` can change."""

    tolerance: float = gap_parameter(1e-3, "the problem")


class Rf(KernelLearner):
    """Features are drawn, none is dropped: the rival with the dense model."""

    name: ClassVar[str] = "rf"
    summary: ClassVar[str] = "plain random features of a kernel with a ridge: k of them, unselected; a rival"
    paper: ClassVar[str] = "Random Features for Large-Scale Kernel Machines (2007), equation (5)"
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l2", "intercept", "seed"})
    Parameters: ClassVar[type] = RfParameters
    parameters: RfParameters

    def rounds(self) -> Iterator[Scan]:
        """One draw, one solve."""
        machine, k = self.machine, self.common.k
        assert k is not None
        machine.check_room(k)
        if machine.drawn < k:
            yield from machine.draw(k)
        ridge = k * (self.common.l2 or 1.0 / machine.rows.rows)
        self.note_round(machine.solve(0.0, ridge, self.parameters.tolerance, MOST_STEPS).objective)
