"""What a plan makes of its trials: constants stay, the rest grows with its cause, tables leap."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fsstream.extension import Measured, memory_at_end, time_at_end

MB = 1 << 20


@dataclass(frozen=True)
class Stream:
    """So much was looked at; distinct features are a power of the bytes."""

    size: int
    share: float
    power: float = 0.5

    def features_in(self, size: float) -> float:
        return 1000.0 * (size / MB) ** self.power


def trials(*sizes: int) -> list[Measured]:
    return [Measured(size, 0, size / MB, 1) for size in sizes]


@pytest.mark.parametrize("constant", [0, 30 * MB])
def test_a_constant_stays_and_entries_count(constant: int) -> None:
    sizes = (MB, 4 * MB, 16 * MB)
    apart = [constant + 5 * size for size in sizes]
    whole = memory_at_end(apart, trials(*sizes), Stream(16 * MB, 0.25), slot=0)
    assert whole == constant + 5 * 64 * MB


@pytest.mark.parametrize("constant", [0, 30 * MB])
def test_features_count_where_memory_follows_them(constant: int) -> None:
    stream, sizes = Stream(16 * MB, 0.25), (MB, 4 * MB, 16 * MB)
    apart = [constant + round(20_000 * stream.features_in(size)) for size in sizes]
    whole = memory_at_end(apart, trials(*sizes), stream, slot=0)
    assert whole == pytest.approx(constant + 20_000 * 8000, rel=1e-6)


def test_two_trials_tell_by_their_ratio() -> None:
    stream, sizes = Stream(16 * MB, 0.25), (4 * MB, 16 * MB)
    assert memory_at_end([5 * size for size in sizes], trials(*sizes), stream, slot=0) == 5 * 64 * MB
    features = [round(20_000 * stream.features_in(size)) for size in sizes]
    assert memory_at_end(features, trials(*sizes), stream, slot=0) == pytest.approx(20_000 * 8000, rel=1e-6)


def test_what_does_not_grow_is_as_large_in_the_end() -> None:
    assert memory_at_end([7 * MB, 7 * MB + 9], trials(MB, 4 * MB), Stream(4 * MB, 0.01), slot=0) == 7 * MB + 9


def test_a_table_of_features_leaps() -> None:
    """716 features fill a table of 1,024 slots; 1,000 need 2,048, and 1,500 need 4,096."""
    stream, slot = Stream(MB, 1 / 2.25), 1 << 14
    before, now = 0.5**2 * MB, MB
    apart = [round(slot * slots + 3 * size) for slots, size in ((1024, before), (2048, now))]
    whole = memory_at_end(apart, trials(round(before), now), stream, slot)
    assert whole == pytest.approx(slot * 4096 + 3 * 2.25 * MB, rel=1e-3)


def test_time_grows_by_the_power_that_the_trials_show() -> None:
    quadratic = [Measured(MB, 0, 1.0, 1), Measured(2 * MB, 0, 4.0, 1)]
    assert time_at_end(quadratic, Stream(2 * MB, 0.5)) == pytest.approx(16)
    assert time_at_end(quadratic[1:], Stream(2 * MB, 0.5)) == pytest.approx(8)
