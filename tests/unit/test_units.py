"""Sizes, times and counts as people write and read them."""

import pytest

from fsstream.units import parse_interval, parse_size, show_count, show_size, show_time, show_weight


@pytest.mark.parametrize(
    ("text", "size"),
    [("4096", 4096), ("256MB", 256_000_000), ("1.5 GiB", 3 << 29), ("10k", 10_000), ("0", 0), ("7B", 7)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1", "1XB", "1.2.3", "5iB", "1e9"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="expected a size"):
        parse_size(text)


def test_intervals_are_seconds_or_bytes() -> None:
    assert parse_interval("60s") == 60.0
    assert parse_interval("0.5s") == 0.5
    assert parse_interval("2m") == 120.0
    assert parse_interval("1GB") == 10**9
    with pytest.raises(ValueError, match="time like 60s"):
        parse_interval("soon")


def test_numbers_are_shown_for_people() -> None:
    assert [show_size(n) for n in (999, 1000, 1_793_000_000)] == ["999 B", "1 KB", "1.79 GB"]
    assert [show_count(n) for n in (9999, 117_900_000)] == ["9999", "118 M"]
    assert [show_time(s) for s in (0.04, 12.345, 200, 7500)] == [
        "40 ms",
        "12.3 s",
        "3 min 20 s",
        "2 h 05 min",
    ]


def test_weights_line_up() -> None:
    assert [show_weight(w) for w in (-1.6, 0.85, 12.34, 123.4, 4567.8, 0.0)] == [
        "-1.60", "0.850", "12.3", "123", "4568", "0.00",
    ]  # fmt: skip
