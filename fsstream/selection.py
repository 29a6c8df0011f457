"""Selection: which features were chosen, by what weight. Immutable; the end of every run."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fsstream._native import output_order
from fsstream.numerics import np
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsstream.numerics import Floats


@dataclass(frozen=True, repr=False)
class Selection:
    """Parallel columns, one entry a selected feature; a model's are in output order.

    `raw_names` are bytes exactly as in the input, `names` the same as text; `raw_weights` are the 32-bit
    floats wherever they lie, `weights` the same as an array; a learner gives `classes` by number, the
    runner names them; `classes` and `groups` are None when the run has none; `extra`
    holds further columns of numbers to be written under their own key (a stability share, say).

    >>> chosen = Selection([b"free", b"re"], np.array([0.5, -2], np.float32)).ranked()
    >>> chosen.names
    ['re', 'free']
    >>> chosen.to_dict()
    {'re': -2.0, 'free': 0.5}
    >>> print(chosen.to_jsonl(), end="")
    {"rank":1,"feature":"re","weight":-2.0}
    {"rank":2,"feature":"free","weight":0.5}
    """

    raw_names: Sequence[bytes]
    raw_weights: Floats
    classes: Sequence[str] | Sequence[int] | None = None
    groups: Sequence[str] | None = None
    extra: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = [self.raw_weights, self.classes, self.groups, *self.extra.values()]
        if any(column is not None and len(column) != len(self.raw_names) for column in columns):
            raise ValueError("the columns of a selection have one entry a feature")

    def __len__(self) -> int:
        return len(self.raw_names)

    def __repr__(self) -> str:
        return f"<{len(self)} features: {self.beginning}>"

    @property
    def beginning(self) -> str:
        """The first names, for whoever looks at it in a shell."""
        return ", ".join(map(to_text, self.raw_names[:5])) + (", ..." if len(self) > 5 else "")

    @cached_property
    def names(self) -> list[str]:
        """The names as text; bytes that are not UTF-8 become lone surrogates."""
        return [to_text(name) for name in self.raw_names]

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The weights as an array."""
        return np.asarray(self.raw_weights)

    @cached_property
    def order(self) -> list[int]:
        """Output order: class after class, larger |weight| first, then the name in byte order."""
        if self.classes is None:
            return output_order(self.raw_names, self.raw_weights)
        number = {label: number for number, label in enumerate(dict.fromkeys(self.classes))}
        return output_order(self.raw_names, self.raw_weights, [number[label] for label in self.classes])

    def ranked(self) -> Selection:
        """The same features in output order."""
        return self if self.order == list(range(len(self))) else self.at(self.order)

    def at(self, places: Sequence[int]) -> Selection:
        """The features at these places."""
        weights = self.raw_weights
        return Selection(
            [self.raw_names[i] for i in places],
            array("f", [weights[i] for i in places]),
            None if self.classes is None else [self.classes[i] for i in places],  # type: ignore[arg-type]
            None if self.groups is None else [self.groups[i] for i in places],
            {key: column[places] for key, column in self.extra.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Weights by name; with several classes, such a dict for each class."""
        weights = [float(weight) for weight in self.raw_weights]
        if self.classes is None:
            return dict(zip(self.names, weights, strict=True))
        by_class: dict[str, dict[str, float]] = {str(label): {} for label in dict.fromkeys(self.classes)}
        for label, name, weight in zip(self.classes, self.names, weights, strict=True):
            by_class[str(label)][name] = weight
        return by_class

    def to_jsonl(self) -> str:
        """What the command writes: one object a line, largest |weight| first."""
        from fsstream.output import selection_lines

        return selection_lines(self).decode()
