"""Learners of shards, as their states: plain arrays by name, and the share of all rows that each has seen.

    mean     of what is linear in the weights: sketches, tables, intercepts
    total    of what counts rows: evidence, squares of gradients, progressive losses
    union    of the features that some have; a feature that one has not has what its sketch says

Sums run over the states in the order of their digests, so the result does not hang on the order in which
they are named.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream.errors import CorruptError
from fsstream.state import under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    State = Mapping[str, NDArray[Any]]

_STORED_BELOW = 0xFFFFFE00  # lengths of names that are written down; others tell how a key spells its own


class Shards:
    """States of learners with equal options, and what share of the rows each has seen."""

    def __init__(
        self, states: Sequence[State], rows: Sequence[int], classes: Sequence[NDArray[np.int64]] = ()
    ) -> None:
        order = sorted(range(len(states)), key=lambda index: (_digest(states[index]), rows[index]))
        seen = np.array([rows[index] for index in order], dtype=np.float64)
        self.states = [states[index] for index in order]
        self.classes = [classes[index] for index in order] if classes else []  # of the merged, by own number
        self.shares: list[float] = (seen / seen.sum()).tolist()

    def part(self, prefix: str) -> Shards:
        """The arrays under a prefix, in the same order and with the same shares."""
        return self.with_states([under(prefix, state) for state in self.states])

    def of_class(self, number: int) -> Shards:
        """Those that have met a class, with the part of their state that lies under its own number."""
        places = [np.flatnonzero(own == number).tolist() for own in self.classes]
        met = [shard for shard, place in enumerate(places) if place]
        found = self.with_states([under(f"{places[shard][0]}/", self.states[shard]) for shard in met])
        found.classes = []
        whole = sum(self.shares[shard] for shard in met)
        found.shares = [self.shares[shard] / whole for shard in met]
        return found

    def with_states(self, states: list[State]) -> Shards:
        """Other states of the same shards."""
        found = Shards.__new__(Shards)
        found.classes, found.shares, found.states = self.classes, self.shares, states
        return found

    def mean(self, arrays: str | Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """By rows, of an array of each."""
        parts = self._parts(arrays)
        whole: NDArray[np.float64] = np.sum(
            [s * part for s, part in zip(self.shares, parts, strict=True)], axis=0
        )
        return whole

    def total(self, arrays: str | Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """The sum of an array of each."""
        whole: NDArray[np.float64] = np.sum(self._parts(arrays), axis=0)
        return whole

    def count(self, name: str) -> NDArray[np.uint64]:
        """The sum of whole numbers."""
        whole: NDArray[np.uint64] = np.sum([state[name] for state in self.states], axis=0, dtype=np.uint64)
        return whole

    def _parts(self, arrays: str | Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
        if isinstance(arrays, str):
            arrays = [state[arrays] for state in self.states]
        parts = [np.asarray(array, dtype=np.float64) for array in arrays]
        if any(part.shape != parts[0].shape for part in parts):
            raise CorruptError("the states are of different shapes")
        return parts


@dataclass(frozen=True)
class Features:
    """Features that some of the states have: keys ascending, each with its name."""

    keys: NDArray[np.uint64]
    lengths: NDArray[np.uint64]  # of names, or how the key spells it
    names: list[bytes]
    seats: list[NDArray[np.int64]]  # of each state's own features among these

    @classmethod
    def union(cls, shards: Shards, prefix: str = "") -> Features:
        """Of an active set (prefix `active_`), or of a table of slots."""
        texts = ("active_names", "active_name_lengths") if prefix else ("name_bytes", "name_lengths")
        own = [state[f"{prefix}keys"] for state in shards.states]
        keys, first = np.unique(np.concatenate(own), return_index=True)
        lengths = np.concatenate([state[texts[1]] for state in shards.states])
        names = [name for state in shards.states for name in _names(state[texts[0]], state[texts[1]])]
        seats = [np.searchsorted(keys, some) for some in own]
        return cls(keys, lengths[first], [names[index] for index in first.tolist()], seats)

    def spread(self, shard: int, values: NDArray[Any], others: Any = 0.0) -> NDArray[np.float64]:
        """A state's values, one a feature of its own, in the places of the union; `others` elsewhere."""
        shape = (len(self.keys), *values.shape[1:])
        spread = np.array(np.broadcast_to(others, shape), dtype=np.float64)
        spread[self.seats[shard]] = values
        return spread

    def has(self, shard: int) -> NDArray[np.bool_]:
        """Which of them a state has."""
        found = np.zeros(len(self.keys), dtype=bool)
        found[self.seats[shard]] = True
        return found

    def best(self, claims: NDArray[np.float64], keep: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the `keep` largest claims, ties to the smaller key, and of the others; ascending."""
        order = np.argsort(-claims, kind="stable")
        return np.sort(order[:keep]), np.sort(order[keep:])

    def arrays(self, places: NDArray[np.int64], prefix: str = "") -> dict[str, NDArray[Any]]:
        """Keys and names of some, as a state has them."""
        texts = ("active_names", "active_name_lengths") if prefix else ("name_bytes", "name_lengths")
        joined = b"".join(self.names[place] for place in places.tolist())
        return {
            f"{prefix}keys": self.keys[places],
            texts[1]: self.lengths[places],
            texts[0]: np.frombuffer(joined, dtype=np.uint8),
        }


def _names(text: NDArray[Any], lengths: NDArray[Any]) -> list[bytes]:
    """The names that are written down; empty where the key spells it."""
    whole, start, names = text.tobytes(), 0, []
    for length in lengths.tolist():
        size = length if length < _STORED_BELOW else 0
        names.append(whole[start : start + size])
        start += size
    return names


def _digest(state: State) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(state):
        digest.update(name.encode() + b"\0")
        digest.update(np.ascontiguousarray(state[name]).tobytes())
    return digest.digest()
