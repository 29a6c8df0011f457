"""Batches on their way from parser to learner."""

from __future__ import annotations

import pytest

from fsstream._native import TokensParser
from fsstream.pipeline import parse_blocks
from fsstream.sources.blocks import LONG_BLOCK, Block

LONG = b"1 " + b"word " * (LONG_BLOCK // 5 + 1) + b"\n"


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_parsers_know_whether_the_learner_is_on_another_core(threads: int) -> None:
    texts = [b"1 a\n", LONG, b"0 b\n"] * 3  # the batch of a long block has given its memory back
    blocks = (Block("words", memoryview(text), at + 1, at) for at, text in enumerate(texts))
    found = [
        parsed.batch.read_elsewhere
        for parsed in parse_blocks(blocks, TokensParser, threads=threads, skip_bad=False)
    ]
    assert found == [threads > 1] * len(texts)
