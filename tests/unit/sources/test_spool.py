"""What is written once and read again: the same rows, in order or in a seeded order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from fsstream._native import (
    Batch,
    LibsvmParser,
    PairsParser,
    SpoolEncoder,
    decode_chunk,
    origin_of,
    shuffled_order,
)
from fsstream.errors import CorruptError, LimitError, UsageError
from fsstream.sources.spool import Spool, inspect_spool, is_spool
from fsstream.sources.spool_file import PREFIX, SpoolFile

LIBSVM = b"".join(b"%d %d:1 %d:%g\n" % (n % 3 - 1, n, n * 7919 + 500, n / 7) for n in range(1, 500))
PAIRS = b"".join(b"%s a:1 w%d:2 a.%d:0.5\n" % ([b"yes", b"no"][n % 2], n % 50, n) for n in range(500))
WIDE = b"0.25 18446744073709551615:-1e-3 5:1\n\n-1e300 7:300\n3\n"
COUNTS = b"1 3:255 9:0\n1 4:2\n"
TEXTS = {
    "libsvm": (LibsvmParser, LIBSVM),
    "pairs": (PairsParser, PAIRS),
    "wide": (LibsvmParser, WIDE),
    "counts": (LibsvmParser, COUNTS),
    "long": (PairsParser, b"x %s:1\n" % (b"n" * 3000)),
}


def rows_of(batch: Batch) -> list[tuple]:
    """Everything a row is made of, as Python values."""
    starts, names, labels = batch.row_starts.tolist(), batch.names(), batch.labels()
    keys, values = batch.keys.tolist(), batch.values.tolist()
    return [
        (
            labels[row],
            repr(float(batch.label_values[row])),
            float(batch.importance[row]),
            list(zip(keys[begin:end], values[begin:end], names[begin:end], strict=True)),
        )
        for row, (begin, end) in enumerate(pairwise(starts))
    ]


def parsed(make, text: bytes, cut: int):
    """Batches of about `cut` bytes and the line each begins at."""
    lines, begin = text.splitlines(keepends=True), 0
    while begin < len(lines):
        end, size = begin, 0
        while end < len(lines) and (size == 0 or size < cut):
            size += len(lines[end])
            end += 1
        batch = Batch()
        make().parse(b"".join(lines[begin:end]), batch, False, "some/file", begin == 0)
        yield batch, begin + 1
        begin = end


def spooled(make, data: bytes, cut: int, **limits) -> list[bytes]:
    encoder, chunks = SpoolEncoder(**limits), []
    for batch, line in parsed(make, data, cut):
        chunks += encoder.add(batch, line)
    return chunks + encoder.finish()


@pytest.fixture
def spool(tmp_path):
    made = Spool(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_rows_come_back_as_they_were(spool, kind):
    make, text = TEXTS[kind]
    expected = []
    for batch, line in parsed(make, text, 1000):
        expected += rows_of(batch)
        spool.write(batch, line)
    spool.finish()
    for _ in range(2):
        assert [row for batch in spool.batches() for row in rows_of(batch)] == expected


def test_weights_and_values_come_back_bit_for_bit():
    values = np.array([-0.0, 0.0, 1e-45, 3e38, 255, 256, 1, 0.1], np.float32)
    batch = Batch.from_arrays(
        np.array([0, 3, 3, 8], np.uint64),
        np.arange(8, dtype=np.uint64) << np.uint64(33),
        values,
        np.zeros(3, np.float32),
        importance=np.array([1, 0.5, 2], np.float32),
        names=[b"a", b"", b"\xff\x00", b"b", b"c", b"d", b"e", b"f"],
    )
    encoder = SpoolEncoder()
    (chunk,) = encoder.add(batch) + encoder.finish()
    back = Batch()
    decode_chunk(chunk, back)
    assert back.values.tobytes() == values.tobytes()
    assert back.importance.tolist() == [1, 0.5, 2]
    assert back.keys.tolist() == batch.keys.tolist()
    assert back.names() == batch.names()
    assert np.isnan(back.targets).all()


@pytest.mark.parametrize("kind", ["libsvm", "pairs"])
def test_chunks_do_not_depend_on_the_blocks(kind):
    make, text = TEXTS[kind]
    limits = {"rows": 37, "entries": 100, "text": 500}
    whole = spooled(make, text, 1 << 30, **limits)
    assert len(whole) > 5
    for cut in (1, 10, 100, 1000):
        assert spooled(make, text, cut, **limits) == whole


def test_where_a_row_came_from(spool):
    for batch, line in parsed(PairsParser, b"\n" + PAIRS, 700):
        spool.write(batch, line)
    spool.finish()
    row = 0
    for batch in spool.batches():
        for at in range(batch.rows):
            assert spool.place(at) == ("some/file", row + at + 2)
        row += batch.rows
    for batch in spool.shuffled(1, 1, 1 << 30):
        for at in range(0, batch.rows, 7):
            line = spool.place(at)[1]
            assert batch.labels()[at] == [b"yes", b"no"][(line - 2) % 2]


def test_rows_of_several_sources():
    encoder = SpoolEncoder()
    batch = Batch()
    for source in ("a", "b", "b"):
        LibsvmParser().parse(b"1 2:3\n\n1 4:5\n", batch, False, source, True)
        encoder.add(batch, 1)
    (chunk,) = encoder.finish()
    assert [origin_of(chunk, row) for row in range(6)] == [(s, n) for s in "abb" for n in (1, 3)]
    with pytest.raises(CorruptError):
        origin_of(chunk, 6)


def many(spool: Spool, rows: int = 3000) -> list[int]:
    """A spool of several chunks of numbered rows."""
    spool._encoder = SpoolEncoder(rows=100)
    text = b"".join(b"1 %d:1 77777777:2\n" % n for n in range(rows))
    for batch, line in parsed(LibsvmParser, text, 999):
        spool.write(batch, line)
    spool.finish()
    return list(range(rows))


def order(batches) -> list[int]:
    return [int(batch.keys[start]) for batch in batches for start in batch.row_starts[:-1].tolist()]


def test_a_shuffle_is_a_permutation_fresh_each_pass_and_repeatable(spool):
    rows = many(spool)
    orders = [order(spool.shuffled(seed, number, 1 << 30)) for seed in (1, 2) for number in (1, 2)]
    assert all(sorted(one) == rows for one in orders)
    assert len(set(map(tuple, orders))) == 4
    assert order(spool.shuffled(2, 2, 1 << 30)) == orders[-1]
    assert order(spool.batches()) == rows


def test_a_shuffle_within_little_memory(spool):
    rows = many(spool)
    one = order(spool.shuffled(1, 1, 20_000))
    assert sorted(one) == rows
    assert one != order(spool.shuffled(1, 1, 1 << 30))
    # A window holds a few chunks of 100 rows; neighbours come from few of them, windows from all over.
    assert len({row // 100 for row in one[:100]}) < 10
    assert [row // 100 for row in one] != sorted(row // 100 for row in one)
    assert order(spool.shuffled(1, 1, 0)) != rows


def test_the_full_shuffle_is_uniform_enough():
    """Over many seeds each row comes first equally often (chi-squared, 9 degrees, far tail)."""
    counts = np.bincount([shuffled_order(10, seed)[0] for seed in range(20_000)], minlength=10)
    assert ((counts - 2000) ** 2 / 2000).sum() < 40


def mix64(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**64 - 1])
def test_orders_are_the_same_on_every_machine(seed):
    state, expected = mix64(seed), []
    for row in range(1000):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        place = mix64(state) * (row + 1) >> 64
        expected.append(row)
        expected[row], expected[place] = expected[place], row
    assert shuffled_order(1000, seed).tolist() == expected


@pytest.mark.parametrize("kind", ["pairs", "wide", "counts"])
def test_a_cut_or_changed_chunk_is_refused_or_harmless(kind):
    make, text = TEXTS[kind]
    (chunk,) = spooled(make, text[:2000].rsplit(b"\n", 1)[0] + b"\n", 1 << 30)
    batch = Batch()
    for cut in range(len(chunk)):
        with pytest.raises(CorruptError):
            decode_chunk(chunk[:cut], batch)
        assert batch.rows == 0
    with pytest.raises(CorruptError):
        decode_chunk(chunk + b"\0", batch)
    changed = bytearray(chunk)
    for at in range(len(chunk)):
        for value in (0x00, 0x7F, 0x80, 0xFF):
            changed[at] = value
            try:
                decode_chunk(bytes(changed), batch)
                rows_of(batch)
                origin_of(bytes(changed), 0)
            except CorruptError:
                pass
        changed[at] = chunk[at]


def test_a_damaged_spool_is_corrupt(spool):
    many(spool)
    with open(spool._chunks.file.path, "r+b") as file:
        file.seek(spool.size // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(CorruptError, match="checksum"):
        order(spool.batches())
    os.truncate(spool._chunks.file.path, 100)
    with pytest.raises(CorruptError, match="ends too early"):
        order(spool.batches())


def test_the_file_is_private_and_goes_away(tmp_path):
    file = SpoolFile(tmp_path)
    file.append([b"abc", b"de"])
    status = os.stat(file.path)
    assert status.st_mode & 0o777 == 0o600
    assert str(os.getpid()) in file.path.name
    space = memoryview(bytearray(3))
    file.read(1, space)
    assert bytes(space) == b"bcd"
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_forgotten_file_goes_away(tmp_path):
    SpoolFile(tmp_path)
    assert list(tmp_path.iterdir()) == []
    code = f"from fsstream.sources.spool_file import SpoolFile; f = SpoolFile({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    code = (
        f"import time; from fsstream.sources.spool_file import SpoolFile; f = SpoolFile({str(tmp_path)!r})\n"
        "f.append([b'x']); print('ready', flush=True); time.sleep(60)"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for run in runs:
            assert run.stdout.readline() == b"ready\n"
        runs[0].send_signal(signal.SIGKILL)
        runs[0].wait()
        (tmp_path / "other").touch()
        (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
        assert len(list(tmp_path.glob(f"{PREFIX}[0-9]*"))) == 2
        file = SpoolFile(tmp_path)
        left = {path.name for path in tmp_path.iterdir()}
        living = [name for name in left if name.startswith(f"{PREFIX}{runs[1].pid}-")]
        assert left == {file.path.name, "other", f"{PREFIX}link", *living}
        assert len(living) == 1
        file.close()
    finally:
        for run in runs:
            run.kill()
            run.wait()
            run.stdout.close()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot spool to") as caught:
        SpoolFile(tmp_path / "missing")
    assert "--spool-dir" in caught.value.hint


def test_a_full_disk_is_a_limit_and_leaves_nothing(tmp_path):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from fsstream.sources.spool_file import SpoolFile\n"
        f"SpoolFile({str(tmp_path)!r}).append([bytes(60_000)] * 2)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "LimitError" in done.stderr
    assert "is full" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert LimitError.exit_code == 4


def test_a_spool_can_be_looked_at(tmp_path):
    spool = Spool(tmp_path)
    for batch, _ in parsed(LibsvmParser, LIBSVM, len(LIBSVM)):
        spool.write(batch)
    spool.finish()
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    whole = tmp_path / "whole"
    whole.write_bytes(data)
    assert is_spool(whole)
    assert inspect_spool(whole) == {"chunks": 1, "rows": 499, "entries": 2 * 499, "bytes": len(data)}
    for end in (10, len(data) - 1):
        whole.write_bytes(data[:end])
        with pytest.raises(CorruptError, match="cut short"):
            inspect_spool(whole)
    whole.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(CorruptError, match="checksum"):
        inspect_spool(whole)
    spool.close()
