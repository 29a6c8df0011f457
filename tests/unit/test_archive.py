"""Archives: what was packed comes back, and nothing else is believed."""

from __future__ import annotations

import io
import zipfile
from array import array

import numpy as np
import pytest

from fsstream.archive import pack, pack_texts, unpack, unpack_texts
from fsstream.errors import CorruptError

META = {"format": "test", "n": 3}
MEMBERS = {"a": np.arange(5, dtype=np.uint64), "b": np.array([[1.5, 2.5]], dtype=np.float32)}


def test_what_was_packed_comes_back() -> None:
    meta, members = unpack(pack(META, MEMBERS), "x")
    assert meta == META
    assert {name: array.tolist() for name, array in members.items()} == {
        "a": [0, 1, 2, 3, 4],
        "b": [[1.5, 2.5]],
    }


def test_the_bytes_are_a_function_of_the_content() -> None:
    assert pack(META, MEMBERS) == pack(dict(reversed(META.items())), dict(reversed(MEMBERS.items())))


def test_numpy_and_zipfile_read_it() -> None:
    with zipfile.ZipFile(io.BytesIO(pack(META, MEMBERS))) as archive:
        assert archive.testzip() is None
        assert np.load(io.BytesIO(archive.read("a.npy"))).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (12_345, 0)])
@pytest.mark.parametrize("dtype", ["<f4", "|u1", "|S12"])
def test_members_are_to_the_byte_what_numpy_writes(shape: tuple[int, ...], dtype: str) -> None:
    written = io.BytesIO()
    np.lib.format.write_array(written, np.zeros(shape, dtype), version=(1, 0))
    with zipfile.ZipFile(io.BytesIO(pack(META, {"a": np.zeros(shape, dtype)}))) as archive:
        assert archive.read("a.npy") == written.getvalue()


@pytest.mark.parametrize("typecode", "BIQfd")
def test_buffers_of_numbers_are_arrays(typecode: str) -> None:
    for numbers in ([], [0, 7]):
        packed = pack(META, {"a": array(typecode, numbers), "b": memoryview(array(typecode, numbers))})
        of_arrays = dict.fromkeys("ab", np.array(numbers, dtype=typecode))
        assert packed == pack(META, of_arrays)


def test_every_flipped_bit_is_refused() -> None:
    data = bytearray(pack({"m": 1}, {"a": np.arange(3, dtype=np.uint8)}))
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(CorruptError):
                unpack(bytes(data), "x")
            data[place] ^= 1 << bit


def test_every_cut_is_refused() -> None:
    data = pack({"m": 1}, {"a": np.arange(3, dtype=np.uint8)})
    for size in range(len(data)):
        with pytest.raises(CorruptError):
            unpack(data[:size], "x")


def forged(name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive with a right digest and a wrong inside."""
    import hashlib

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.comment = b"fsstream sha256 " + b"0" * 64
        archive.writestr("meta.json", "{}")
        archive.writestr(name, content)
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def array_claiming(shape: tuple[int, ...], payload: bytes) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue() + payload


@pytest.mark.parametrize(
    "data",
    [
        forged("a.npy", array_claiming((1 << 60,), b"12345678")),
        forged("a.npy", array_claiming((-1,), b"12345678")),
        forged("a.npy", array_claiming((0,), b"12345678")),
        forged("a.npy", b"\x93NUMPY\x01\x00\xff\xff"),
        forged("a.npy", b"no array"),
        forged("../a.npy.exe", b"x"),
        forged("a.npy", b"0" * 100_000, zipfile.ZIP_DEFLATED),
    ],
)
def test_a_right_digest_does_not_help_a_wrong_inside(data: bytes) -> None:
    with pytest.raises(CorruptError):
        unpack(data, "x")


def test_pickles_are_not_read() -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(CorruptError):
        unpack(forged("a.npy", stream.getvalue()), "x")


def test_texts_round_trip_and_lying_ends_are_refused() -> None:
    texts = [b"", b"\xff\x00", b"word"]
    packed = pack_texts(texts)
    assert unpack_texts(packed["bytes"], packed["ends"]) == texts
    with pytest.raises(ValueError, match="names"):
        unpack_texts(packed["bytes"], np.array([3, 2, 6], dtype=np.uint64))
    with pytest.raises(ValueError, match="names"):
        unpack_texts(packed["bytes"], np.array([1, 2, 7], dtype=np.uint64))
