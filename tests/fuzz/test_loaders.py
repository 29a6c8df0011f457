"""Files with a right digest and a changed inside, and changed texts: refused with a message, or read.

A few of what scripts/fuzz_loaders.py tries by the million.
"""

from __future__ import annotations

import pytest

from scripts.fuzz_loaders import attempt, targets

CHANGES = {
    "archive": 300,
    "unsealed": 300,
    "model": 300,
    "model bytes": 300,
    "checkpoint": 300,
    "resume": 60,
    "merge": 100,
    "selection": 300,
    "config": 300,
}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return targets(tmp_path_factory.mktemp("fuzzed"))


@pytest.mark.parametrize(("name", "changes"), CHANGES.items())
def test_a_changed_file_is_refused_or_read(name: str, changes: int, known: dict[str, object]) -> None:
    exits = []
    for seed in range(changes):
        status, wrong = attempt(known[name], seed)  # type: ignore[arg-type]
        assert not wrong, f"seed {seed}: {wrong}"
        exits.append(status)
    assert sum(status != 0 for status in exits) > changes // 10
