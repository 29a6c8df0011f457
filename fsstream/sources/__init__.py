"""Bytes in, Blocks out: paths and standard input, packed or plain, cut into whole records."""

from fsstream.sources.blocks import BLOCK_BYTES, RECORD_LIMIT, Block, Position, cut
from fsstream.sources.inputs import PEEK_RECORDS, Input, take_lines
from fsstream.sources.source import Source

__all__ = [
    "BLOCK_BYTES",
    "PEEK_RECORDS",
    "RECORD_LIMIT",
    "Block",
    "Input",
    "Position",
    "Source",
    "cut",
    "take_lines",
]
