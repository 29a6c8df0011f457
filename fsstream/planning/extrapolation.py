"""From what a backend took on beginnings of a stream to what it will take on all of it.

In: trials on larger and larger beginnings, and how many features they hold. Out: bytes, seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsstream.planning.beginning import Beginning

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


def memory_at_end(
    learners: list[int], trials: list[Measured], head: Beginning, table: Callable[[float], int]
) -> float:
    """What a learner will have in memory: it grows like the entries, like the features, or not at all.

    `learners` are the bytes of the learner of each trial, without those of reading. Which of the three is
    told by the last three trials; what was there from the beginning stays as it was. A table of all features,
    whose bytes `table` knows, grows by leaps that no trial may show: it is reckoned.
    """
    whole = head.size / head.share
    tables = [table(head.features_in(trial.size)) for trial in trials]
    rests = [learner - known for learner, known in zip(learners, tables, strict=True)]
    return table(head.features_in(whole)) + _rest_at_end(rests, trials, head)


def _rest_at_end(rests: list[int], trials: list[Measured], head: Beginning) -> float:
    last = float(rests[-1])
    if len(rests) < 2 or last - rests[-2] <= NOISE:
        return max(last, 0.0)
    sizes = [trial.size for trial in trials] + [head.size / head.share]
    causes = [sizes, [head.features_in(size) for size in sizes]]  # entries go with the bytes
    steps = min((_steps(cause, rests) for cause in causes), key=lambda step: step.misses)
    return last + (last - rests[-2]) * steps.to_end


@dataclass(frozen=True)
class _Steps:
    misses: float  # how far the cause is from what the trials show
    to_end: float  # how long the step to the end is, in steps from the last trial but one to the last


def _steps(cause: list[float], rests: list[int]) -> _Steps:
    """A third trial is held against a line through two; of two, their ratio against the cause's."""
    before, now, end = cause[-3:]
    if now <= before or (len(rests) > 2 and before <= cause[-4]):
        return _Steps(math.inf, 0.0)
    if len(rests) > 2:
        slope = (rests[-2] - rests[-3]) / (before - cause[-4])
        misses = abs(rests[-2] + slope * (now - before) - rests[-1])
    else:
        misses = abs(math.log(now / before * max(rests[-2], NOISE) / rests[-1]))
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
