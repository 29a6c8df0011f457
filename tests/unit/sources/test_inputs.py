"""Paths and standard input as one stream."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import threading
from functools import partial

import pytest

from fsstream.errors import DataError, FsstreamError, UsageError
from fsstream.memory import resident_memory
from fsstream.sources import Input, take_lines

counts_memory = pytest.mark.skipif(
    "san" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer keeps what was freed"
)


def lines_head(data: memoryview) -> int:
    return bytes(data).rfind(b"\n") + 1


def read(stream: Input) -> list[tuple[str, bytes, int]]:
    return [(block.source, bytes(block.data), block.first_line) for block in stream.blocks(lines_head)]


def joined(stream: Input) -> bytes:
    return b"".join(data for _, data, _ in read(stream))


@pytest.fixture
def write(tmp_path):
    def to_file(name: str, data: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return to_file


@pytest.fixture
def stdin():
    """Puts bytes on standard input, as a pipe."""
    kept = os.dup(0)
    writers = []

    def feed(data: bytes) -> None:
        read_end, write_end = os.pipe()
        os.dup2(read_end, 0)
        os.close(read_end)

        def pour() -> None:
            with os.fdopen(write_end, "wb") as pipe:
                pipe.write(data)

        writers.append(threading.Thread(target=pour))
        writers[-1].start()

    yield feed
    os.dup2(kept, 0)
    os.close(kept)
    for writer in writers:
        writer.join()


def test_several_files_are_one_stream_and_records_stay_within_them(write):
    paths = [
        write("a", b"1\n2"),
        write("empty", b""),
        write("b", b"3\n"),
        write("c.gz", gzip.compress(b"4\n5\n")),
    ]
    got = read(Input(paths))
    assert got == [(paths[0], b"1\n2", 1), (paths[2], b"3\n", 1), (paths[3], b"4\n5\n", 1)]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input(stdin, arguments):
    data = b"".join(b"%d\n" % n for n in range(100_000))
    stdin(data)
    stream = Input(arguments)
    assert not stream.rereadable
    assert stream.sources[0].name == "<stdin>"
    assert joined(stream) == data


def test_standard_input_among_files(stdin, write):
    stdin(gzip.compress(b"2\n"))
    assert joined(Input([write("a", b"1\n"), "-", write("b", b"3\n")])) == b"1\n2\n3\n"


def test_standard_input_twice_is_refused(write):
    with pytest.raises(UsageError, match="given twice"):
        Input(["-", write("a", b""), "-"])
    with pytest.raises(UsageError, match="given twice"):
        Input(["/dev/stdin", "-"])


def test_more_files_than_may_be_open_at_once_are_looked_at_and_read(write):
    paths = [write(f"file{number}", b"%d\n" % number) for number in range(300)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, hard))
    try:
        stream = Input(paths)
        looked_at = b"".join(bytes(block.data) for block in stream.peek())
        assert looked_at == joined(stream) == joined(stream)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_closed_standard_input_is_refused():
    code = "import os; os.close(0); from fsstream.sources import Input; Input()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "UsageError: standard input is closed" in done.stderr


def test_paths_are_checked_before_anything_is_read(tmp_path, write):
    with pytest.raises(UsageError, match="No such file"):
        Input([write("a", b""), str(tmp_path / "missing")])
    with pytest.raises(UsageError, match="is a directory") as caught:
        Input([str(tmp_path)])
    assert caught.value.hint.endswith("/*")
    with pytest.raises(UsageError, match="Not a directory"):
        Input([write("a", b"") + "/b"])
    with pytest.raises(UsageError, match="cannot read"):
        Input(["a\0b"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_must_not_be_read(write):
    path = write("secret", b"1\n")
    os.chmod(path, 0)
    with pytest.raises(UsageError, match="Permission denied"):
        Input([path])


def test_a_file_that_vanishes_before_its_turn(write):
    path = write("a", b"1\n")
    stream = Input([path])
    os.unlink(path)
    with pytest.raises(FsstreamError, match=r"cannot open .*: No such file"):
        read(stream)


def test_passes_read_the_same_file_again(write):
    stream = Input([write("a", b"1\n" * 1000), write("b.gz", gzip.compress(b"2\n"))])
    assert stream.rereadable
    assert joined(stream) == joined(stream) == b"1\n" * 1000 + b"2\n"


def test_a_file_that_changed_between_passes(write):
    path = write("a", b"1\n")
    stream = Input([path])
    read(stream)
    write("a", b"1\n2\n")
    with pytest.raises(DataError, match="has changed since the pass before"):
        read(stream)


def test_a_file_that_was_replaced_between_passes(write, tmp_path):
    path = write("a", b"1\n")
    stream = Input([path])
    read(stream)
    status = os.stat(path)
    other = write("b", b"2\n")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, path)
    with pytest.raises(DataError, match="has changed"):
        read(stream)


def test_a_pipe_cannot_be_read_again():
    read_end, write_end = os.pipe()
    os.write(write_end, b"1\n")
    os.close(write_end)
    try:
        stream = Input([f"/dev/fd/{read_end}"])
        assert not stream.rereadable
        assert joined(stream) == b"1\n"
        with pytest.raises(FsstreamError, match="can be read only once"):
            read(stream)
    finally:
        os.close(read_end)


def test_what_is_looked_at_stays_to_be_read(write, stdin):
    data = b"".join(b"%d\n" % n for n in range(50_000))
    stdin(data)
    stream = Input([write("a", b"a\nb\n"), "-"], size=4096)
    first, second = stream.peek(1000)
    assert (first.source, bytes(first.data), first.begins_source) == (stream.sources[0].name, b"a\nb\n", True)
    assert bytes(second.data) == b"".join(b"%d\n" % n for n in range(998))
    del first, second
    assert [bytes(block.data) for block in stream.peek(3)] == [b"a\nb\n", b"0\n"]
    assert sum(bytes(block.data).count(b"\n") for block in stream.peek(20_000)) == 20_000
    assert joined(stream) == b"a\nb\n" + data


def test_looking_at_everything(write):
    stream = Input([write("a", b"1\n2"), write("b", b""), write("c", b"3\n")])
    assert [bytes(block.data) for block in stream.peek(2)] == [b"1\n2"]
    assert [bytes(block.data) for block in stream.peek()] == [b"1\n2", b"3\n"]
    assert joined(stream) == b"1\n23\n"
    assert joined(stream) == b"1\n23\n"


@counts_memory
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_what_is_looked_at_in_a_file_is_not_kept_in_memory(write, pack):
    data = b"".join(b"%07d%s\n" % (n, b"x" * 992) for n in range(8000))
    stream = Input([write("a", pack(data))])
    before = resident_memory()
    assert len(stream.peek(6000)[0].data) == 6_000_000
    assert resident_memory() - before > 6_000_000
    blocks = stream.blocks(lines_head)
    begun = bytes(next(blocks).data)
    assert resident_memory() - before < 3_000_000
    assert begun + b"".join(bytes(block.data) for block in blocks) == data
    assert stream.progress() == (len(pack(data)), len(pack(data)))


@counts_memory
@pytest.mark.parametrize("pack", [bytes, partial(gzip.compress, compresslevel=1)])
def test_what_is_looked_at_in_a_pipe_leaves_memory_as_it_is_read(stdin, pack):
    data = b"".join(b"%07d%s\n" % (n, b"x" * 992) for n in range(24_000))
    stdin(pack(data))
    stream = Input()
    before = resident_memory()
    assert len(stream.peek(16_000)[0].data) == 16_000_000
    for block in stream.blocks(lines_head):
        assert block.data == memoryview(data)[block.offset : block.offset + len(block.data)]
        held = resident_memory() - before
        assert held < max(0, 16_000_000 - block.offset) + 3_000_000
    assert block.offset + len(block.data) == len(data)


def test_standard_input_that_a_file_stands_behind_begins_where_it_stood(write):
    data = b"".join(b"%07d\n" % n for n in range(200_000))
    kept = os.dup(0)
    try:
        with open(write("a", data), "rb", buffering=0) as file:
            os.dup2(file.fileno(), 0)
            os.lseek(0, 80, os.SEEK_SET)
            stream = Input()
            assert len(stream.peek(150_000)[0].data) == 1_200_000
            assert joined(stream) == data[80:]
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_looking_at_nothing(write):
    stream = Input([write("a", b"")])
    assert stream.peek() == []
    assert read(stream) == []


@pytest.mark.parametrize("limit", range(1, 14))
def test_looking_is_bounded_in_bytes_as_well(write, limit):
    data = b"11\n22\n3333\n4\n"
    stream = Input([write("a", data[:6]), write("b", data[6:])])
    whole = max(end for end in (3, 6, 11, 13) if end <= max(limit, 3))  # the first record in any case
    assert b"".join(bytes(block.data) for block in stream.peek(limit=limit)) == data[:whole]
    assert joined(stream) == data


def test_looking_stops_at_a_record_that_is_too_long(write):
    stream = Input([write("a", b"1" * 100)], limit=50)
    with pytest.raises(DataError, match=":1: a record is longer than 50 bytes"):
        stream.peek(limit=10)
    stream.close()


def test_looking_at_records_of_a_format(write):
    def take_fours(data: bytes, records: int) -> tuple[int, int]:
        lines, _ = take_lines(data, 4 * records)
        return lines // 4, take_lines(data, lines // 4 * 4)[1]

    stream = Input([write("a", b"@\nA\n+\n!\n" * 9)])
    assert bytes(stream.peek(5, take_fours)[0].data) == b"@\nA\n+\n!\n" * 5
    stream.close()


def test_progress_counts_the_bytes_of_the_files(write):
    packed = gzip.compress(os.urandom(300_000))
    stream = Input([write("a", b"1\n" * 5000), write("b.gz", packed)])
    assert stream.progress() == (0, 10_000 + len(packed))
    for _ in range(2):
        seen = []
        for _ in stream.blocks(len):
            seen.append(stream.progress()[0])
        assert seen[0] == 10_000
        assert stream.progress() == (10_000 + len(packed),) * 2


def test_progress_of_a_pipe_has_no_end(stdin):
    stdin(b"1\n")
    stream = Input()
    assert stream.progress() == (0, None)
    read(stream)
    assert stream.progress() == (2, None)


def test_files_are_closed_when_a_pass_is_given_up(write):
    stream = Input([write("a", b"1\n" * 100)], size=10)
    before = len(os.listdir("/proc/self/fd"))
    blocks = stream.blocks(lines_head)
    next(blocks)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    blocks.close()
    assert len(os.listdir("/proc/self/fd")) == before
    stream.peek()
    stream.close()
    assert len(os.listdir("/proc/self/fd")) == before
