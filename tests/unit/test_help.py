"""The help says what is so: numbers that stand in it are those of the code."""

from __future__ import annotations

import dataclasses
import re

from fsstream.config import InputOptions
from fsstream.formats import FORMATS, block_bytes
from fsstream.sources.blocks import LONG_BLOCK
from fsstream.units import parse_size


def test_the_sizes_of_blocks_are_those_of_the_help() -> None:
    [said] = [
        field.metadata["doc"] for field in dataclasses.fields(InputOptions) if field.name == "block_size"
    ]
    long, text, sequences = (parse_size(size) for size in re.findall(r"\d+ [KM]iB", said))
    assert long == LONG_BLOCK
    short = {"fasta", "fastq", "seq"}
    assert {name: block_bytes(name) for name in FORMATS} == {
        name: sequences if name in short else text for name in FORMATS
    }
