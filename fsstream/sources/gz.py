"""One member of a gz file: its header read here, the rest unpacked and checked by isal.

isal loses its way when a header with optional fields reaches it in pieces, so it never sees one.
"""

from __future__ import annotations

import zlib

from isal import igzip_lib

FIXED_BYTES = 10
HEADER_LIMIT = 1 << 20
HEADER_CRC, EXTRA, NAME, COMMENT, RESERVED = 0x02, 0x04, 0x08, 0x10, 0xE0


def header_length(data: bytes) -> int | None:
    """The bytes of the header that `data` begins with; None when more of it must come.

    Raises ValueError when it is not a header (RFC 1952).
    """
    if len(data) < FIXED_BYTES:
        return None
    flags = data[3]
    if data[:3] != b"\x1f\x8b\x08" or flags & RESERVED:
        raise ValueError("not a gz header")
    end = FIXED_BYTES
    if flags & EXTRA:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for text in (NAME, COMMENT):
        if flags & text:
            end = data.find(b"\0", end) + 1 if end < len(data) else 0
            if not end:
                return None
    if flags & HEADER_CRC:
        end += 2
    if len(data) < end:
        return None
    if flags & HEADER_CRC and zlib.crc32(data[: end - 2]) & 0xFFFF != int.from_bytes(
        data[end - 2 : end], "little"
    ):
        raise ValueError("the checksum of the header is wrong")
    return end


class GzMember:
    """Unpacks a member; the same interface as the decompressors of the standard library."""

    def __init__(self) -> None:
        self._header: bytes | None = b""  # as far as it is known; None when it is done
        self._body = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP_NO_HDR_VER)

    @property
    def eof(self) -> bool:
        """Whether the member has ended and its checksum and length were right."""
        return self._body.eof

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before something goes in."""
        return self._header is not None or self._body.needs_input

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the end of the member."""
        return self._body.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes more."""
        if self._header is not None:
            self._header += data
            length = header_length(self._header)
            if length is None:
                if len(self._header) > HEADER_LIMIT:
                    raise ValueError("a header without end")
                return b""
            data, self._header = self._header[length:], None
            if not data:
                return b""
        return self._body.decompress(data, max_length)
