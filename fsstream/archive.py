"""Archives: the form of models, checkpoints and spools on disk.

A zip of stored `.npy` members and one `meta.json`, so numpy and zipfile read it without us. The
zip comment ends in the SHA-256 of everything before it, because a zip's own checks do not cover
its headers. Nothing is allocated from a number in the file before the digest has been checked,
and no array may claim more than the bytes it has.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import sys
import weakref
import zipfile
from array import array
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from fsstream.errors import CorruptError, opening
from fsstream.numerics import np
from fsstream.state import StateSink, StoredState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from fsstream.numerics import Numbers
    from fsstream.state import Piece

Members = dict[str, "NDArray[Any]"]

_MARK = b"fsstream sha256 "
_DIGEST_SIZE = 64
_PIECE_BYTES = 1 << 20
_OURS = "fsstream "
_MODEL, _CHECKPOINT = "fsstream model", "fsstream checkpoint"
_WAYS = {
    (_MODEL, _CHECKPOINT): "a run amid its input: `fsstream resume CHECKPOINT --model FILE` ends it",
    (_CHECKPOINT, _MODEL): "that run has ended: `fsstream select --init MODEL` goes on with further data",
}  # how to come by what was asked for
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes every time
_KINDS = "biufS"
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_ALIGNED, _NPY_LONGEST = 64, 21  # bytes: the content begins at a multiple; digits of a length
_LENGTHS = 26  # where a member's own header has the lengths of its name and of extra fields


def write(file: BinaryIO, meta: Mapping[str, Any], save: Callable[[StateSink], None]) -> None:
    """Put an archive into a file, front to back: its bytes are a function of the content alone.

    `save` puts the members, in an order of its own; none of them is copied whole.
    """
    sealed = _Sealed(file)
    with zipfile.ZipFile(sealed, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = _MARK + b"0" * _DIGEST_SIZE
        archive.writestr(_entry("meta.json"), json.dumps(meta, indent=1, sort_keys=True))
        with closing(_ArrayMembers(archive)) as members:
            save(members)
    sealed.finish()


def pack(meta: Mapping[str, Any], members: Mapping[str, Numbers]) -> bytes:
    """The bytes of an archive."""
    buffer = io.BytesIO()
    write(buffer, meta, lambda out: out.put_all(members))
    return buffer.getvalue()


def read(file: BinaryIO, path: str) -> tuple[dict[str, Any], Members]:
    """What `write` was given; CorruptError for anything else."""
    meta, stored = _checked(file, path)
    with _valid(path):
        return meta, {name: stored[name] for name in stored}


def unpack(data: bytes, path: str) -> tuple[dict[str, Any], Members]:
    """What `pack` was given; CorruptError for anything else."""
    return read(io.BytesIO(data), path)


def load(path: Path) -> tuple[dict[str, Any], Members]:
    """Read and check an archive from a file; `-` is standard input."""
    if str(path) == "-":
        return unpack(sys.stdin.buffer.read(), "<stdin>")
    with opening(path), path.open("rb") as file:
        return read(file, str(path))


def load_members_later(path: Path) -> tuple[dict[str, Any], StoredState]:
    """Check an archive, whose members are read each time they are asked for."""
    with opening(path):
        file = path.open("rb")
        try:
            meta, members = _checked(file, str(path))
        except BaseException:
            file.close()
            raise
    weakref.finalize(members, file.close)
    return meta, members


def check_kind(meta: Mapping[str, Any], kind: str, version: int, path: str | Path) -> None:
    """CorruptError unless an archive is of this kind (`fsstream model`, say) and of this version."""
    found = meta.get("format")
    if found != kind:
        raise CorruptError(
            f"{path}: not a {kind.removeprefix(_OURS)} but {_article(found)}",
            hint=_WAYS.get((kind, str(found))),
        )
    if meta.get("version") != version:
        raise CorruptError(
            f"{path}: {kind.removeprefix(_OURS)} version {meta.get('version')}, expected {version}",
            hint="use the fsstream that wrote it, or begin anew",
        )


def _article(kind: object) -> str:
    known = isinstance(kind, str) and kind.startswith(_OURS)
    return f"a {str(kind).removeprefix(_OURS)}" if known else "something else"


def _hint_of(beginning: bytes) -> str:
    """What to do about a file that is none of ours, or is one in another form."""
    if beginning.startswith(b'{"rank"'):
        return "this is a selection, which cannot predict: `fsstream select --model FILE` writes a model"
    if beginning.startswith(b"PK\x03\x04"):
        return "copy it again, or restore it from a copy"
    return "models are written by `fsstream select --model FILE`, checkpoints by `--checkpoint FILE`"


class _Sealed:
    """What ZipFile writes into: passed on at once, and its digest in place of the last bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._held = b""  # the last bytes, as many as the digest takes

    def write(self, data: bytes, /) -> int:
        whole = self._held + data
        passed, self._held = whole[:-_DIGEST_SIZE], whole[-_DIGEST_SIZE:]
        self._digest.update(passed)
        self._file.write(passed)
        return len(data)

    def flush(self) -> None:
        """ZipFile asks for it; who opened the file flushes it, and closes it."""

    close = flush

    def finish(self) -> None:
        self._file.write(self._digest.hexdigest().encode())


def _piece(file: BinaryIO, at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)


def _digest(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    digest = hashlib.sha256()
    while size > 0:
        piece = file.read(min(size, _PIECE_BYTES))
        if not piece:
            break
        digest.update(piece)
        size -= len(piece)
    return digest.hexdigest().encode()


def pack_texts(texts: list[bytes]) -> dict[str, Numbers]:
    """Byte strings as two arrays: all bytes, and where each ends."""
    return {"bytes": memoryview(b"".join(texts)), "ends": array("Q", accumulate(map(len, texts)))}


def unpack_texts(data: NDArray[Any] | memoryview[Any], ends: Iterable[Any]) -> list[bytes]:
    """The inverse of `pack_texts`; ValueError when the ends do not fit."""
    whole = data.tobytes()
    bounds = [0, *(int(end) for end in ends)]
    if bounds[-1] != len(whole) or any(a > b for a, b in pairwise(bounds)):
        raise ValueError("names do not fit their lengths")
    return [whole[a:b] for a, b in pairwise(bounds)]


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=_EPOCH)


def _checked(file: BinaryIO, path: str) -> tuple[dict[str, Any], _StoredMembers]:
    """The description in an archive that has the digest it names, and where its arrays lie."""
    size = file.seek(0, os.SEEK_END)
    if (
        size < _DIGEST_SIZE + len(_MARK)
        or _piece(file, size - _DIGEST_SIZE - len(_MARK), len(_MARK)) != _MARK
    ):
        hint = _hint_of(_piece(file, 0, 8))
        raise CorruptError(f"{path}: not an fsstream archive, or cut short", hint=hint)
    if _digest(file, size - _DIGEST_SIZE) != _piece(file, size - _DIGEST_SIZE, _DIGEST_SIZE):
        raise CorruptError(f"{path}: damaged: its digest does not match", hint="restore it from a copy")
    with _valid(path):
        return _opened(file, size)


@contextmanager
def _valid(path: str) -> Iterator[None]:
    """Around taking an archive apart."""
    try:
        yield
    except (ValueError, KeyError, zipfile.BadZipFile, RecursionError, NotImplementedError, EOFError) as error:
        raise CorruptError(f"{path}: not a valid archive: {error}") from None


def _opened(file: BinaryIO, size: int) -> tuple[dict[str, Any], _StoredMembers]:
    places: dict[str, _Place] = {}
    meta: dict[str, Any] | None = None
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 or entry.file_size > size:
                raise ValueError(f"member {entry.filename!r} is not stored as it is")
            with archive.open(entry) as member:
                if entry.filename == "meta.json":
                    meta = json.loads(member.read())
                elif entry.filename.endswith(".npy"):
                    shape, dtype, header = _shape_of(member, entry.file_size)
                    begin = _content_of(file, entry.header_offset) + header
                    places[entry.filename.removesuffix(".npy")] = _Place(begin, shape, dtype)
                else:
                    raise ValueError(f"unexpected member {entry.filename!r}")
    if not isinstance(meta, dict):
        raise ValueError("no meta.json")
    return meta, _StoredMembers(file, places)


def _content_of(file: BinaryIO, header: int) -> int:
    """Where a member begins, behind the zip's own header, its name and the extra fields."""
    name, extra = struct.unpack("<HH", _piece(file, header + _LENGTHS, 4))
    return int(header + _LENGTHS + 4 + name + extra)


def _header_of(dtype: str, shape: tuple[int, ...]) -> bytes:
    """What numpy writes in front of an array, without numpy: the format's version 1.0."""
    said = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}"
    room = _NPY_LONGEST - len(repr(shape[0])) if shape else 0  # numpy keeps it for an array that grows
    begin = len(_NPY_MAGIC) + 2
    padded = said + " " * (room + -(begin + len(said) + room + 1) % _NPY_ALIGNED) + "\n"
    return _NPY_MAGIC + struct.pack("<H", len(padded)) + padded.encode()


def _shape_of(member: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and length of the header of a `.npy` member, whose bytes must be what its header says."""
    version = np.lib.format.read_magic(member)
    if version != (1, 0):
        raise ValueError("unexpected array version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
    header = member.tell()
    if dtype.kind not in _KINDS or (fortran and len(shape) > 1):
        raise ValueError("an array of another kind")
    if math.prod(shape) * dtype.itemsize != size - header:
        raise ValueError("an array does not fit its header")
    return shape, dtype, header


@dataclass(frozen=True)
class _Place:
    """Of an array in a file."""

    begin: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


class _StoredMembers(StoredState):
    """The arrays of an archive that has been checked."""

    def __init__(self, file: BinaryIO, places: Mapping[str, _Place]) -> None:
        self._file, self._places = file, places

    def __getitem__(self, name: str) -> NDArray[Any]:
        place = self._places[name]
        array = np.empty(place.shape, place.dtype)
        self._fill(name, place, array.reshape(-1).view(np.uint8).data)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def read_into(self, name: str, dtype: str, room: memoryview) -> None:
        """Nothing is copied on the way."""
        place = self._places[name]
        if place.dtype != np.dtype(dtype) or place.size != room.nbytes:
            raise ValueError(f"state: wrong size or type of {name}")
        self._fill(name, place, room)

    def _fill(self, name: str, place: _Place, room: memoryview) -> None:
        self._file.seek(place.begin)
        if self._file.readinto(room) != room.nbytes:  # type: ignore[attr-defined]
            raise ValueError(f"member {name!r} is cut short")


class _ArrayMembers(StateSink):
    """Writes arrays as numpy does, in pieces, so that no copy of a large one is made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._member: IO[bytes] | None = None

    def start(self, name: str, dtype: str, shape: tuple[int, ...]) -> None:
        """The header of the next one."""
        self.close()
        self._member = self._archive.open(_entry(f"{name}.npy"), "w", force_zip64=True)
        self._member.write(_header_of(dtype, shape))

    def more(self, piece: Piece) -> None:
        """Its content."""
        assert self._member is not None
        content = piece if isinstance(piece, memoryview) else piece.data
        for at in range(0, len(content), _PIECE_BYTES):
            self._member.write(content[at : at + _PIECE_BYTES])

    def close(self) -> None:
        """The last one is at its end."""
        if self._member is not None:
            self._member.close()
