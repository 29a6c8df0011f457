"""One stream, the same records, however it is cut."""

from __future__ import annotations

import io

import pytest

from fsstream._native import count_lines
from fsstream.errors import DataError
from fsstream.sources.blocks import Block, Buffers, read_blocks

LINES = [b"%d " % n + b"x" * (n * 7 % 23) + b"\n" for n in range(200)] + [b"\n", b"\n", b"end\n"]
LONGEST = max(map(len, LINES))


def lines_head(data: memoryview) -> int:
    return bytes(data).rfind(b"\n") + 1


def fasta_head(data: memoryview) -> int:
    """A record ends where the next begins: the format that needs to look ahead."""
    return bytes(data).rfind(b"\n>") + 1


class Dribble:
    """A stream that gives a few bytes at a time, as pipes do."""

    def __init__(self, data: bytes, step: int) -> None:
        self._file = io.BytesIO(data)
        self._step = step

    def readinto(self, buffer: memoryview, /) -> int:
        return self._file.readinto(buffer[: self._step])


def cut(data: bytes, size: int, *, step: int = 1 << 30, head=lines_head, limit: int = 1 << 26) -> list[Block]:
    return list(read_blocks(Dribble(data, step), head, "data", Buffers(size), limit))


SIZES = [*(LONGEST + more for more in (0, 1, 2, 3, 5, 7)), 64, 1000, 4096, 1 << 16, 1 << 20]


@pytest.mark.parametrize("step", [1, 3, 1 << 30])
@pytest.mark.parametrize("size", [1, 2, 5, *SIZES])
def test_blocks_are_whole_records_with_the_right_place(size, step):
    data = b"".join(LINES)
    blocks = cut(data, size, step=step)
    assert b"".join(bytes(block.data) for block in blocks) == data
    offset = line = 0
    for block in blocks:
        assert bytes(block.data).endswith(b"\n")
        assert block.source == "data"
        assert block.offset == offset
        assert block.first_line == line + 1
        assert block.begins_source == (offset == 0)
        offset += len(block.data)
        line += bytes(block.data).count(b"\n")


@pytest.mark.parametrize("size", SIZES)
def test_a_last_record_without_line_end_is_passed_on(size):
    data = b"".join(LINES) + b"no end"
    blocks = cut(data, size)
    assert b"".join(bytes(block.data) for block in blocks) == data
    assert bytes(blocks[-1].data).endswith(b"no end")


@pytest.mark.parametrize("size", [1, 5, 7, 8, 9, 20, 1000])
def test_a_format_that_looks_ahead(size):
    data = b">a\nACGT\nAC\n>b\nA\n>c\n\n>d\nACGTACGTACGTACGT"
    blocks = cut(data, size, head=fasta_head)
    assert b"".join(bytes(block.data) for block in blocks) == data
    assert all(bytes(block.data).startswith(b">") for block in blocks)


def test_nothing_gives_no_block():
    assert cut(b"", 100) == []


@pytest.mark.parametrize("size", [1, 2, 16, 49, 50, 51, 64, 1000])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_the_limit_of_a_record_does_not_depend_on_the_block_size(size, end):
    fits = b"a\nb\n" + b"x" * (50 - len(end)) + end
    assert b"".join(bytes(block.data) for block in cut(fits, min(size, 50), limit=50)) == fits
    with pytest.raises(DataError, match=r"^data:3: a record is longer than 50 bytes") as caught:
        cut(b"a\nb\n" + b"x" * (51 - len(end)) + end, min(size, 50), limit=50)
    assert "--format" in caught.value.hint


def test_an_endless_record_takes_no_more_memory_than_the_limit():
    class Endless:
        given = 0

        def readinto(self, buffer: memoryview, /) -> int:
            buffer[:] = bytes(len(buffer))  # no line end: what was in memory before might hold one
            self.given += len(buffer)
            return len(buffer)

    stream = Endless()
    with pytest.raises(DataError, match="longer than 1 MB"):
        list(read_blocks(stream, lines_head, "data", Buffers(1 << 12), 1 << 20))
    assert stream.given == (1 << 20) + 1


def test_a_held_block_is_never_overwritten():
    data = b"".join(LINES)
    blocks = read_blocks(io.BytesIO(data), lines_head, "d", Buffers(64))
    kept = [(block, bytes(block.data)) for block in blocks]
    assert len(kept) > 20
    assert all(bytes(block.data) == seen for block, seen in kept)


def test_buffers_are_used_again_once_let_go():
    made = set()
    for block in read_blocks(io.BytesIO(b"".join(LINES) * 20), lines_head, "d", Buffers(128)):
        made.add(id(block.data.obj))
        del block
    assert len(made) <= 3


def test_a_view_of_a_block_keeps_its_buffer():
    blocks = read_blocks(io.BytesIO(b"".join(LINES)), lines_head, "d", Buffers(64))
    view = next(blocks).data[2:10]
    seen = bytes(view)
    for _ in blocks:
        pass
    assert bytes(view) == seen


def test_places_within_a_block():
    block = Block("d", memoryview(b"ab\ncd\n\nefg\n"), 10, 0)
    assert [block.line_at(at) for at in (0, 2, 3, 6, 7, 9)] == [10, 10, 11, 12, 13, 13]
    assert [block.column_at(at) for at in (0, 2, 3, 6, 7, 9)] == [1, 3, 1, 1, 1, 3]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 127, 128, 64 * 255, 64 * 255 + 1, 64 * 256, 100_000])
def test_lines_are_counted_at_any_size(size):
    for data in (bytes(size), b"\n" * size, (b"ab\n" * size)[:size]):
        assert count_lines(data) == data.count(b"\n")
