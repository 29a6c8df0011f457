"""State on its way to a file and back: arrays by name, one after the other, none of them copied whole.

Out: a learner gives its arrays to a StateSink in pieces, as they lie in its own buffers. In: a learner asks
a mapping for the arrays that it wants, and has large ones read straight into its own buffers where the
mapping can do that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fsstream.numerics import np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from fsstream.numerics import Numbers

    State = Mapping[str, NDArray[Any]]
    Piece = memoryview | NDArray[np.uint8]


_TYPES = {"B": "|u1", "I": "<u4", "Q": "<u8", "f": "<f4", "d": "<f8"}  # of buffers, as numpy calls them


class StateSink(ABC):
    """Takes arrays, each as a beginning and the pieces of it; a piece holds only until the call ends."""

    @abstractmethod
    def start(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        """What follows is this array."""

    @abstractmethod
    def more(self, piece: Piece) -> None:
        """Further bytes of it."""

    def put(self, name: str, numbers: Numbers) -> None:
        """All of an array."""
        if isinstance(numbers, array | memoryview):
            view = memoryview(numbers)
            self.start(name, _TYPES[view.format], (len(view),))
            if len(view) > 0:
                self.more(view.cast("B"))
            return
        whole = np.asarray(numbers, order="C")
        self.start(name, whole.dtype.str, whole.shape)
        self.more(whole.reshape(-1).view(np.uint8))

    def put_all(self, state: Mapping[str, Numbers]) -> None:
        """All arrays, in the order of their names."""
        for name in sorted(state):
            self.put(name, state[name])


class Collected(StateSink):
    """Copies them."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._rest = np.empty(0, np.uint8)

    def start(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        """Make room."""
        array = self.arrays[name] = np.empty(shape, dtype)
        self._rest = array.reshape(-1).view(np.uint8)

    def more(self, piece: Piece) -> None:
        """Into that room."""
        found = np.frombuffer(piece, np.uint8)
        self._rest[: len(found)] = found
        self._rest = self._rest[len(found) :]


def collected(save: Callable[[StateSink], None]) -> dict[str, NDArray[Any]]:
    """What `save` puts."""
    out = Collected()
    save(out)
    return out.arrays


class Prefixed(StateSink):
    """Passes them on under longer names."""

    def __init__(self, out: StateSink, prefix: str) -> None:
        self._out, self._prefix = out, prefix

    def start(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        """With the prefix."""
        self._out.start(self._prefix + name, dtype, shape)

    def more(self, piece: Piece) -> None:
        """As it is."""
        self._out.more(piece)


class StoredState(Mapping[str, "NDArray[Any]"]):
    """Arrays that are read from where they are stored when they are asked for, each time anew."""

    @abstractmethod
    def read_into(self, name: str, dtype: str, room: memoryview) -> None:
        """Fill `room` with the array of that name and type; it must be of that size."""


class Under(StoredState):
    """The arrays of a state whose names begin so, without that."""

    def __init__(self, state: State, prefix: str) -> None:
        self._state, self._prefix = state, prefix

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._state[self._prefix + name]

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._state

    def __iter__(self) -> Iterator[str]:
        return (
            name.removeprefix(self._prefix) for name in list(self._state) if name.startswith(self._prefix)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def read_into(self, name: str, dtype: str, room: memoryview) -> None:
        """From where the whole state has it."""
        read_into(self._state, self._prefix + name, dtype, room)


def under(prefix: str, state: State) -> State:
    """The arrays whose names begin so, without that."""
    if isinstance(state, StoredState):
        return Under(state, prefix)
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def read_into(state: State, name: str, dtype: str, room: memoryview) -> None:
    """Fill `room` with an array; ValueError when there is none of that name, type and size."""
    if isinstance(state, StoredState):
        state.read_into(name, dtype, room)
        return
    array = state.get(name)
    if array is None or array.dtype != np.dtype(dtype) or array.nbytes != room.nbytes:
        raise ValueError(f"state: wrong size or type of {name}")
    room[:] = np.asarray(array, order="C").reshape(-1).view(np.uint8).data
