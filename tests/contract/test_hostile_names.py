"""Names and keys that were made to collide: told where names are kept, and of use against one seed only."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

import mmh3
import pytest

from fsstream import run
from fsstream.algorithms import BACKENDS
from fsstream.config import SelectOptions
from scripts.hostile_keys import colliding_keys, colliding_names

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = islice(colliding_names(), 2)
NAMELESS = {"hashing", "sparse-rf", "rf", "boosting"}  # they keep keys, or nothing, and write no name


def rows() -> bytes:
    """One of the two names decides the label, the other is noise in rows of its own."""
    rng = random.Random(3)
    lines = []
    for number in range(300):
        label = rng.random() < 0.5
        words = [b"w%d:1" % word for word in rng.sample(range(40), 6)]
        words += [SECOND + b":1"] if number % 4 == 3 else [FIRST + b":2"] if label else []
        lines.append(b"%d %b\n" % (label, b" ".join(words)))
    return b"".join(lines)


def test_the_names_have_one_hash() -> None:
    names = list(islice(colliding_names(), 100))
    assert len(set(names)) == 100
    assert len({mmh3.hash_bytes(name) for name in names}) == 1


@pytest.mark.parametrize("name", sorted(set(BACKENDS) - NAMELESS))
def test_colliding_names_are_counted_and_one_of_them_is_written(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows"
    path.write_bytes(rows())
    options = SelectOptions(
        inputs=(str(path),), algo=name, format="pairs", threads=1, memory=1 << 28, k=5, progress=False
    )
    outcome = run.select(options)
    facts = outcome.summary["backend"]
    counted = sum(facts.get(key, 0) for key in ("collisions", "name_collisions", "key_collisions"))
    said = capfd.readouterr().err
    if counted:
        assert f"note: {counted} times a feature was met under another name" in said
    else:
        assert "share their 64 bits" in said
    of_ours = [found for found in outcome.names if found.startswith("collides")]
    assert len(of_ours) <= 1
    assert {found.encode(errors="surrogateescape") for found in of_ours} <= {FIRST, SECOND}


@pytest.mark.parametrize(("name", "labels"), [("mission", 3), ("awm", 3), ("iht", 2)])
def test_a_name_and_a_number_that_share_a_key_are_told(
    name: str, labels: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was counted in the summary and not told, so without --summary nobody could know."""
    key = mmh3.hash64(b"hello", 0, signed=False)[0]
    path = tmp_path / "rows"
    lines = [f"c{row % labels} hello:1 w{row % labels}:1\nc0 {key}:3 w0:1\n" for row in range(60)]
    path.write_text("".join(lines))
    options = SelectOptions(inputs=(str(path),), algo=name, format="pairs", k=3, progress=False)
    outcome = run.select(options)
    said = capfd.readouterr().err
    assert "times a feature was met under another name, with which it shares 64 bits" in said
    assert any("under another name" in note for note in outcome.summary["notes"])
    assert (f"('hello' and '{key}')" in said) == (name == "mission")


@pytest.mark.parametrize(("form", "row"), [
    ("pairs", b"%d w:1 %b:1 %b:2 %b:4\n"), ("tokens", b"%d w %b %b %b\n"), ("vw", b"%d | w %b:1 %b:2 %b:4\n"),
])  # fmt: skip
@pytest.mark.parametrize("algo", ["mission", "hashing", "os"])
def test_names_that_collide_within_a_row_are_counted(
    algo: str, form: str, row: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same name twice is no collision; another one with its 64 bits is, in every row."""
    path = tmp_path / "rows"
    path.write_bytes(b"".join(row % (number % 2, FIRST, FIRST, SECOND) for number in range(20)))
    k = None if algo == "hashing" else 1
    options = SelectOptions(inputs=(str(path),), algo=algo, format=form, threads=1, k=k, progress=False)
    summary = run.select(options).summary
    assert summary["input"]["collisions_within_rows"] == 20
    assert "20 values were added to that of another name in their row" in capfd.readouterr().err
    assert any("another name in their row" in note for note in summary["notes"])


def test_collisions_within_rows_are_counted_once_by_several_passes(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"".join(b"%d %b:1 %b:1\n" % (number % 2, FIRST, SECOND) for number in range(20)))
    for shuffle in (False, True):
        options = SelectOptions(
            inputs=(str(path),), algo="mission", format="pairs", k=1, passes=3, shuffle=shuffle, quiet=True
        )
        assert run.select(options).summary["input"]["collisions_within_rows"] == 20


def test_cells_that_collide_under_one_seed_do_not_under_another(tmp_path: Path) -> None:
    """Heavy noise on the planted key's cells spoils its estimate where the seed is known, and only there."""
    planted, width = 77, 1024
    noise = list(islice(colliding_keys(planted, width, seed=0), 60))
    rng = random.Random(1)
    lines = []
    for _ in range(600):
        label = rng.random() < 0.5
        others = b" ".join(b"%d:3" % key for key in rng.sample(noise, 20))
        lines.append(b"%d %b%b\n" % (label, b"77:1 " if label else b"", others))
    path = tmp_path / "rows"
    path.write_bytes(b"".join(lines))

    def weight(seed: int) -> float:
        parameters = ("active=estimated", "step=constant", f"sketch_width={width}")
        options = SelectOptions(
            inputs=(str(path),), algo="mission", format="libsvm", threads=1, k=61, quiet=True, seed=seed,
            learning_rate=0.05, set=parameters,
        )  # fmt: skip
        outcome = run.select(options)
        return dict(zip(outcome.names, map(float, outcome.weights), strict=True)).get("77", 0.0)

    safe = [weight(seed) for seed in (1, 2, 3)]
    assert 0 < max(safe) < 1.1 * min(safe)
    assert weight(0) < 0.7 * min(safe)


def test_a_search_for_lambda_ends_where_another_start_leaves_fewer_features(tmp_path: Path) -> None:
    """Grafting looked for the lambda that had left k features, found two, and looked again for ever."""
    rng = random.Random(3)
    lines = []
    for _ in range(400):
        words = [b"w%d:1" % word for word in rng.sample(range(40), 8)]
        label = rng.random() < 0.5
        twin = b" " + SECOND + b":1" if rng.random() < 0.5 else b""
        lines.append(b"%d %b%b%b\n" % (label, b" ".join(words), b" " + FIRST + b":2" if label else b"", twin))
    path = tmp_path / "rows"
    path.write_bytes(b"".join(lines))
    options = SelectOptions(inputs=(str(path),), algo="grafting", format="pairs", threads=1, k=3, quiet=True)
    assert len(run.select(options)) == 3
