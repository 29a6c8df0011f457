"""Blocks in, parsed batches out: parsers run in threads ahead, results come in input order.

What comes out does not depend on the number of threads: a ticket keeps Blocks in the order they
were read, and batches are handed over in the order of their tickets.

A record that is longer than a block makes a Block of its own. One of those is in flight alone: nothing is
read behind it before its rows have been learned and its memory has been given back.
"""

from __future__ import annotations

import atexit
import threading
import time
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING
from weakref import WeakSet

from fsstream._native import Batch
from fsstream.signals import held
from fsstream.sources.short_lines import END

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from fsstream._native import Parser
    from fsstream.sources import Block, Position


_AT_WORK: WeakSet[_Workers] = WeakSet()
_PATIENCE = 0.5  # seconds, with a read that may be one of a stalled pipe


@dataclass
class Parsed:
    """A Block and its rows, until the next one is taken."""

    block: Block
    batch: Batch

    def let_go(self) -> None:
        """Give back the memory of a long record: whoever still holds this looks at it no more."""
        if self.block.is_long:
            self.block = replace(self.block, data=memoryview(b""))
            self.batch.release()

    def lies_before(self, start: Position | None) -> bool:
        """Whether the rows have been seen by the run that goes on at the start."""
        return start is not None and self.block.end is not None and self.block.end <= start


class _Ticket:
    """The place of one Block in line: filled by a worker, awaited by the learner."""

    __slots__ = ("batch", "error", "parsed", "pending")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.parsed: Parsed | None = None  # None when filled: there are no more Blocks
        self.error: BaseException | None = None
        self.pending = threading.Lock()  # let go when the ticket is filled
        self.pending.acquire()


def parse_blocks(
    blocks: Iterator[Block],
    make_parser: Callable[[], Parser],
    *,
    threads: int,
    skip_bad: bool,
    reuse: bool = True,
    check_long: Callable[[Block], None] = lambda _: None,
    most_resident: int = 0,
) -> Generator[Parsed, None, None]:
    """Parse with `threads` - 1 threads beside the caller's; with one thread, in the caller's.

    With `reuse` a batch is good until the next one is taken, else for as long as anybody holds it.
    A long block is shown to `check_long` before it is parsed, when all before it has been learned.
    Names that are composed are LimitExceeded where the process would take more than `most_resident` bytes.
    """
    parsing = _Parsing(make_parser, skip_bad, check_long, most_resident, in_threads=threads > 1)
    if threads == 1:
        yield from _parse_here(blocks, parsing, reuse)
    else:
        with _Workers(blocks, parsing, workers=threads - 1, reuse=reuse) as workers:
            yield from workers


@dataclass(frozen=True)
class _Parsing:
    """How blocks become rows, in whatever thread."""

    make_parser: Callable[[], Parser]
    skip_bad: bool
    check_long: Callable[[Block], None]
    most_resident: int
    in_threads: bool  # beside the learner's

    def batch(self) -> Batch:
        """An empty one."""
        batch = Batch()
        batch.most_resident = self.most_resident
        batch.read_elsewhere = self.in_threads
        return batch

    def parse(self, parser: Parser, parsed: Parsed) -> None:
        """Fill the batch from the block."""
        block = parsed.block
        if block.was_cut:  # nobody looks at more of it than makes it a bad record
            parser.parse(memoryview(END[:1]), parsed.batch, self.skip_bad, block.source, False)
            return
        if block.is_long:
            self.check_long(block)
            parser = self.make_parser()  # its scratch memory has the size of the record
        parser.parse(block.data, parsed.batch, self.skip_bad, block.source, block.begins_source)


def _parse_here(blocks: Iterator[Block], parsing: _Parsing, reuse: bool) -> Iterator[Parsed]:
    batch, parser = parsing.batch(), parsing.make_parser()
    while (block := next(blocks, None)) is not None:
        parsed = Parsed(block, batch)
        del block
        parsing.parse(parser, parsed)
        yield parsed
        if reuse:
            parsed.let_go()
        else:
            batch = parsing.batch()


class _Workers:
    """Threads that read and parse ahead. Reading is in turn, parsing is side by side."""

    def __init__(
        self,
        blocks: Iterator[Block],
        parsing: _Parsing,
        *,
        workers: int,
        reuse: bool,
    ) -> None:
        self._blocks = blocks
        self._parsing = parsing
        self._reuse = reuse
        self._turn = threading.Lock()  # held while a Block is read and its ticket queued
        self._batches = 2 * workers + 1
        self._free: SimpleQueue[Batch | None] = SimpleQueue()  # None: nothing is to be read any more
        for _ in range(self._batches):
            self._free.put(parsing.batch())
        self._queue: SimpleQueue[_Ticket] = SimpleQueue()
        self._stopped = False
        self._reading = False
        # Daemons: a worker that waits for a stalled pipe must not keep the program from ending.
        self._threads = [
            threading.Thread(target=self._work, args=(parsing.make_parser(),), daemon=True)
            for _ in range(workers)
        ]

    def __enter__(self) -> _Workers:
        _AT_WORK.add(self)
        try:
            with held():  # what a handler raises amid a start leaves `threading` in disorder
                for thread in self._threads:
                    thread.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the threads. What they have parsed may still be taken."""
        _AT_WORK.discard(self)
        self._stopped = True
        self._free.put(None)
        # One that reads is done in a moment, or waits for its input, maybe for ever: it is left behind then,
        # see cli.main. One left behind without need would be in the core when Python ends, and abort it.
        gives_up = time.monotonic() + _PATIENCE
        for thread in self._threads:
            while thread.is_alive() and not (self._reading and time.monotonic() > gives_up):
                thread.join(0.01)

    def __iter__(self) -> Iterator[Parsed]:
        while True:
            ticket = self._queue.get()
            ticket.pending.acquire()
            if ticket.error is not None:
                raise ticket.error
            if ticket.parsed is None:
                return
            yield ticket.parsed
            if self._reuse:
                ticket.parsed.let_go()
            ticket.parsed = None
            self._free.put(ticket.batch if self._reuse else self._parsing.batch())

    def _work(self, parser: Parser) -> None:
        more = True
        while more:
            with self._turn:
                ticket = self._next_ticket()
                if ticket is None:
                    return
                is_long = ticket.parsed is not None and ticket.parsed.block.is_long
                if is_long:
                    more = self._parse_alone(parser, ticket)
            if not is_long:
                more = self._parse(parser, ticket)

    def _parse_alone(self, parser: Parser, ticket: _Ticket) -> bool:
        """When all before it has been learned; and nothing is read until it has been, too."""
        self._wait_until_free(self._batches - 1)
        more = self._parse(parser, ticket)
        self._wait_until_free(self._batches)
        return more

    def _wait_until_free(self, batches: int) -> None:
        """Only who reads, in its turn, takes batches: it may take them all, and put them back."""
        taken: list[Batch | None] = []
        while len(taken) < batches and not self._stopped:
            taken.append(self._free.get())
        for batch in taken:
            self._free.put(batch)

    def _parse(self, parser: Parser, ticket: _Ticket) -> bool:
        """Fill the ticket; whether there is more behind it."""
        more = False
        if ticket.parsed is not None and ticket.error is None:
            try:
                self._parsing.parse(parser, ticket.parsed)
                more = True
            except BaseException as error:
                ticket.error = error
        ticket.pending.release()  # from here on it is the learner's
        return more

    def _next_ticket(self) -> _Ticket | None:
        """Read a Block into the next place in line; None when the run is over."""
        batch = self._free.get()
        if self._stopped or batch is None:
            self._free.put(None)  # for the next one in turn
            return None
        ticket = _Ticket(batch)
        self._reading = True
        try:
            block = next(self._blocks, None)
            ticket.parsed = None if block is None else Parsed(block, ticket.batch)
        except BaseException as error:
            ticket.error = error
        self._reading = False
        if ticket.parsed is None:
            self._stopped = True
            self._free.put(None)
        self._queue.put(ticket)
        return ticket


@atexit.register
def _stop_all() -> None:
    """A stream that is held half read must not have threads in the core when Python ends."""
    for workers in list(_AT_WORK):
        workers.stop()
