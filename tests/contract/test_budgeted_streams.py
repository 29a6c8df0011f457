"""B-ARDA, B-AMD and their rivals on streams: formats, pipes, shuffled passes, too little memory."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from fsstream import run
from fsstream.algorithms import backend
from fsstream.config import SelectOptions
from tests.cli.command import fsstream
from tests.contract.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

BUDGETED = ("b-arda", "b-amd", "ofs", "sofs")
SEARCHING = ("l1-arda", "ada-fobos")
ONLINE = BUDGETED + SEARCHING


def features(lines: bytes) -> set[str]:
    return {json.loads(line)["feature"] for line in lines.splitlines()}


def weights(name: str, text: bytes, form: str, folder: Path, **more: Any) -> dict[str, float]:
    """What is selected, by name."""
    path = folder / form
    path.write_bytes(text)
    options = SelectOptions(inputs=(str(path),), algo=name, format=form, passes=2, quiet=True, **more)
    options.check()
    chosen = run.select(options).model.selection
    return dict(zip(chosen.names, map(float, chosen.weights), strict=True))


FEATURES = 40  # of the samples


@pytest.mark.parametrize("name", ONLINE)
def test_the_same_rows_give_the_same_weights_in_every_format(name: str, tmp_path: Path) -> None:
    expected = weights(name, SAMPLES["pairs"].text, "pairs", tmp_path, k=FEATURES)
    assert len(expected) == FEATURES
    spelled = {"libsvm": "", "vw": "n^w"}
    for form in ("libsvm", "tokens", "vw", "csv", "tsv", "jsonl"):
        found = weights(name, SAMPLES[form].text, form, tmp_path, k=FEATURES, **SAMPLES[form].options)
        prefix = spelled.get(form, "w")
        assert found == {prefix + word[1:]: weight for word, weight in expected.items()}, form


@pytest.mark.parametrize("name", ONLINE)
def test_k_mers_are_features_named_by_their_letters(name: str, tmp_path: Path) -> None:
    """Words of four letters with an N between them: each is one k-mer, each k-mer a word."""
    sample = SAMPLES["seq"]
    words = sample.text.replace(b"N", b" ")
    expected = weights(name, words, "tokens", tmp_path, k=FEATURES)
    assert len(expected) == FEATURES
    for form in ("seq", "fasta", "fastq"):
        found = weights(name, SAMPLES[form].text, form, tmp_path, k=FEATURES, **sample.options)
        assert found == expected, form


@pytest.mark.parametrize("name", ONLINE)
def test_there_is_no_intercept_unless_asked_for(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(SAMPLES["pairs"].text)
    for asked in (None, False, True):
        options = SelectOptions(
            inputs=(str(path),), algo=name, k=3, format="pairs", intercept=asked, quiet=True
        )
        options.check()
        intercept = run.select(options).model.intercepts[0]
        assert str(intercept) != "-0.0"
        assert (intercept != 0) == bool(asked)


def orders_seen(name: str, path: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> list[list[int]]:
    """The rows in the order the learner got them, pass by pass; each row is known by a feature of its own."""
    passes: dict[int, list[int]] = defaultdict(list)
    kind = backend(name)
    update = kind.update

    def watched(self: Any, batch: Any) -> Any:
        passes[self.passed] += [int(batch.keys[start]) for start in batch.row_starts[:-1].tolist()]
        return update(self, batch)

    monkeypatch.setattr(kind, "update", watched)
    options = SelectOptions(inputs=(str(path),), algo=name, format="libsvm", k=2, quiet=True, **more)
    options.check()
    run.select(options)
    monkeypatch.undo()
    return [passes[number] for number in sorted(passes)]


@pytest.mark.parametrize("name", ONLINE)
def test_every_pass_has_a_fresh_order_that_the_seed_decides(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    rows = range(1, 301)
    path.write_text("".join(f"{2 * (n % 2) - 1} {n}:1 {1000 + n % 7}:1\n" for n in rows))
    orders = orders_seen(name, path, monkeypatch, passes=3, shuffle=True, seed=5)
    assert len(orders) == (9 if name in SEARCHING else 3)
    assert all(sorted(order) == list(rows) for order in orders)
    assert len({tuple(order) for order in [*orders, list(rows)]}) == len(orders) + 1
    assert orders_seen(name, path, monkeypatch, passes=3, shuffle=True, seed=5) == orders
    assert orders_seen(name, path, monkeypatch, passes=3, shuffle=True, seed=6) != orders
    plain = orders_seen(name, path, monkeypatch, passes=3)
    assert plain == [list(rows)] * len(orders)


@pytest.mark.parametrize("name", ONLINE)
def test_a_pipe_is_read_once_and_not_kept(name: str, tmp_path: Path) -> None:
    """One pass needs no spool; a folder that is none shows who wants one."""
    text = SAMPLES["pairs"].text
    path = tmp_path / "rows"
    path.write_bytes(text)
    asked = ["--l1", "0.01"] if name in SEARCHING else ["--k", "5"]
    arguments = ["select", "--algo", name, "--format", "pairs", *asked]
    from_file = fsstream(*arguments, str(path))
    assert from_file.returncode == 0
    nowhere = ["--spool-dir", str(path)]
    assert fsstream(*arguments, *nowhere, stdin=text).stdout == from_file.stdout
    again = fsstream(*arguments, *nowhere, "--passes", "2", stdin=text)
    assert again.returncode != 0
    assert b"--spool-dir" in again.stderr


@pytest.mark.parametrize("name", SEARCHING)
def test_classes_of_a_pipe_are_met_before_the_one_pass_of_an_l1_weight(name: str) -> None:
    text = b"".join(
        b"%s a%d:1 b:1\n" % ((b"x", b"y", b"z")[n % 3 if n > 30 else n % 2], n % 3) for n in range(90)
    )
    done = fsstream("select", "--algo", name, "--format", "pairs", "--l1", "0.01", stdin=text)
    assert done.returncode == 0
    assert {json.loads(line)["class"] for line in done.stdout.splitlines()} == {"x", "y", "z"}


@pytest.mark.parametrize("name", SEARCHING)
def test_an_l1_weight_that_was_found_leaves_the_same_features(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(SAMPLES["pairs"].text)
    summary = tmp_path / "summary"
    arguments = ["select", "--algo", name, "--format", "pairs", "--summary", str(summary)]
    searched = fsstream(*arguments, "--k", "7", str(path))
    facts = json.loads(summary.read_text())["backend"]
    assert len(searched.stdout.splitlines()) == 7
    given = fsstream(*arguments, "--l1", repr(facts["l1"]), str(path))
    assert features(searched.stdout) <= features(given.stdout)
    assert len(given.stdout.splitlines()) == facts["l1_left"] >= 7


def many_words(count: int) -> bytes:
    rng = random.Random(0)
    words = range(count)
    return b"".join(
        b"%s %s\n" % (rng.choice((b"ham", b"spam")), b" ".join(b"w%x" % word for word in words[i : i + 50]))
        for i in range(0, count, 50)
    )


@pytest.mark.parametrize("name", ["b-arda", "b-amd"])
def test_the_exact_state_ends_at_the_memory_and_a_sketch_does_not(name: str) -> None:
    arguments = ["select", "--algo", name, "--format", "tokens", "--k", "5", "--memory", "30MB"]
    text = many_words(600_000)
    full = fsstream(*arguments, stdin=text)
    assert (full.returncode, full.stdout) == (4, b"")
    assert b"hint: " in full.stderr
    assert b"store=sketch" in full.stderr
    fixed = fsstream(*arguments, "--set", "store=sketch", stdin=text)
    assert (fixed.returncode, len(fixed.stdout.splitlines())) == (0, 5)
