"""Where classes have a learner each, the row that is told of is the first in which one of them failed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from fsstream import run
from fsstream.config import SelectOptions
from fsstream.errors import DivergedError

if TYPE_CHECKING:
    from pathlib import Path

LATE = 100  # the first row of a class that comes late


def rows() -> bytes:
    """The values explode in the last third, where the classes take turns at failing."""
    rng = random.Random(5)
    lines = []
    for number in range(900):
        label = rng.choice("abcd" if number >= LATE else "abc") if number != LATE else "d"
        scale = 1e4 if number >= 600 else 1.0
        entries = (f"{name}:{scale * rng.gauss(0, 1):.4f}" for name in rng.sample(range(1, 30), 8))
        lines.append(f"{label} {' '.join(entries)}\n")
    return "".join(lines).encode()


def failure(path: Path, block_size: int, **options: Any) -> str:
    settings = SelectOptions(
        inputs=(str(path),), format="libsvm", k=5, loss="squared-hinge", threads=1, quiet=True,
        block_size=block_size, **options,
    )  # fmt: skip
    with pytest.raises(DivergedError) as caught:
        run.select(settings)
    return str(caught.value)


@pytest.mark.parametrize("options", [
    {"algo": "bear", "learning_rate": 0.2, "set": ("batch=7",)},
    {"algo": "iht", "learning_rate": 2e-6, "set": ("batch=40",)},
    {"algo": "iht", "learning_rate": 2e-6},
    {"algo": "awm", "learning_rate": 2e-6},
    {"algo": "mission", "learning_rate": 2e-6},
], ids=lambda options: " ".join(map(str, options.values())))  # fmt: skip
def test_the_row_does_not_hang_on_blocks(options: dict[str, Any], tmp_path: Path) -> None:
    """It was that of the first class that failed in the block, counted from the first row of the class."""
    path = tmp_path / "rows"
    path.write_bytes(rows())
    told = {failure(path, size, **options) for size in (200, 1000, 5000, 1 << 20)}
    assert len(told) == 1
    row = int(told.pop().rpartition("diverged at row ")[2])
    assert 600 < row <= 900
