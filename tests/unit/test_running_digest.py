"""The running digest of an input is that of its bytes, however they come."""

from __future__ import annotations

import mmh3
from hypothesis import given
from hypothesis import strategies as st

from fsstream._native import RunningDigest


@given(st.lists(st.binary(max_size=70)))
def test_it_is_murmur_of_all_pieces(pieces: list[bytes]) -> None:
    digest = RunningDigest()
    for piece in pieces:
        digest.add(piece)
    first, second = mmh3.hash64(b"".join(pieces), signed=False)
    assert digest.text == f"{first:016x}{second:016x}"


def test_a_copy_goes_on_alone() -> None:
    digest = RunningDigest()
    digest.add(b"one")
    copy = digest.copy()
    digest.add(b"two")
    assert (
        copy.text == f"{mmh3.hash64(b'one', signed=False)[0]:016x}{mmh3.hash64(b'one', signed=False)[1]:016x}"
    )
    assert copy.text != digest.text
