"""Blanks between the last feature and the line end."""

from fsstream._native import Batch, VwParser


def test_blanks_before_the_line_end_are_not_walked_past() -> None:
    # Long enough for the fast reader, which goes up to the line feed.
    text = b"1 | a b \t \n1 | c \r\n1 | d:2   \n" * 20
    batch = Batch()
    VwParser().parse(text, batch)
    assert batch.bad == []
    assert batch.names() == [b"a", b"b", b"c", b"d"] * 20
    assert batch.rows == 60
