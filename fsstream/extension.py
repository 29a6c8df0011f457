"""From what a backend took on beginnings of a stream to what it will take on all of it.

In: trials on larger and larger beginnings, and how many features they hold. Out: bytes, seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

NOISE = 1 << 20  # bytes of memory that two runs of one kind may differ by


@dataclass(frozen=True)
class Measured:
    """What a trial took."""

    size: int
    memory: int
    seconds: float
    passes: int
    work: float = 0.0  # seconds of processor time
    numpy: bool = False  # loaded, whatever it was for


class Beginning(Protocol):
    """Of the stream: what was looked at."""

    @property
    def size(self) -> int:
        """Its bytes."""

    @property
    def share(self) -> float:
        """Of all bytes."""

    def features_in(self, size: float) -> float:
        """Distinct features in so many bytes from the start, beyond what was looked at too."""


def memory_at_end(
    apart: list[int], trials: list[Measured], head: Beginning, table: Callable[[float], int]
) -> float:
    """What a learner will have in memory: it grows like the entries, like the features, or not at all.

    Which of them is told by the last three trials; what was there from the beginning stays as it was. A table
    of all features, whose bytes `table` knows, grows by leaps that no trial may show: it is reckoned.
    """
    whole = head.size / head.share
    tables = [table(head.features_in(size)) for size in (*(trial.size for trial in trials), whole)]
    apart = [size - table for size, table in zip(apart, tables, strict=False)]
    return tables[-1] + _rest(apart, trials, head)


def _rest(apart: list[int], trials: list[Measured], head: Beginning) -> float:
    last = float(apart[-1])
    if len(apart) < 2 or last - apart[-2] <= NOISE:
        return max(last, 0.0)
    sizes = [trial.size for trial in trials] + [head.size / head.share]
    causes = [sizes, [head.features_in(size) for size in sizes]]  # entries go with the bytes
    steps = min((_steps(cause, apart) for cause in causes), key=lambda step: step.misses)
    return last + (last - apart[-2]) * steps.to_end


@dataclass(frozen=True)
class _Steps:
    misses: float  # how far the cause is from what the trials show
    to_end: float  # how long the step to the end is, in steps from the last trial but one to the last


def _steps(cause: list[float], apart: list[int]) -> _Steps:
    """A third trial is held against a line through two; of two, their ratio against the cause's."""
    before, now, end = cause[-3:]
    if now <= before or (len(apart) > 2 and before <= cause[-4]):
        return _Steps(math.inf, 0.0)
    if len(apart) > 2:
        slope = (apart[-2] - apart[-3]) / (before - cause[-4])
        misses = abs(apart[-2] + slope * (now - before) - apart[-1])
    else:
        misses = abs(math.log(now / before * max(apart[-2], NOISE) / apart[-1]))
    return _Steps(misses, (end - now) / (now - before))


def time_at_end(trials: list[Measured], head: Beginning) -> float:
    """Seconds of the whole: by the power of the bytes that the last two trials show, at least linear."""
    last = trials[-1]
    ratio = head.size / head.share / last.size
    if len(trials) < 2:
        return last.seconds * ratio
    before = trials[-2]
    power = math.log(last.seconds / before.seconds) / math.log(last.size / before.size)
    return float(last.seconds * ratio ** min(max(power, 1.0), 2.0))
