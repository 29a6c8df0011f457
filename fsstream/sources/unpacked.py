"""The plain bytes of a compressed stream: unpacked in the process, checked to the last byte.

In: a raw stream. Out: a stream of the plain bytes, or a DataError when the file was cut short, damaged,
or goes on with something else. Several members one after the other are one stream, in all four kinds.
Zero bytes after the last member of a gz or xz file are padding (tapes and the xz format have them).

What cannot be seen: a file cut exactly between two members, except for bgzip, which ends in a marker.
"""

from __future__ import annotations

import bz2
import lzma
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from isal import igzip_lib

from fsstream.errors import DataError
from fsstream.sources.compression import truncated
from fsstream.sources.gz import GzMember

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsstream.sources.compression import Kind
    from fsstream.sources.raw import RawStream

CHUNK_BYTES = 1 << 18  # compressed bytes taken at a time
XZ_MEMORY = 256 << 20  # what the dictionary of an .xz file may ask for
BGZIP_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
BGZIP_FIELD = b"BC\x02\x00"  # the extra field, at bytes 12 to 15 of every member


class Decompressor(Protocol):
    """One member; the interface that bz2, lzma, zstd and igzip_lib share."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` more bytes."""
        ...


@dataclass(frozen=True)
class Codec:
    """Who unpacks a member, and how he says that it is damaged."""

    member: Callable[[], Decompressor]
    damage: tuple[type[Exception], ...]


def _xz() -> Decompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


CODECS = {
    # The stub of igzip_lib declares its exception class as an instance.
    "gz": Codec(GzMember, (igzip_lib.IsalError, ValueError)),  # type: ignore[arg-type]
    "bz2": Codec(bz2.BZ2Decompressor, (OSError, ValueError)),
    "xz": Codec(_xz, (lzma.LZMAError,)),
    "zst": Codec(zstd.ZstdDecompressor, (zstd.ZstdError,)),
}


class Unpacked:
    """The plain bytes of a compressed stream; the memory it takes does not grow with what it unpacks."""

    def __init__(self, raw: RawStream, kind: Kind, front: bytes) -> None:
        self._raw = raw
        self._kind = kind
        self._codec = CODECS[kind.name]
        self._member = self._codec.member()
        self._fresh = True  # the member has been given nothing yet
        self._packed = b""  # read, not yet given to a member
        self._space = memoryview(bytearray(CHUNK_BYTES))
        self._ended = False
        self._bgzip = kind.name == "gz" and front[3:4] == b"\x04" and front[12:16] == BGZIP_FIELD
        self._tail = b""  # the last bytes read, of a bgzip file

    def readinto(self, buffer: memoryview, /) -> int:
        """Unpack into the buffer; 0 after the last member, once everything has been checked."""
        while not self._ended:
            if self._member.eof and not self._next_member():
                self._ended = True
                break
            out = self._unpack(len(buffer))
            if out:
                buffer[: len(out)] = out
                return len(out)
        return 0

    def _unpack(self, most: int) -> bytes:
        data = b""
        if self._fresh or self._member.needs_input:
            data = self._packed or self._read()
            self._packed = b""
            if not data:
                raise truncated(self._raw.name, self._kind.name)
        self._fresh = False
        try:
            return self._member.decompress(data, most)
        except self._codec.damage as error:
            raise self._damaged(f"corrupt {self._kind.name} data ({error})") from error

    def _next_member(self) -> bool:
        """Whether another member follows the one that ended; False when the file ends well."""
        rest = self._member.unused_data or self._read()
        if rest[:1] == b"\0" and self._kind.padding:
            rest = self._skip_padding(rest)
        if not rest:
            self._check_end()
            return False
        longest = max(map(len, self._kind.magics))
        while len(rest) < longest and (more := self._read()):
            rest += more
        if not rest.startswith(self._kind.magics):
            raise self._foreign(rest)
        self._member, self._packed, self._fresh = self._codec.member(), rest, True
        return True

    def _skip_padding(self, rest: bytes) -> bytes:
        zeros = 0
        while rest:
            kept = rest.lstrip(b"\0")
            zeros += len(rest) - len(kept)
            rest = kept
            if rest:
                break
            rest = self._read()
        if zeros % self._kind.padding:
            raise self._damaged(
                f"{self._kind.name} padding that is not a multiple of {self._kind.padding} bytes"
            )
        return rest

    def _foreign(self, rest: bytes) -> DataError:
        if any(magic.startswith(rest) for magic in self._kind.magics):
            return truncated(self._raw.name, self._kind.name)
        return self._damaged(f"something else follows the end of the {self._kind.name} data")

    def _check_end(self) -> None:
        if self._bgzip and self._tail != BGZIP_END:
            raise DataError(
                "bgzip data truncated: the end marker is missing",
                path=self._raw.name,
                hint="copy the file again; `bgzip -t` and `samtools quickcheck` look for the marker too",
            )

    def _read(self) -> bytes:
        data = bytes(self._space[: self._raw.readinto(self._space)])
        if self._bgzip:
            self._tail = (self._tail + data[-len(BGZIP_END) :])[-len(BGZIP_END) :]
        return data

    def _damaged(self, what: str) -> DataError:
        return DataError(
            f"{what}, near byte {self._raw.position} of the compressed file",
            path=self._raw.name,
            hint="the file is damaged: fetch or make it again",
        )
