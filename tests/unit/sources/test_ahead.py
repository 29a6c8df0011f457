"""Bytes that are looked at before they are read."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsstream.sources.ahead import Ahead


@given(
    st.binary(max_size=300_000),
    st.lists(st.integers(0, 400_000), max_size=4),
    st.lists(st.integers(1, 90_000), min_size=1),
)
def test_all_of_them_are_seen_as_often_as_wanted_and_read_once(data, sizes, counts):
    ahead, source, had = Ahead(), io.BytesIO(data), 0
    for size in sizes:
        assert ahead.fill(size, source.readinto) == (size <= len(data))
        had = max(had, min(size, len(data)))
        assert len(ahead) == had
        assert bytes(ahead.view(size // 2, size)) == data[size // 2 : size]
    read = bytearray()
    while ahead:
        buffer = bytearray(counts[len(read) % len(counts)])
        count = ahead.take(memoryview(buffer))
        assert count == min(len(buffer), had - len(read))
        read += buffer[:count]
    assert read == data[:had]


def test_nothing_is_added_or_taken_while_they_are_looked_at():
    ahead = Ahead()
    ahead.fill(1, io.BytesIO(b"1").readinto)
    view = ahead.view(0, 1)
    with pytest.raises(BufferError):
        ahead.take(memoryview(bytearray(1)))
    with pytest.raises(BufferError):
        ahead.fill(2, io.BytesIO(b"2").readinto)
    assert bytes(view) == b"1"
    del view
    assert ahead.take(memoryview(bytearray(1))) == 1
