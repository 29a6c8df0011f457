"""Records longer than a block: in flight alone, refused where memory does not hold them, the same rows."""

from __future__ import annotations

import gc
import mmap
import random
import weakref
from typing import TYPE_CHECKING

import pytest

from fsstream import memory
from fsstream._native import Batch, TokensParser, count_fields
from fsstream.errors import LimitError
from fsstream.formats import format_named, make_parser, most_entries
from fsstream.formats.options import FormatOptions
from fsstream.pipeline import parse_blocks
from fsstream.sources.blocks import LONG_BLOCK, Block

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = b"1 a b c\n" * 3
LONG = b"1 " + b"word " * (LONG_BLOCK // 5 + 1) + b"\n"


class Held(bytearray):
    """Bytes that tell when they are gone."""


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_long_block_is_in_flight_alone_and_let_go(threads: int) -> None:
    texts = [SHORT, SHORT, LONG, SHORT, LONG, LONG, SHORT]
    read: list[int] = []
    learned: list[int] = []
    held: list[weakref.ref[Held]] = []

    def blocks() -> Iterator[Block]:
        for at, text in enumerate(texts):
            gc.collect()
            if (
                at and texts[at - 1] == LONG
            ):  # nothing behind a long one is read before it is learned and gone
                assert learned[-1] == at - 1
                assert held[-1]() is None
            read.append(at)
            data = Held(text)
            held.append(weakref.ref(data))
            yield Block("words", memoryview(data), at + 1, at)
            del data

    def check_long(block: Block) -> None:
        assert learned == list(range(block.offset))  # all before it has been learned

    found = parse_blocks(blocks(), TokensParser, threads=threads, skip_bad=False, check_long=check_long)
    for parsed in found:
        learned.append(parsed.block.offset)
        assert parsed.batch.rows == texts[learned[-1]].count(b"\n")
    assert read == learned == list(range(len(texts)))


def test_what_does_not_fit_is_refused_before_it_is_parsed() -> None:
    block = Block("words", memoryview(LONG), 7, 0)
    room = memory.Room(1 << 20)
    room.check(block, 1000, 1 << 19)
    room.per_entry = 1 << 20
    with pytest.raises(LimitError, match=r"words:7: a record of 2.1 MB with 1,000 features needs .*") as told:
        room.check(block, 1000, 1 << 19)
    assert told.value.hint is not None
    assert told.value.hint.startswith("raise --memory by ")


def test_a_block_that_is_meant_to_be_long_is_no_record() -> None:
    """With --block-size 4MB hundreds of records were told of as one that is too long."""
    room = memory.Room(1 << 20)
    room.per_entry = 1 << 20
    with pytest.raises(LimitError, match=r"words:6: a block of 2.1 MB with 1,000 features needs .*") as told:
        room.check(Block("words", memoryview(b"short\n" + LONG), 6, 0), 1000, 4 << 20)
    assert told.value.hint == "lower --block-size"


def test_fields_are_counted() -> None:
    rng = random.Random(1)
    for _ in range(200):
        text = bytes(rng.choices(b"ab \t\n", k=rng.randrange(30)))
        assert count_fields(text, b" \t\n") == len(text.split())


@pytest.mark.parametrize(("form", "text", "options"), [
    ("libsvm", b"1 3:1 4:2  5:1 # x\n", {}),
    ("pairs", b"1 a:1\tb:2   c:d:1\n", {}),
    ("tokens", b"1 a b c d\n", {"ngrams": 3}),
    ("vw", b"1 2 'tag|ns a b:2 |other:2 c\n", {}),
    ("columns", b"name 3:1 4:2\n", {}),
    ("jsonl", b'{"y": 1, "a": 2, "b": {"c": "x", "d": ["y", "z"]}, "e": true}\n', {"label_column": "y"}),
    ("seq", b"1\tACGTACGTNACGT\n", {"kmer": 2, "canonical": False}),
    ("fasta", b">r label=1\nACGTACGTNACGT\nACG\n", {"kmer": 2, "canonical": False}),
    ("fastq", b"@r label=1\nACGTACGT\n+\nIIIIIIII\n", {"kmer": 2, "canonical": False}),
])  # fmt: skip
def test_no_record_has_more_entries_than_are_reckoned_with(form: str, text: bytes, options: dict) -> None:
    settings = FormatOptions(**options)
    batch = Batch()
    make_parser(form, settings).parse(text, batch, False, "text", True)
    assert not batch.bad
    assert 0 < batch.entries <= most_entries(form, settings, text)
    assert format_named(form).head(text, True) == len(text)


def test_memory_is_seen_to_go_and_a_batch_can_be_filled_again() -> None:
    batch = Batch()
    TokensParser().parse(LONG, batch)
    many = mmap.mmap(-1, 1 << 25)  # from the system: an allocator may keep what it is given back
    many.write(b"1" * len(many))
    before = memory.resident_memory()
    many.close()
    assert before - memory.resident_memory() > 1 << 24  # the number is one
    batch.release()
    assert (batch.rows, batch.entries) == (0, 0)
    TokensParser().parse(SHORT, batch)
    assert batch.rows == 3
