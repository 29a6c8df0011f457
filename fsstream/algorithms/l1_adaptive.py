"""What l1-ARDA and Ada-Fobos share: an l1 weight that is given, or searched for k features.

With --l1 alone the data is read `passes` times with that weight. With --k a ladder of RUNGS
weights is learned side by side: the first round of passes spans DECADES below a weight that is
surely too large; each further round puts a new ladder between the two rungs whose
numbers of features enclose k. Three rounds narrow the weight to a factor 1.01. So a search
reads the data again: files are re-read and a stream is spooled, as it is not for --l1 and one pass
(`rounds=1` learns it once, and trims more). The weight that leaves the fewest features, but at least
k, wins; of its features the k with the largest |weight| are written. With both, --l1 is used and
then trimmed.

A state holds the ladder of the last round. `--init` goes on with it, its weights and its sums; a
search then has no further rounds, since a new ladder would know nothing of the rows before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsstream import _native
from fsstream.algorithms.budgeted import OnlineBackend, delta_parameter, rate_of
from fsstream.algorithms.feature_tables import numbered
from fsstream.algorithms.learner import BINARY_LOSSES, Access, Common, Task, parameter
from fsstream.errors import CorruptError, UsageError
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch, L1Ladder
    from fsstream.numerics import Floats
    from fsstream.state import StateSink

RUNGS = 16
LARGEST, DECADES = 1e3, 12.0


@dataclass(frozen=True)
class L1Parameters:
    """What `--set` can change."""

    delta: float = delta_parameter()
    rounds: int = parameter(
        3,
        "with --k: how often the data is learned to find the l1 weight, each time between closer bounds",
        low=1,
        high=10,
    )


class L1Adaptive(OnlineBackend):
    """One ladder after the other; the last one is what counts."""

    access: ClassVar[Access] = Access.ROWS_AGAIN
    losses: ClassVar[tuple[str, ...]] = (*BINARY_LOSSES, "squared")
    uses: ClassVar[frozenset[str]] = frozenset({"k", "init", "learning_rate", "l1", "passes", "intercept"})
    state_refusal: ClassVar[str | None] = (
        "every shard has searched l1 weights of its own, and shrinks by its own count of rows"
    )
    goes_on: ClassVar[bool] = True
    Parameters: ClassVar[type] = L1Parameters

    def __init__(self, common: Common, parameters: L1Parameters, task: Task) -> None:
        if common.l1 is not None and not common.l1 >= 0:
            raise UsageError(f"--l1 {common.l1:g} is below 0")
        self._common, self._parameters, self._task = common, parameters, task
        self.rounds = 1 if common.l1 is not None else parameters.rounds
        if common.l1 is not None:
            self.rungs = [common.l1]
        else:
            self.rungs = [float(w) for w in np.geomspace(LARGEST, LARGEST / 10**DECADES, RUNGS - 1)] + [0.0]
        self.ladder: L1Ladder = self._new_ladder()
        super().__init__(self.ladder, common.passes)

    @classmethod
    def reads_again(cls, passes: int | None, l1: float | None) -> bool:
        """A search does; a weight that is given needs the passes asked for."""
        return l1 is None or (passes or cls.default_passes) != 1

    def _new_ladder(self) -> L1Ladder:
        return _native.l1_ladder(
            self.name,
            loss=self._task.loss,
            rungs=self.rungs,
            k=self._common.k or 0,
            eta=rate_of(self._common),
            delta=self._parameters.delta,
            intercept=self._common.intercept,
            memory=self._common.memory,
        )

    def update(self, batch: Batch) -> Floats:
        """Learn the rows on all rungs; the scores are those of the rung nearest to k so far."""
        return self.ladder.update(batch)

    def end_pass(self) -> bool:
        """Another scan until the passes of the last round are done."""
        self.passed += 1
        if self.passed >= self.rounds * self.passes:
            return False
        if self.passed % self.passes == 0:
            self.rungs = self._closer(self.ladder.best_rung)
            self.kernel = self.ladder = self._new_ladder()
        return True

    def _closer(self, best: int) -> list[float]:
        """Rungs from the weight that leaves enough up to the next larger one, which leaves too few."""
        low, high = self.rungs[best], self.rungs[max(best - 1, 0)]
        if low == high:
            high = 10 * low
        if low == 0.0:
            return [high * 10.0 ** (-i / 4) for i in range(RUNGS - 1)] + [0.0]
        return [float(w) for w in np.geomspace(high, low, RUNGS)]

    @classmethod
    def table_bytes(cls, parameters: Any, features: float, largest_key: int) -> int:
        """Its index; the numbers of the rungs grow with each feature."""
        return numbered(features, largest_key)

    def selection(self) -> Selection:
        """The k largest |weight| of the rung chosen, or all of them without --k."""
        chosen = Selection(*self.ladder.chosen())
        return chosen.at(chosen.order[: self._common.k])

    def facts(self) -> Mapping[str, Any]:
        """The l1 weight that was found, and how many features it left before trimming."""
        best = self.ladder.best_rung
        return {**super().facts(), "l1": self.rungs[best], "l1_left": self.ladder.counts()[best]}

    def save(self, out: StateSink) -> None:
        """The ladder, where its rungs are, and how many rounds there are."""
        super().save(out)
        out.put("rungs", np.array(self.rungs))
        out.put("rounds", np.array([self.rounds]))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        rungs = np.asarray(state.get("rungs", ()), dtype=np.float64)
        if len(rungs) not in (1, RUNGS) or not np.all(np.isfinite(rungs) & (rungs >= 0)):
            raise CorruptError("the saved state has no ladder of l1 weights")
        rounds = np.asarray(state.get("rounds", ()))
        if rounds.shape != (1,) or not 1 <= rounds[0] <= self.rounds:
            raise CorruptError("the saved state does not say how many rounds its search has")
        self.rungs, self.rounds = rungs.tolist(), int(rounds[0])
        self.kernel = self.ladder = self._new_ladder()
        super().restore(state)

    def start_again(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The ladder goes on; it is the last one. A search has narrowed it to what left k of the features
        before, and that may leave fewer of more rows: its smallest weight becomes 0, which leaves enough.
        """
        rungs = np.array(state.get("rungs", ()), dtype=np.float64)
        if len(rungs) > 1:
            rungs[-1] = 0.0
        super().start_again({**state, "rungs": rungs})
        self.rounds = 1
