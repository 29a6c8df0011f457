"""Compressed streams, recognised by their first bytes.

In: a raw stream. Out: a stream of the plain bytes (`unpacked`), which is the same one when it is not packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.errors import DataError

if TYPE_CHECKING:
    from fsstream.sources.raw import ByteStream, RawStream

FRONT_BYTES = 18  # enough to tell every kind


@dataclass(frozen=True)
class Kind:
    """One way to compress: how it begins, what may follow the last member."""

    name: str
    magics: tuple[bytes, ...]
    padding: int = 0  # zero bytes after a member come in multiples of this; 0: none may follow


KINDS = (
    Kind("gz", (b"\x1f\x8b\x08",), padding=1),
    Kind(
        "bz2",
        tuple(
            b"BZh%d" % level + block
            for level in range(1, 10)
            for block in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # the first block, or none
        ),
    ),
    Kind("xz", (b"\xfd7zXZ\x00",), padding=4),
    Kind("zst", (b"\x28\xb5\x2f\xfd", *(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60)))),
)


def plain_bytes(raw: RawStream) -> ByteStream:
    """The stream itself when it is plain or empty, else a stream of what is packed in it.

    A file that ends within the first bytes that mark a compressed file is a truncated one.
    """
    front = raw.front(FRONT_BYTES)
    for kind in KINDS:
        if front.startswith(kind.magics):
            from fsstream.sources.unpacked import Unpacked

            return Unpacked(raw, kind, front)
    for kind in KINDS:
        if front and any(magic.startswith(front) for magic in kind.magics):
            raise truncated(raw.name, kind.name)
    return raw


def truncated(name: str, kind: str) -> DataError:
    """What a compressed file that ends too early is answered with."""
    return DataError(
        f"{kind} data truncated: the file ends in the middle of it",
        path=name,
        hint="the file was cut short: copy or make it again",
    )
