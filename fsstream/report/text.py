"""Text in the page: everything that comes from data goes through here."""

from __future__ import annotations

import html
import unicodedata

LONGEST = 48


def escaped(text: object) -> str:
    """Text as HTML, with what cannot be seen, or turns the text around, spelled out."""
    return html.escape("".join(map(_visible, str(text))), quote=True)


def name(text: str) -> str:
    """A feature's name: cut where it is long, whole as its title, and never mixed with its surroundings."""
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f'<bdi title="{escaped(text)}">{escaped(cut)}</bdi>'


def _visible(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if letter in "\n\t" or unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return letter
