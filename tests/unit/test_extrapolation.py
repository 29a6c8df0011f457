"""What a plan makes of its trials: constants stay, the rest grows with its cause, tables leap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.algorithms import backend
from fsstream.algorithms.b_arda import BArda
from fsstream.algorithms.feature_tables import open_table
from fsstream.algorithms.learner import Common, Task
from fsstream.planning.estimate import no_table
from fsstream.planning.extrapolation import Measured, memory_at_end, time_at_end

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
    whole = memory_at_end(apart, trials(*sizes), Stream(16 * MB, 0.25), no_table)
    assert whole == constant + 5 * 64 * MB


@pytest.mark.parametrize("constant", [0, 30 * MB])
def test_features_count_where_memory_follows_them(constant: int) -> None:
    stream, sizes = Stream(16 * MB, 0.25), (MB, 4 * MB, 16 * MB)
    apart = [constant + round(20_000 * stream.features_in(size)) for size in sizes]
    whole = memory_at_end(apart, trials(*sizes), stream, no_table)
    assert whole == pytest.approx(constant + 20_000 * 8000, rel=1e-6)


def test_two_trials_tell_by_their_ratio() -> None:
    stream, sizes = Stream(16 * MB, 0.25), (4 * MB, 16 * MB)
    assert memory_at_end([5 * size for size in sizes], trials(*sizes), stream, no_table) == 5 * 64 * MB
    features = [round(20_000 * stream.features_in(size)) for size in sizes]
    assert memory_at_end(features, trials(*sizes), stream, no_table) == pytest.approx(20_000 * 8000, rel=1e-6)


def test_what_does_not_grow_is_as_large_in_the_end() -> None:
    assert (
        memory_at_end([7 * MB, 7 * MB + 9], trials(MB, 4 * MB), Stream(4 * MB, 0.01), no_table) == 7 * MB + 9
    )


def test_a_table_of_features_leaps() -> None:
    """500 features fill a table of 1,024 slots, 1,000 need 2,048, and 1,500 need 4,096."""
    stream = Stream(64 * MB, 1 / 2.25)
    before, now = 16 * MB, 64 * MB
    apart = [2000 * open_table(stream.features_in(size)) + 3 * size for size in (before, now)]

    def table(features: float) -> int:
        return 2000 * open_table(features)

    whole = memory_at_end(apart, trials(before, now), stream, table)
    assert whole == pytest.approx(2000 * 16 * (1 << 15) + 3 * 2.25 * 64 * MB, rel=1e-3)


ROOM = 16.125  # bytes of address space a feature that b-arda has room for; pages come with the features


@pytest.mark.parametrize(
    ("algo", "room"), [("b-arda", ROOM), ("b-amd", 0), ("sofs", 0), ("l1-arda", 0), ("ada-fobos", 0)]
)
@pytest.mark.parametrize("stride", [1, 1_000_003], ids=["direct", "hashed"])
def test_a_table_leaps_like_that_of_the_kernel(algo: str, room: float, stride: int) -> None:
    """With one feature more than a power of two its index doubles."""
    chosen, full = backend(algo), 1 << 14
    parameters = chosen.Parameters()
    learner = chosen(Common(k=5), parameters, Task("squared-hinge"))
    held = []
    for keys in (np.arange(full) * stride, np.arange(full, full + 2) * stride):
        starts = np.arange(len(keys) + 1, dtype=np.uint64)
        targets = np.where(np.arange(len(keys)) % 2, np.float32(1), np.float32(-1))
        learner.update(
            Batch.from_arrays(starts, keys.astype(np.uint64), np.ones(len(keys), np.float32), targets)
        )
        held.append(learner.facts()["state_bytes"])
    before, after = (chosen.table_bytes(parameters, n, full * stride) for n in (full, full + 2))
    assert held[1] - held[0] == pytest.approx(after - before + room * full, rel=0.01)
    assert after == 2 * before


def test_a_sketch_has_no_table_of_all_features() -> None:
    sketched = BArda.Parameters(store="sketch")
    assert BArda.table_bytes(sketched, 1e6, 10) == 0 < BArda.table_bytes(BArda.Parameters(), 1e6, 10)


def test_time_grows_by_the_power_that_the_trials_show() -> None:
    quadratic = [Measured(MB, 0, 1.0, 1), Measured(2 * MB, 0, 4.0, 1)]
    assert time_at_end(quadratic, Stream(2 * MB, 0.5)) == pytest.approx(16)
    assert time_at_end(quadratic[1:], Stream(2 * MB, 0.5)) == pytest.approx(8)
