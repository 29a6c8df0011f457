"""Output order: class after class, larger |weight| first, then the name in byte order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fsstream.selection import Selection

ENTRIES = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=3),
        st.sampled_from([-2.0, -1.0, -0.0, 0.0, 1.0, 2.0, 0.5]),
        st.integers(0, 2),
    ),
    max_size=40,
)


@given(entries=ENTRIES, classes=st.booleans())
def test_order_is_that_of_sorted_tuples(entries: list[tuple[bytes, float, int]], classes: bool) -> None:
    names, weights, labels = ([entry[i] for entry in entries] for i in range(3))
    selection = Selection(names, np.array(weights, np.float32), labels if classes else None)
    first = list(dict.fromkeys(labels))
    slow = sorted(
        range(len(entries)),
        key=lambda i: (first.index(labels[i]) if classes else 0, -abs(weights[i]), names[i]),
    )
    assert selection.order == slow
