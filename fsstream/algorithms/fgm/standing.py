"""What a checkpoint keeps of fgm: what each round brought and the solution over them; never columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream.state import StateSink


@dataclass(frozen=True)
class Standing:
    """What a run goes on from: where it stood after some rounds."""

    rounds: tuple[NDArray[np.uint64], ...] = ()
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    bias: float = 0.0
    tau: float = 0.0
    objectives: tuple[float, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()  # theta_t, phi_t
    C: float = 0.0

    def save(self, out: StateSink) -> None:
        """As plain arrays."""
        ends = np.cumsum([0, *map(len, self.rounds)])
        out.put("keys", np.concatenate(self.rounds) if self.rounds else np.zeros(0, np.uint64))
        out.put("round_ends", ends.astype(np.uint64))
        out.put("weights", self.weights)
        out.put("bias", np.array([self.bias]))
        out.put("tau", np.array([self.tau]))
        out.put("objectives", np.array(self.objectives, dtype=np.float64))
        out.put("bounds", np.array(self.bounds, dtype=np.float64).reshape(-1, 2))
        out.put("C", np.array([self.C]))

    @classmethod
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> Standing:
        """From what `save` put."""
        ends = state["round_ends"].tolist()
        return cls(
            rounds=tuple(np.split(state["keys"].astype(np.uint64), ends[1:-1])) if len(ends) > 1 else (),
            weights=state["weights"].astype(np.float64),
            bias=float(state["bias"][0]),
            tau=float(state["tau"][0]),
            objectives=tuple(state["objectives"].tolist()),
            bounds=tuple((lower, upper) for lower, upper in state["bounds"].tolist()),
            C=float(state["C"][0]),
        )
