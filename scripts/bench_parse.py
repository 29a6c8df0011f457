"""Text to batches alone: GB/s of one parser on one thread, beside memchr for line feeds.

    python scripts/bench_parse.py FORMAT FILE [--rounds N] [--kmer K] [--canonical]

The file is read once; blocks of whole records of about 1 MiB are parsed one after the other into
one reused batch, as in a run. CPU time, best of the rounds, interleaved with the search for line feeds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from fsstream._native import Batch
from fsstream.formats import format_named, settle
from fsstream.formats.options import FormatOptions
from fsstream.sources import Block, cut


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("format")
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--kmer", type=int)
    arguments.add_argument("--canonical", action="store_true")
    given = arguments.parse_args()

    data = given.file.read_bytes()
    chosen = format_named(given.format)
    blocks = list(cut(memoryview(data), chosen.head))
    options = FormatOptions(kmer=given.kmer, canonical=given.canonical)
    options = settle(given.format, options, [Block(str(given.file), blocks[0], 1, 0)])
    parser, batch = chosen.parser(options), Batch()
    parse_s = count_s = float("inf")
    rows = entries = feeds = 0
    for _ in range(given.rounds):
        rows = entries = 0
        start = time.thread_time()
        for block in blocks:
            parser.parse(block, batch, starts_source=block is blocks[0])
            rows += batch.rows
            entries += batch.entries
        parse_s = min(parse_s, time.thread_time() - start)
        start = time.thread_time()
        feeds = data.count(b"\n")
        count_s = min(count_s, time.thread_time() - start)
    size = len(data) / 1e9
    print(f"{given.format}: {rows} rows, {entries} entries, {len(data) / max(entries, 1):.1f} bytes an entry")
    print(f"  parse       {size / parse_s:6.2f} GB/s  {entries / parse_s / 1e6:6.0f} M entries/s")
    print(f"  line feeds  {size / count_s:6.2f} GB/s  ({feeds})")


if __name__ == "__main__":
    main()
