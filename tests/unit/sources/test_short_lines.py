"""Lines that are longer than any record, where bad records are skipped."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsstream.formats import format_named
from fsstream.sources import Input
from fsstream.sources.short_lines import END, ShortLines

TEXTS = st.lists(st.sampled_from([b"a", b"bb", b"\r", b"\0", b"\n", b"\n\n", b"ccccccccc"]), max_size=60).map(
    b"".join
)


def cut_simply(text: bytes, most: int) -> bytes:
    lines = text.split(b"\n")
    return b"\n".join(line if len(line) <= most else line[:most] + END[:1] for line in lines)


class Pieces:
    """A stream that gives so many bytes at a time."""

    def __init__(self, text: bytes, size: int) -> None:
        self.file, self.size = io.BytesIO(text), size

    def readinto(self, buffer: memoryview) -> int:
        return self.file.readinto(buffer[: self.size])


@given(text=TEXTS, most=st.integers(1, 30), size=st.integers(1, 40), room=st.integers(1, 50))
def test_only_long_lines_are_cut_however_they_are_read(text: bytes, most: int, size: int, room: int) -> None:
    stream, buffer, found = ShortLines(Pieces(text, size), most), memoryview(bytearray(room)), b""
    while count := stream.readinto(buffer):
        found += bytes(buffer[:count])
    assert found == cut_simply(text, most)


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
@pytest.mark.parametrize("long", [64, 99, 5000])
def test_a_record_beyond_the_limit_is_one_that_ends(tmp_path, size, long) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"1 a:1\n" + b"x" * long + b"\n0 b:1\n" + b"y" * long)
    stream = Input([str(path)], size=size, limit=64, cut_lines=True)
    head = format_named("pairs").head
    looked_at = b"".join(bytes(block.data) for block in stream.peek())
    for _ in range(2):
        blocks = list(stream.blocks(lambda data: head(data, final=False)))
        whole = b"".join(bytes(block.data) for block in blocks)
        assert whole == b"1 a:1\n" + b"x" * 62 + END + b"0 b:1\n" + b"y" * 62 + END[:1]
    assert looked_at == whole
