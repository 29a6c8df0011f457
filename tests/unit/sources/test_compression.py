"""Packed streams: read whole, and never half in silence."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import struct
import sys
import threading
import zlib
from pathlib import Path

import pytest

from fsstream.errors import DataError
from fsstream.sources import Input
from fsstream.sources.unpacked import BGZIP_END

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = b"".join(b"%d %d:1 %d:0.5\n" % (n % 2, n, n * 7919) for n in range(60))


def zst(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


def bgzip_member(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    body = packer.compress(data) + packer.flush()
    size = 18 + len(body) + 8
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", size - 1)
    return head + body + struct.pack("<II", zlib.crc32(data), len(data))


def bgzip(data: bytes) -> bytes:
    return b"".join(bgzip_member(data[at : at + 300]) for at in range(0, len(data), 300)) + BGZIP_END


def lines_head(data: memoryview) -> int:
    return bytes(data).rfind(b"\n") + 1


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst}


def unpacked(path: Path) -> bytes:
    """The file as the reader sees it."""
    return b"".join(bytes(block.data) for block in Input([path], size=256).blocks(lines_head))


def unpacked_from_pipe(data: bytes) -> bytes:
    """The same through a pipe, which cannot be seeked."""
    read_end, write_end = os.pipe()

    def feed() -> None:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=feed)
    writer.start()
    try:
        return unpacked(Path(f"/dev/fd/{read_end}"))
    finally:
        os.close(read_end)
        writer.join()


@pytest.fixture
def readers(tmp_path):
    def from_file(data: bytes) -> bytes:
        path = tmp_path / "packed.txt"  # a name that says nothing
        path.write_bytes(data)
        return unpacked(path)

    return {"file": from_file, "pipe": unpacked_from_pipe}


@pytest.fixture(params=["file", "pipe"])
def read(request, readers):
    return readers[request.param]


@pytest.fixture(params=sorted(PACKERS))
def pack(request):
    return PACKERS[request.param]


def test_plain_and_empty_files_are_taken_as_they_are(read):
    assert read(TEXT) == TEXT
    assert read(b"") == b""


def test_every_kind_is_recognised_by_content(pack, read):
    assert read(pack(TEXT)) == TEXT
    assert read(pack(b"")) == b""


def test_members_one_after_the_other_are_one_stream(pack, read):
    assert read(pack(TEXT) + pack(b"") + pack(TEXT)) == TEXT + TEXT


def test_many_small_members(pack, read):
    lines = TEXT.splitlines(keepends=True)
    assert read(b"".join(map(pack, lines))) == TEXT


@pytest.mark.parametrize("where", ["file", "pipe"])
@pytest.mark.parametrize("kind", sorted(PACKERS))
def test_a_cut_at_any_byte_is_seen(kind, where, readers):
    whole = PACKERS[kind](TEXT)
    for cut in range(1, len(whole)):
        with pytest.raises(DataError, match=f"{kind} data truncated"):
            readers[where](whole[:cut])


@pytest.mark.parametrize("kind", sorted(PACKERS))
def test_a_cut_in_a_later_member_is_seen(kind, readers):
    whole = PACKERS[kind](TEXT)
    for cut in range(1, len(whole)):
        with pytest.raises(DataError, match="truncated"):
            readers["file"](whole + whole[:cut])


def test_a_bgzip_file_cut_anywhere_is_seen(readers):
    whole = bgzip(TEXT)
    assert readers["file"](whole) == TEXT
    for cut in range(1, len(whole)):
        with pytest.raises(DataError, match="truncated"):
            readers["file"](whole[:cut])


def test_a_bgzip_file_without_its_end_marker_is_truncated(read):
    with pytest.raises(DataError, match="end marker is missing"):
        read(bgzip(TEXT)[: -len(BGZIP_END)])


@pytest.mark.parametrize("garbage", [b"x", b"\n", b"\0\0\0\0x", b"1 2:3\n" * 1000, b"PK\3\4"])
def test_anything_after_the_last_member_is_an_error(pack, read, garbage):
    with pytest.raises(DataError, match=r"something else follows|corrupt"):
        read(pack(TEXT) + garbage)


def test_another_kind_after_the_last_member_is_an_error(read):
    for first in PACKERS.values():
        for second in PACKERS.values():
            if first is not second:
                with pytest.raises(DataError, match="something else follows"):
                    read(first(TEXT) + second(TEXT))


def test_zero_padding_is_accepted_where_it_is_usual(read):
    for zeros in (1, 3, 512, 1 << 20):
        assert read(gzip.compress(TEXT) + bytes(zeros)) == TEXT
    assert read(lzma.compress(TEXT) + bytes(8)) == TEXT
    assert read(lzma.compress(TEXT) + bytes(4) + lzma.compress(TEXT)) == TEXT + TEXT
    with pytest.raises(DataError, match="multiple of 4"):
        read(lzma.compress(TEXT) + bytes(3))
    for strict in (bz2.compress, zst):
        with pytest.raises(DataError, match="something else follows"):
            read(strict(TEXT) + bytes(4))


@pytest.mark.parametrize("kind", sorted(PACKERS))
def test_a_flipped_bit_never_passes_for_other_data(kind, readers):
    whole = bytearray(PACKERS[kind](TEXT))
    for at in range(len(whole)):
        for bit in (0x01, 0x80):
            whole[at] ^= bit
            try:
                got = readers["file"](bytes(whole))
            except DataError:
                got = TEXT
            whole[at] ^= bit
            # A first byte that is not the mark of any kind makes it plain text: the format complains.
            assert got == TEXT or (at < 10 and got[at] == whole[at] ^ bit)


def test_a_wrong_checksum_is_corrupt(read):
    packed = bytearray(gzip.compress(TEXT))
    packed[-8] ^= 1
    with pytest.raises(DataError, match="corrupt gz data"):
        read(bytes(packed))
    packed = bytearray(gzip.compress(TEXT))
    packed[-1] ^= 1
    with pytest.raises(DataError, match="corrupt gz data"):
        read(bytes(packed))


def test_a_gz_header_with_a_name_comment_and_extra_field(read):
    body = gzip.compress(TEXT)[10:]
    head = b"\x1f\x8b\x08\x1c" + bytes(4) + b"\0\x03" + b"\x05\0extra" + b"name.txt\0" + b"why\0"
    assert read(head + body) == TEXT


def test_skippable_zstd_frames(read):
    skippable = b"\x52\x2a\x4d\x18" + struct.pack("<I", 5) + b"notes"
    assert read(skippable + zst(TEXT) + skippable + zst(TEXT)) == TEXT + TEXT


def test_text_that_only_begins_like_a_kind_is_plain(read):
    for text in (b"BZh9 is a word\n", b"(a)\n", b"\xfd7zXX\n", b"\x1f\x8bx\n"):
        assert read(text) == text
