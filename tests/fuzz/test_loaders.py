"""Files with a right digest and a changed inside, and changed texts: refused with a message, or read.

A few of what scripts/fuzz_loaders.py tries by the million.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream import run
from fsstream.algorithms.learner import Common, Task
from fsstream.algorithms.mission import Mission
from fsstream.archive import pack, unpack
from fsstream.checkpoint import load_checkpoint
from fsstream.config import SelectOptions
from fsstream.errors import CorruptError
from fsstream.model_file import parse_model
from scripts.fuzz_changes import sealed
from scripts.fuzz_loaders import ROWS, attempt, targets

if TYPE_CHECKING:
    from pathlib import Path

CHANGES = {
    "archive": 300,
    "unsealed": 300,
    "model": 300,
    "model bytes": 300,
    "checkpoint": 300,
    "state": 300,
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


def test_a_member_that_says_it_is_encrypted_is_refused() -> None:
    whole = pack({"a": 1}, {"numbers": np.zeros(3)})
    for at in range(len(whole) - 4):
        if whole[at : at + 4] == b"PK\x01\x02":  # the directory's entry: its flags are 8 bytes on
            lying = sealed(whole[: at + 8] + bytes([whole[at + 8] | 1]) + whole[at + 9 :])
            with pytest.raises(CorruptError, match="is not stored as it is"):
                unpack(lying, "model")


@pytest.mark.parametrize("name", ["inputs", "set", "class_weight"])
def test_a_number_where_the_options_want_a_list_is_refused(name: str, tmp_path: Path) -> None:
    rows, saved = tmp_path / "rows", tmp_path / "saved"
    rows.write_bytes(ROWS)
    run.select(SelectOptions(inputs=(str(rows),), format="pairs", k=3, checkpoint=str(saved), quiet=True))
    meta, members = unpack(saved.read_bytes(), "saved")
    assert isinstance(meta["options"][name], list)
    saved.write_bytes(pack({**meta, "options": {**meta["options"], name: 7}}, members))
    with pytest.raises(CorruptError) as refused:
        load_checkpoint(str(saved))
    assert refused.value.exit_code == 5


def test_an_intercept_that_32_bits_do_not_hold_ends_without_a_warning() -> None:
    learner = Mission(Common(k=1, memory=1 << 20), Mission.Parameters(), Task("logistic", ("0", "1")))
    learner.kernel.intercept = 1e300
    assert np.isinf(learner.intercepts()[0])


def test_lengths_of_names_that_are_infinite_are_refused(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.write_bytes(ROWS)
    model = run.select(SelectOptions(inputs=(str(rows),), format="pairs", k=3, quiet=True)).model
    meta, members = unpack(model.to_bytes(), "model")
    lying = pack(meta, {**members, "names_ends": np.full(3, np.inf)})
    with pytest.raises(CorruptError, match="not a valid model"):
        parse_model(lying, "model")


@pytest.mark.parametrize("name", ["weights", "intercepts"])
def test_numbers_that_32_bits_do_not_hold_are_refused_without_a_warning(tmp_path: Path, name: str) -> None:
    rows = tmp_path / "rows"
    rows.write_bytes(ROWS)
    model = run.select(SelectOptions(inputs=(str(rows),), format="pairs", k=3, quiet=True)).model
    meta, members = unpack(model.to_bytes(), "model")
    lying = pack(meta, {**members, name: np.full(len(members[name]), 1e300)})
    with pytest.raises(CorruptError, match="no finite number"):
        parse_model(lying, "model")
