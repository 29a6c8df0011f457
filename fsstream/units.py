"""Sizes and times as people write them: `256MB`, `1.5GiB`, `60s`."""

from __future__ import annotations

import re

_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TIMES = {"s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smh])")


def parse_size(text: str) -> int:
    """Bytes of `4096`, `256MB` (10^6) or `256MiB` (2^20); ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or (match[3] and not match[2]):
        raise ValueError(f"expected a size like 256MB, got {text!r}")
    scale = (_BINARY if match[3] else _SIZES)[match[2].lower()]
    return int(float(match[1]) * scale)


def parse_interval(text: str) -> float | int:
    """`60s`, `5m`, `1h` are seconds (float); `1GB` is bytes (int)."""
    match = _TIME.fullmatch(text.strip())
    if match is not None:
        return float(match[1]) * _TIMES[match[2]]
    try:
        return parse_size(text)
    except ValueError:
        raise ValueError(f"expected a time like 60s or a size like 1GB, got {text!r}") from None


def show_size(size: float) -> str:
    """`1.25 GB`: three digits and a unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def show_count(count: float) -> str:
    """`1.25 M`: three digits and a magnitude; whole numbers below 10,000 as they are."""
    if count < 10_000:
        return f"{count:.0f}" if count == int(count) else f"{count:.3g}"
    for magnitude in ("k", "M", "G"):
        count /= 1000
        if count < 1000:
            return f"{count:.3g} {magnitude}"
    return f"{count / 1000:.3g} T"


def show_weight(weight: float) -> str:
    """`-1.60`, `0.0123`: three digits, so that columns of them are even; tiny ones as powers of ten."""
    shown = f"{weight:#.3g}" if abs(weight) < 1000 else f"{weight:.0f}"
    return shown.removesuffix(".")


def show_time(seconds: float) -> str:
    """`340 ms`, `12.5 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:02.0f} min"
