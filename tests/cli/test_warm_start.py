"""`--init`: yesterday's model, and a day that may hold less than yesterday, or something new."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

ROWS_ONCE = ("mission", "awm", "bear", "iht", "batch-iht", "b-arda", "b-amd", "ofs", "sofs")
SEARCHED = ("l1-arda", "ada-fobos")
WEIGHTS_ONLY = ("mission", "awm", "bear", "iht", "batch-iht")


def day(labels: str, rows: int = 300, seed: int = 1) -> bytes:
    """Rows of six words of thirty, whose first three words decide among the labels."""
    rng = random.Random(seed)
    lines = []
    for _ in range(rows):
        label = rng.randrange(len(labels))
        words = {f"w{label + 7 * rng.randrange(3)}", *(f"w{rng.randrange(30)}" for _ in range(5))}
        lines.append(f"{labels[label]} {' '.join(f'{word}:1' for word in sorted(words))}\n")
    return "".join(lines).encode()


def only(rows: bytes, labels: bytes) -> bytes:
    return b"".join(line for line in rows.splitlines(keepends=True) if line[:1] in labels)


def trained(path: Path, algo: str, rows: bytes, *more: str) -> str:
    done = fsstream(
        "select", "--k", "3", "--format", "pairs", "--algo", algo, "--model", str(path), *more, stdin=rows
    )
    assert done.returncode == 0, done.stderr
    return str(path)


@pytest.mark.parametrize("algo", ROWS_ONCE + SEARCHED)
def test_a_quiet_day_is_one_of_the_model(algo: str, tmp_path: Path) -> None:
    """Two labels of three, one, none, or whole numbers: the day was taken for another task, exit 2."""
    state = () if algo == "bear" else ("--with-state",)
    command = ("select", "--k", "3", "--format", "pairs", "--algo", algo, "--init")
    model = trained(tmp_path / "classes", algo, day("abc"), *state)
    today = day("abc", seed=2)
    for labels in (b"ab", b"c"):
        done = fsstream(*command, model, stdin=only(today, labels))
        assert done.returncode == 0, done.stderr
        assert [json.loads(line)["class"] for line in done.stdout.splitlines()] == [*"aaabbbccc"]
    empty = fsstream(*command, model)
    assert (empty.returncode, empty.stdout) == (3, b"")
    assert b"there is no data" in empty.stderr
    if algo not in ("ofs", "sofs"):
        numbers = b"".join(b"%d.5 %b" % (line[0] % 7, line[2:]) for line in today.splitlines(keepends=True))
        model = trained(tmp_path / "numbers", algo, numbers, *state)
        assert fsstream(*command, model, stdin=b"1 w1:1\n2 w2:1\n3 w3:1\n").returncode == 0
        words = fsstream(*command, model, stdin=today)
        assert (words.returncode, words.stdout) == (3, b"")
        assert b"<stdin>:1:1: expected a number as label" in words.stderr


def test_a_third_label_is_told_by_the_model(tmp_path: Path) -> None:
    model = trained(tmp_path / "two", "mission", day("ab"))
    done = fsstream("select", "--k", "3", "--format", "pairs", "--init", model, stdin=day("ab") + b"c w1:1\n")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"<stdin>:301:1: expected one of two labels, got 'c'" in done.stderr
    assert b"hint: the model of --init tells 'b' from 'a'" in done.stderr


def test_another_loss_than_that_of_the_model_is_refused(tmp_path: Path) -> None:
    model = trained(tmp_path / "two", "mission", day("ab"))
    done = fsstream(
        "select", "--k", "3", "--format", "pairs", "--loss", "hinge", "--init", model, stdin=day("ab")
    )
    assert done.returncode == 2
    assert b"a model of binary with the logistic loss cannot start one of" in done.stderr


@pytest.mark.parametrize("algo", WEIGHTS_ONLY)
def test_weights_of_classes_start_their_learners(algo: str, tmp_path: Path) -> None:
    """One-versus-rest learners were told the whole model, and refused it."""
    model = trained(tmp_path / "model", algo, day("abc", rows=2000))
    one = tmp_path / "one"
    done = fsstream(
        "select", "--k", "3", "--format", "pairs", "--algo", algo, "--init", model, "--model", str(one),
        stdin=day("abc", rows=1, seed=5),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    test = day("abc", rows=1000, seed=6)
    before, after = (json.loads(fsstream("evaluate", path, stdin=test).stdout) for path in (model, str(one)))
    assert before["accuracy"] > 0.45
    assert abs(after["accuracy"] - before["accuracy"]) < 0.1


@pytest.mark.parametrize("algo", SEARCHED)
def test_a_searched_weight_leaves_k_features_on_the_next_day(algo: str, tmp_path: Path) -> None:
    """The search had ended around the weight that left k of yesterday: two days left fewer. And a class that
    was new found no ladder in the state, exit 5.
    """
    model = trained(tmp_path / "model", algo, day("abc"), "--with-state")
    for labels in ("abc", "abcd"):
        today = day(labels, seed=2)
        done = fsstream(
            "select", "--k", "3", "--format", "pairs", "--algo", algo, "--init", model, stdin=today
        )
        assert done.returncode == 0, done.stderr
        classes = [json.loads(line)["class"] for line in done.stdout.splitlines()]
        assert sorted(classes) == sorted(3 * labels)


def test_a_column_of_another_kind_is_told(tmp_path: Path) -> None:
    """A day on which all cells were numbers made new features of a column of words, without a word."""
    command = ("select", "--k", "2", "--format", "csv")
    model = str(tmp_path / "model")
    days = [
        "label,size,n\n" + "".join(f"{i % 2},{size[i % 2]},{i}\n" for i in range(20)) for size in ("m2", "32")
    ]
    assert fsstream(*command, "--model", model, stdin=days[0].encode()).returncode == 0
    done = fsstream(*command, "--init", model, stdin=days[1].encode())
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--init: the column 'size' is numeric in this stream, and was categorical" in done.stderr
    assert b"hint: --categorical size reads it as it was" in done.stderr
    again = fsstream(*command, "--categorical", "size", "--init", model, stdin=days[1].encode())
    assert again.returncode == 0, again.stderr
    assert b'"feature":"size=2"' in again.stdout
