"""Bytes as text and back: names and labels need not be UTF-8.

A byte that is not part of valid UTF-8 becomes the lone surrogate U+DC80 to U+DCFF (Python's
`surrogateescape`), in JSON the escape `\\udc80` to `\\udcff`. The way back is exact.
"""

from __future__ import annotations

from codecs import BOM_UTF8


def without_mark(text: bytes) -> bytes:
    """The text of a file: the byte order mark that some editors put before it is no part of it."""
    return text.removeprefix(BOM_UTF8)


def to_text(text: bytes) -> str:
    """The str of a label or name."""
    return text.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The bytes a label or name was read from."""
    return text.encode("utf-8", "surrogateescape")
