"""The basis of random features: what a name like `gaussian#17` stands for, kept in the model.

In: inputs (keys, centre, scale), kernel, width, seed. Out: the directions of any feature, drawn by its
number; nothing but its number is ever stored. Features that were learned, not drawn (boosting), bring
their directions along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fsstream._native import FeatureMap, RandomBasis, RandomFeatureModel
from fsstream.archive import pack_texts, unpack_texts
from fsstream.numerics import np
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsstream.numerics import Numbers
    from fsstream.selection import Selection

    Directions = NDArray[np.float32]  # inputs x features
    Offsets = NDArray[np.float32]

KERNELS = ("gaussian", "laplacian", "perceptron")


@dataclass(frozen=True)
class Inputs:
    """The inputs as columns: value j counts as (value - centre) * inverse."""

    names: Sequence[bytes]
    keys: NDArray[np.uint64]
    centres: NDArray[np.float64]
    inverses: NDArray[np.float64]
    logarithms: bool = False  # of values, sign kept, before anything else

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class Learned:
    """Features with directions of their own."""

    numbers: NDArray[np.uint64]
    classes: NDArray[np.uint32]  # numbers count for each class by itself
    directions: Directions
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True)
class Basis:
    """A kernel's random features over some inputs."""

    kernel: str
    seed: int
    width: float
    reach: float  # of perceptrons: thresholds are uniform in -reach .. reach, unless there are anchors
    inputs: Inputs
    anchors: NDArray[np.float32] | None = None  # rows of the data that the planes of perceptrons go by
    effects: NDArray[np.float64] | None = None  # root mean square change of the score, by input
    learned: Learned | None = None

    @property
    def input_names(self) -> Sequence[bytes]:
        """What it is made of, as the stream calls it."""
        return self.inputs.names

    @property
    def shape(self) -> str:
        """What is made of the projection of a row."""
        return "step" if self.kernel == "perceptron" else "wave"

    def name_of(self, number: int) -> bytes:
        """`kernel#index`."""
        return f"{self.kernel}#{number}".encode()

    def numbers_of(self, names: Sequence[bytes]) -> NDArray[np.uint64]:
        """The indices in names; ValueError for a name of something else."""
        prefix = f"{self.kernel}#".encode()
        numbers = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        if len(numbers) < len(names) or not all(number.isdigit() and len(number) < 20 for number in numbers):
            raise ValueError("a feature of another kernel")
        return np.array([int(number) for number in numbers], dtype=np.uint64)

    def draw(self, numbers: NDArray[np.uint64]) -> tuple[Directions, Offsets]:
        """The directions and offsets of drawn features."""
        inputs = self.inputs
        anchors = np.zeros((0, len(inputs)), np.float32) if self.anchors is None else self.anchors
        native = RandomBasis(
            self.kernel,
            self.seed,
            self.width,
            self.reach,
            inputs.keys,
            inputs.centres,
            inputs.inverses,
            anchors,
        )
        return native.draw(numbers)

    def map_of(self, numbers: NDArray[np.uint64]) -> FeatureMap:
        """What computes drawn features."""
        return FeatureMap(self.shape, *self.draw(numbers))

    def selected_map(self, names: Sequence[bytes], classes: NDArray[np.uint32]) -> FeatureMap:
        """What computes the features of a selection."""
        if self.learned is None:
            return self.map_of(self.numbers_of(names))
        columns = self.columns_of(names, classes)
        directions = np.ascontiguousarray(self.learned.directions[:, columns])
        return FeatureMap(self.shape, directions, self.learned.offsets[columns])

    def predictor(
        self,
        selection: Selection,
        classes: NDArray[np.uint32],
        intercepts: NDArray[np.float64],
        key_of: Callable[[bytes], int],  # the inputs bring their own
    ) -> RandomFeatureModel:
        """What scores rows."""
        inputs = self.inputs
        chosen = self.selected_map(selection.raw_names, classes)
        return RandomFeatureModel(
            chosen, inputs.logarithms, inputs.keys, selection.weights, classes, intercepts
        )

    def check(self, selection: Selection, classes: NDArray[np.uint32]) -> None:
        """ValueError unless every feature of the selection is one of these."""
        self.columns_of(selection.raw_names, classes)

    def columns_of(self, names: Sequence[bytes], classes: NDArray[np.uint32]) -> list[int]:
        """Where the directions of each feature stand, or its number; ValueError for a stranger."""
        numbers: list[int] = self.numbers_of(names).tolist()
        learned = self.learned
        if learned is None:
            return numbers
        known = zip(learned.classes.tolist(), learned.numbers.tolist(), strict=True)
        place = {feature: column for column, feature in enumerate(known)}
        asked = list(zip(classes.tolist(), numbers, strict=True))
        if not place.keys() >= set(asked):
            raise ValueError("a feature that was never learned")
        return [place[feature] for feature in asked]

    def ranked_inputs(self) -> list[tuple[bytes, float]]:
        """Input and effect, the largest effect first; ties: the name in byte order."""
        if self.effects is None:
            return []
        pairs = zip(self.inputs.names, self.effects.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def described(self) -> dict[str, Any]:
        """For `inspect`."""
        return {
            "basis": {"kernel": self.kernel, "width": self.width, "seed": self.seed},
            "inputs": {to_text(name): effect for name, effect in self.ranked_inputs()},
        }

    def parts(self) -> tuple[dict[str, Any], dict[str, Numbers]]:
        """For the model file: facts and arrays."""
        facts = {"kernel": self.kernel, "seed": self.seed, "width": self.width, "reach": self.reach}
        facts["logarithms"] = self.inputs.logarithms
        arrays: dict[str, Numbers] = {
            "keys": self.inputs.keys,
            "centres": self.inputs.centres,
            "inverses": self.inputs.inverses,
            **{f"names_{part}": array for part, array in pack_texts(list(self.inputs.names)).items()},
        }
        if self.anchors is not None:
            arrays["anchors"] = self.anchors
        if self.effects is not None:
            arrays["effects"] = self.effects
        if self.learned is not None:
            arrays |= {f"learned_{name}": array for name, array in vars(self.learned).items()}
        return facts, arrays

    @classmethod
    def joined(cls, parts: Sequence[Basis]) -> Basis:
        """One basis of those of several classes: the inputs are theirs all, the effects are averaged."""
        effects = [part.effects for part in parts if part.effects is not None]
        learned = [part.learned for part in parts if part.learned is not None]
        return replace(
            parts[0],
            effects=np.sqrt(np.mean(np.square(effects), axis=0)) if effects else None,
            learned=_of_classes(learned) if learned else None,
        )

    @classmethod
    def from_parts(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Basis:
        """What `parts` gave; KeyError, TypeError or ValueError when it cannot be."""
        kernel, width, reach = str(facts["kernel"]), float(facts["width"]), float(facts["reach"])
        if kernel not in KERNELS or not 0 < width < np.inf or not 0 <= reach < np.inf:
            raise ValueError("no such kernel")
        inputs = Inputs(
            unpack_texts(arrays["names_bytes"], arrays["names_ends"]),
            arrays["keys"].astype(np.uint64),
            arrays["centres"].astype(np.float64),
            arrays["inverses"].astype(np.float64),
            bool(facts["logarithms"]),
        )
        sizes = {len(inputs.names), len(inputs.centres), len(inputs.inverses)}
        sizes.add(len(np.unique(inputs.keys)))
        if sizes != {len(inputs)} or len(arrays.get("effects", inputs.keys)) != len(inputs):
            raise ValueError("inputs do not fit together")
        anchors = arrays.get("anchors")
        if anchors is not None:
            anchors = anchors.astype(np.float32)
            if anchors.shape != (len(anchors), len(inputs)) or not len(anchors):
                raise ValueError("anchors do not fit the inputs")
            if not np.isfinite(anchors).all():
                raise ValueError("an anchor is not a row of numbers")
        learned = None
        if "learned_directions" in arrays:
            learned = Learned(
                arrays["learned_numbers"].astype(np.uint64),
                arrays["learned_classes"].astype(np.uint32),
                arrays["learned_directions"].astype(np.float32),
                arrays["learned_offsets"].astype(np.float32),
            )
            count = {len(learned.numbers), len(learned.classes), len(learned.offsets)}
            if count != {len(learned)} or learned.directions.shape != (len(inputs), len(learned)):
                raise ValueError("directions do not fit the inputs")
        return cls(kernel, int(facts["seed"]), width, reach, inputs, anchors, arrays.get("effects"), learned)


def _of_classes(parts: Sequence[Learned]) -> Learned:
    return Learned(
        np.concatenate([part.numbers for part in parts]),
        np.repeat(np.arange(len(parts), dtype=np.uint32), [len(part) for part in parts]),
        np.concatenate([part.directions for part in parts], axis=1),
        np.concatenate([part.offsets for part in parts]),
    )
