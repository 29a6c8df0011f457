"""The simulations of docs/results-mission.md on draws that every rule gets right."""

from __future__ import annotations

import pytest

from scripts.planted_regression import Rule, planted, planted_sparse

FULL = Rule("mission", {"sketch": "identity"}, passes=60, full=True, cooling=20)
DRAWS = {"dense": planted(60, 40, 2, 0), "sparse": planted_sparse(200, 100, 2, 0, 10)}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=list(DRAWS))
def test_full_gradients_find_the_support(draw) -> None:
    assert FULL.finds(draw)


def test_reading_the_rows_finds_the_support() -> None:
    assert Rule("mission", {}, rates=(None,)).finds(DRAWS["dense"])
