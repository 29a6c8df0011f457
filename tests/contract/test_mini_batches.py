"""Mini-batches are runs of rows of a pass, wherever files, blocks and checkpoints end."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from fsstream import run
from fsstream.config import SelectOptions

if TYPE_CHECKING:
    from pathlib import Path

LEARNERS = {"bear": 32, "iht": 16, "batch-iht": 16, "mission": 16}


def lines(labels: str) -> list[bytes]:
    rng = random.Random(7)
    rows = []
    for _ in range(203):
        label = rng.choice(labels)
        words = [f"w{word}:{rng.gauss(0, 1):.3f}" for word in rng.sample(range(40), 6)]
        rows.append(f"{label} {label}:1 {' '.join(words)}\n".encode())
    return rows


def selected(algo: str, *paths: Path, **options: Any) -> run.Outcome:
    settings = SelectOptions(
        inputs=tuple(map(str, paths)), algo=algo, format="pairs", k=5, loss="logistic", threads=1, quiet=True,
        set=(f"batch={LEARNERS[algo]}",), **options,
    )  # fmt: skip
    return run.select(settings)


@pytest.mark.parametrize("labels", ["pq", "pqrs"])
@pytest.mark.parametrize("algo", LEARNERS)
def test_parts_of_a_stream_end_no_mini_batch(algo: str, labels: str, tmp_path: Path) -> None:
    rows = lines(labels)
    whole, parts = tmp_path / "whole", [tmp_path / name for name in "abc"]
    whole.write_bytes(b"".join(rows))
    for part, (begin, end) in zip(parts, [(0, 97), (97, 150), (150, 203)], strict=True):
        part.write_bytes(b"".join(rows[begin:end]))
    saved = {"checkpoint": str(tmp_path / "saved"), "checkpoint_every": 1e-9, "block_size": 300}
    for options in ({}, {"passes": 2}, {"passes": 2, "shuffle": True}):
        expected = selected(algo, whole, **options).to_jsonl()
        assert selected(algo, *parts, **options).to_jsonl() == expected
        assert selected(algo, *parts, **options, **saved).to_jsonl() == expected


@pytest.mark.parametrize("algo", sorted(set(LEARNERS) - {"bear"}))  # whose state is not kept
def test_a_state_goes_on_behind_a_whole_mini_batch(algo: str, tmp_path: Path) -> None:
    """What is left at the end of a pass makes a step, so a state ends with a step."""
    rows = lines("pq")
    whole, first, rest = (tmp_path / name for name in ("whole", "first", "rest"))
    whole.write_bytes(b"".join(rows))
    expected = selected(algo, whole).to_jsonl()
    for size, same in ((160, True), (150, False)):
        first.write_bytes(b"".join(rows[:size]))
        rest.write_bytes(b"".join(rows[size:]))
        model = tmp_path / "model"
        selected(algo, first, with_state=True).model.save(model)
        assert (selected(algo, rest, init=str(model)).to_jsonl() == expected) is same
