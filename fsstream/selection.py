"""Selection: which features were chosen, by what weight. Immutable; the end of every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Selection:
    """Parallel columns, one entry a selected feature, in no particular order.

    `names` are bytes exactly as in the input; a learner gives `classes` by number, the runner names
    them; `classes` and `groups` are None when the run has
    none; `extra` holds further columns of numbers to be written under their own key (a
    stability share, say).
    """

    names: Sequence[bytes]
    weights: NDArray[np.float32]
    classes: Sequence[str] | Sequence[int] | None = None
    groups: Sequence[str] | None = None
    extra: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = [self.weights, self.classes, self.groups, *self.extra.values()]
        if any(column is not None and len(column) != len(self.names) for column in columns):
            raise ValueError("the columns of a selection have one entry a feature")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> list[int]:
        """Output order: class after class, larger |weight| first, then the name in byte order."""
        size = np.abs(self.weights)
        classes = self.classes or [""] * len(self)
        rank_of_class = {label: rank for rank, label in enumerate(dict.fromkeys(classes))}
        return sorted(range(len(self)), key=lambda i: (rank_of_class[classes[i]], -size[i], self.names[i]))
