"""Changes of what a loader reads: of JSON values, arrays, archives taken apart, and bytes. Each is drawn."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.archive import Members

LETTERS = b'\0\xff"=[]\n 1x.-{},:\\eE0e'
ODD = [None, -1, 0, 1.5, 2**70, "", "x", [], {}, [[]], True, "\udcff", float("nan"), float("inf")]
DIGEST = 64


class Draws:
    """What is drawn for one changed file: `random.Random` takes longer to start than a loader needs."""

    def __init__(self, seed: int) -> None:
        self._seed = b"%d" % seed
        self._more()

    def _more(self) -> None:
        self._seed = hashlib.blake2b(self._seed).digest()
        self._state = int.from_bytes(self._seed, "little")

    def below(self, bound: int) -> int:
        """From 0 on: the digits, to that base, of a large number."""
        self._state, drawn = divmod(self._state, bound)
        if self._state < 1 << 30:
            self._more()
        return drawn

    def chance(self, share: float) -> bool:
        """True so often."""
        return self.below(1024) < share * 1024

    def choice(self, items: Sequence[Any]) -> Any:
        """One of them."""
        return items[self.below(len(items))]


def changed(value: Any, rng: Draws) -> Any:
    """The same JSON value with one thing in it changed, left out or of another type."""
    if isinstance(value, dict) and value and rng.chance(0.9):
        key = rng.choice(sorted(value))
        rest = {name: inside for name, inside in value.items() if name != key}
        return rest if rng.chance(0.15) else {**rest, key: changed(value[key], rng)}
    if isinstance(value, list | tuple) and value and rng.chance(0.8):
        place = rng.below(len(value))
        return [*value[:place], changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(ODD)


def changed_array(array: Any, rng: Draws) -> Any:
    """Another length, another type, or another bit."""
    way = rng.below(4)
    if way == 0:
        return array[: len(array) // 2] if array.ndim else array.reshape(1)
    if way == 1:
        with np.errstate(all="ignore"):
            return array.astype("f8" if array.dtype.kind != "f" else "u8")
    if way == 2 and array.dtype.kind == "f" and array.size:
        other = array.copy()
        other.reshape(-1)[rng.below(array.size)] = rng.choice([np.nan, np.inf, -0.0, 1e30, -1.0])
        return other
    raw = bytearray(array.tobytes() or b"\0")
    raw[rng.below(len(raw))] ^= 1 << rng.below(8)
    return np.frombuffer(bytes(raw), array.dtype).reshape(array.shape) if array.nbytes else array


def changed_meta(meta: dict[str, Any], rng: Draws) -> dict[str, Any]:
    """One thing in the description of an archive is another, or is left out."""
    other = changed(meta, rng)
    return other if isinstance(other, dict) else {}


def changed_members(members: Members, rng: Draws) -> Members:
    """One array is another, or is left out."""
    name = rng.choice(list(members) or [""])
    if name not in members or rng.chance(0.2):
        return {key: array for key, array in members.items() if key != name}
    return {**members, name: changed_array(members[name], rng)}


def changed_parts(meta: dict[str, Any], members: Members, rng: Draws) -> tuple[dict[str, Any], Members]:
    """One to three things in the description or in the arrays of an archive."""
    for _ in range(1 + rng.below(3)):
        if rng.chance(0.6):
            meta = changed_meta(meta, rng)
        else:
            members = changed_members(members, rng)
    return meta, members


def changed_bytes(data: bytes, rng: Draws) -> bytes:
    """Some bytes are others, left out, or there twice."""
    made = bytearray(data)
    for _ in range(1 + rng.below(4)):
        place = rng.below(len(made) + 1)
        way = rng.below(4)
        if way == 0:
            made[place:place] = bytes([rng.choice(LETTERS)])
        elif way == 1:
            del made[place : place + 1 + rng.below(8)]
        elif way == 2:
            made[place:place] = made[place : place + 1 + rng.below(30)]
        elif place < len(made):
            made[place] = rng.choice(LETTERS) if rng.chance(0.5) else rng.below(256)
    return bytes(made)


def sealed(data: bytes) -> bytes:
    """With the digest that an archive of these bytes has."""
    return data[:-DIGEST] + hashlib.sha256(data[:-DIGEST]).hexdigest().encode()
