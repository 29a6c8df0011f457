"""What an additive kernel makes of chosen features: what a name like `height#17` stands for.

In: kernel, shape (the exponent of histogram intersection, the width of Gaussian), and the range of
values that each chosen feature had in training. Out: the map of a value to its features, and what
scores rows by them. `NAME#b` is feature b of what the value of NAME becomes; the number follows the
last `#`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsstream._native import AdditiveMap, AdditiveModel
from fsstream.archive import pack_texts, unpack_texts
from fsstream.numerics import np
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsstream.numerics import Numbers
    from fsstream.selection import Selection

ADDITIVE_KERNELS = ("histogram", "gaussian")


def part_name(name: bytes, part: int) -> bytes:
    """Of feature `part` of what the values of `name` become."""
    return name + b"#%d" % part


def split_part(name: bytes) -> tuple[bytes, int]:
    """The input feature and the part; ValueError when it is no such name."""
    base, mark, number = name.rpartition(b"#")
    if not mark or not number.isdigit() or len(number) > 4:
        raise ValueError("not a part of a feature")
    return base, int(number)


@dataclass(frozen=True)
class Expansion:
    """An additive kernel over some inputs."""

    kernel: str
    shape: float
    names: Sequence[bytes]
    lows: NDArray[np.float32]
    highs: NDArray[np.float32]

    @property
    def input_names(self) -> Sequence[bytes]:
        """What is expanded, as the stream calls it."""
        return self.names

    def native_map(self) -> AdditiveMap:
        """What computes the features of a value."""
        return AdditiveMap(self.kernel, self.shape)

    def predictor(
        self,
        selection: Selection,
        classes: NDArray[np.uint32],
        intercepts: NDArray[np.float64],
        key_of: Callable[[bytes], int],
    ) -> AdditiveModel:
        """What scores rows."""
        places, parts = self.places(selection.raw_names)
        return AdditiveModel(
            self.native_map(),
            np.array([key_of(name) for name in self.names], dtype=np.uint64),
            self.lows,
            self.highs,
            places,
            parts,
            selection.weights,
            classes,
            intercepts,
        )

    def places(self, names: Sequence[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Which input each name is of, and which part of it; ValueError for a stranger."""
        place = {name: number for number, name in enumerate(self.names)}
        split = [split_part(name) for name in names]
        features = self.native_map().features
        if not place.keys() >= {base for base, _ in split} or any(part >= features for _, part in split):
            raise ValueError("a feature of nothing that was expanded")
        return (
            np.array([place[base] for base, _ in split], dtype=np.uint32),
            np.array([part for _, part in split], dtype=np.uint32),
        )

    def check(self, selection: Selection, classes: NDArray[np.uint32]) -> None:
        """ValueError unless every feature of the selection is one of these."""
        self.places(selection.raw_names)

    def inputs_of(self, names: Sequence[bytes]) -> list[bytes]:
        """The inputs that these features are made of, in their order."""
        return list(dict.fromkeys(split_part(name)[0] for name in names))

    def described(self) -> dict[str, Any]:
        """For `inspect`."""
        shape = {"exponent" if self.kernel == "histogram" else "width": self.shape}
        ranges = zip(self.names, self.lows.tolist(), self.highs.tolist(), strict=True)
        return {
            "expansion": {"kernel": self.kernel, **shape},
            "inputs": {to_text(name): [low, high] for name, low, high in ranges},
        }

    def parts(self) -> tuple[dict[str, Any], dict[str, Numbers]]:
        """For the model file: facts and arrays."""
        names = {f"names_{part}": array for part, array in pack_texts(list(self.names)).items()}
        return {"expands": self.kernel, "shape": self.shape}, {
            "lows": self.lows,
            "highs": self.highs,
            **names,
        }

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Expansion:
        """What `parts` gave; KeyError, TypeError or ValueError when it cannot be."""
        names = unpack_texts(arrays["names_bytes"], arrays["names_ends"])
        lows, highs = (arrays[end].astype(np.float32) for end in ("lows", "highs"))
        kernel, shape = str(facts["expands"]), float(facts["shape"])
        if kernel not in ADDITIVE_KERNELS or not 0 < shape < np.inf:
            raise ValueError("no such kernel")
        if lows.shape != (len(names),) or highs.shape != lows.shape or len(set(names)) != len(names):
            raise ValueError("ranges do not fit the inputs")
        if not (np.isfinite(lows).all() and np.isfinite(highs).all() and (lows <= highs).all()):
            raise ValueError("a range of no numbers")
        return cls(kernel, shape, names, lows, highs)

    @classmethod
    def joined(cls, parts: Sequence[Expansion]) -> Expansion:
        """One of those of several classes, which saw the same rows and so the same ranges."""
        ranges = {
            name: (low, high)
            for part in parts
            for name, low, high in zip(part.names, part.lows, part.highs, strict=True)
        }
        ends = np.array(list(ranges.values()), dtype=np.float32).reshape(-1, 2)
        return cls(parts[0].kernel, parts[0].shape, list(ranges), ends[:, 0].copy(), ends[:, 1].copy())
