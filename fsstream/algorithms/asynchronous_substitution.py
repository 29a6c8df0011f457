"""Asynchronous Online Substitution: q workers keep k/q features each and share predictions only.

Objective  as `os`, rule=paper; there is no descent check.
Paper      Yang, Fujimaki, Kusumura, Liu, KDD 2016, Algorithms 2 (the exchange) and 3 (a worker).
Default    The paper's own simulation on one thread: what the others pushed during the last q pushes
           is not seen. Seeded, the same output every time.
asynchronous=yes  One native thread a worker; contributions are written and read without locks. The
           outcome depends on timing; the staleness that was met is measured.
Ours       A feature belongs to the worker its key is mixed to with --seed. eta = 0.5 / L_F with each
           worker's own estimate of L_F; m = sqrt(q), with which the bound of Theorem 2 does not
           depend on q. A share that does not divide k evenly goes to the first workers; places that
           a worker's features do not fill go to the heaviest that the others turned away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.column_learner import (
    NAME,
    ColumnLearner,
    at_most,
    check_step,
    column_bytes,
    refit_parameter,
    sample_targets,
    samples_of,
    scale_parameter,
)
from fsstream.algorithms.learner import Common, Task, parameter, required_k
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AsynchronousParameters:
    """What `--set` can change."""

    asynchronous: str = parameter(
        "no",
        "no: the workers are simulated, with the same result every time; yes: one thread for each, and the "
        "result depends on timing",
        choices=("no", "yes"),
    )
    m: float = parameter(
        0.0,
        "features that are kept take steps this many times smaller than a new one; 0: the root of --workers",
        low=0,
    )
    refit: str = refit_parameter()
    scale: str = scale_parameter()


class AsynchronousSubstitution(ColumnLearner):
    """The paper's: Algorithms 2 and 3, and the simulation of q workers with staleness q.
    Ours: features go to workers by their mixed keys; where a worker's features are fewer than its share,
    what others turned away makes up for them; eta = 0.5 / L_F from each worker's own estimate of L_F; m
    is the root of --workers; two scans unless --passes says otherwise; asynchronous=yes, native threads
    that share predictions without locks.
    """

    name: ClassVar[str] = "asy-os"
    summary: ClassVar[str] = "os by several workers that share predictions only; simulated, or native threads"
    paper: ClassVar[str] = "Online Feature Selection: ... Asynchronous Parallel Variation, Algorithms 2 and 3"
    uses: ClassVar[frozenset[str]] = frozenset(
        {"k", "l2", "passes", "intercept", "learning_rate", "workers", "seed"}
    )
    default_passes: ClassVar[int] = 2  # the first scan judges early features by what is not there yet
    Parameters: ClassVar[type] = AsynchronousParameters
    kernel: _native.AsynchronousSubstitution

    def __init__(self, common: Common, parameters: AsynchronousParameters, task: Task) -> None:
        k = required_k(common.k)
        if common.workers > k:
            raise UsageError(
                f"{common.workers} workers cannot share {k} features", hint="use at most k --workers"
            )
        self.refit = parameters.refit == "yes"
        self.threads = parameters.asynchronous == "yes"
        kernel = _native.AsynchronousSubstitution(
            sample_targets(task),
            task.loss,
            k=k,
            workers=common.workers,
            threads=self.threads,
            step=check_step(common),
            retained_divisor=parameters.m,
            seed=common.seed,
            intercept=common.intercept,
            ridge=common.l2,
            unit_scale=parameters.scale == "unit",
        )
        super().__init__(kernel, common.passes)

    def chosen(self) -> tuple[list[bytes], NDArray[np.float32], float]:
        """The workers' features together, refitted unless that is not wanted."""
        return self.kernel.select(self.refit)

    def facts(self) -> Mapping[str, Any]:
        """Arrivals a worker, and the staleness that was met: pushes of others between pull and push."""
        counts = self.kernel.counts
        seen = sum(count[0] for count in counts)
        return {
            "scans": self.scans,
            "features_seen": seen,
            "entered": sum(count[1] for count in counts),
            "name_collisions": sum(count[2] for count in counts),
            "seen_by_worker": [count[0] for count in counts],
            **self._staleness(seen, counts),
            "objective": self.kernel.objective,
        }

    def _staleness(self, seen: int, counts: list[tuple[int, int, int, int, int]]) -> dict[str, float]:
        if not self.threads:
            return {"simulated_staleness": len(counts) if len(counts) > 1 else 0}
        return {
            "mean_staleness": sum(count[3] for count in counts) / max(seen, 1),
            "largest_staleness": max(count[4] for count in counts),
        }

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Retained columns, once more while they are refitted, and the exchange."""
        k, samples = required_k(common.k), samples_of(task)
        workers = common.workers
        return {
            "columns": 2 * column_bytes(samples, at_most(k + workers, task)),
            "vectors": 8 * samples * (4 * workers + 6),
            "names": NAME * (k + workers),
        }
