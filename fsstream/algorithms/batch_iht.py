"""Batch IHT: weights gather in an explicit table; when it is full it is pruned to the k largest.

Objective  as iht.
Row        w <- w - learning_rate * slope * x over all features met since the last prune; once the
           table is full, w <- H_k(w). Between prunes all of the table counts in predictions.
Paper      Aghazadeh et al.: "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches",
           ICML 2018, the baseline Batch IHT of section 6.1, with its memory rule: as many entries
           as the sketch it is compared with has cells, for each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fsstream.algorithms.iht import Iht, IhtParameters
from fsstream.algorithms.learner import Common, Task, parameter
from fsstream.algorithms.mission_parameters import DEPTH, NAME_BYTES, MissionParameters, sketch_width
from fsstream.errors import UsageError

ENTRY_BYTES = 48  # of an entry of the table, whose index is as empty as it gets


@dataclass(frozen=True)
class BatchIhtParameters(IhtParameters):
    """What `--set` can change."""

    table: int = parameter(
        0,
        "weights in the table before it is pruned to k; 0: as many as mission's sketch has cells for this k",
        low=0,
        high=1 << 30,
    )


class BatchIht(Iht):
    """SGD over a table of explicit weights, pruned to the k largest when it is full.

    Steps are of 0.5 unless --learning-rate is given; with a squared loss they are then shorter in long rows.
    """

    name: ClassVar[str] = "batch-iht"
    summary: ClassVar[str] = "batch IHT: weights gather in a table that is pruned to the k largest when full"
    paper: ClassVar[str] = "MISSION: Ultra Large-Scale Feature Selection using Count-Sketches, section 6.1"
    Parameters: ClassVar[type] = BatchIhtParameters

    @classmethod
    def table(cls, common: Common, parameters: Any) -> int:
        """As asked for, or the cells of the sketch."""
        like = MissionParameters(sketch_depth=DEPTH)
        least = (common.k or 1) + 1  # where --memory leaves no room for that, it is told as such
        entries: int = parameters.table or max(least, like.sketch_depth * sketch_width(common, like))
        if entries <= (common.k or 1):
            raise UsageError(
                f"table={entries} holds no more than the {common.k} features to select",
                hint="--set table=N with N above --k",
            )
        return entries

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """The table of each class known by now, and names; few features leave most of it untouched."""
        classes = max(1, len(task.labels)) if task.loss == "softmax" else 1
        entries = cls.table(common, parameters) * classes
        return {"table, at most": ENTRY_BYTES * entries, "names, at most": NAME_BYTES * entries}
