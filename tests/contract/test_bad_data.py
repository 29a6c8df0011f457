"""What is said of bad data: where it stands, what was expected, what stands there, and a hint; exit 3."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import fsstream

KMERS = ("--kmer", "3", "--canonical")
TARGETS = ("--algo", "os", "--targets", "targets")

# format, options, the text before the bad record, that record, the place of the fault, what stands there
BAD = [
    ("libsvm", (), "1 1:1\n", "-1 a:x", "2:4", "a:x"),
    ("libsvm", (), "1 1:1\n", "-1 2:x", "2:6", "x"),
    ("libsvm", (), "1 1:1\n", "-1 2:1 word 3:1", "2:8", "word"),
    ("libsvm", (), "1 1:1\n", "-1 2:1 3 4:1", "2:8", "3"),
    ("libsvm", (), "1 1:1\n", "-1 2:1x", "2:7", "x"),
    ("libsvm", (), "1 1:1\n", "-1 2: 3", "2:6", " "),
    ("pairs", (), "1 a:1\n", "-1 b:x", "2:6", "x"),
    ("pairs", (), "1 a:1\n", "-1 word b:1", "2:4", "word"),
    ("pairs", (), "1 a:1\n", "-1 b:1x", "2:7", "x"),
    ("tokens", (), "1 a\n", "-1 b\0c", "2:5", "\\x00c"),
    ("vw", (), "1 | a\n", "-1 | b:x", "2:8", "x"),
    ("vw", (), "1 | a\n", "-1 -2 | b", "2:4", "-2"),
    ("vw", (), "1 | a\n", "-1 b", "2:5", None),
    ("seq", KMERS, "1\tACG\n", "2\tAC G", "2:5", " "),
    ("seq", KMERS, "1\tACG\n", "2 ACG", "2:6", None),
    ("fasta", KMERS, ">a label=1\nACG\n", ">b label=2\nA4CG", "4:2", "4CG"),
    ("fasta", KMERS, "", "ACG\n>b label=2\nACG", "1:1", "ACG"),
    ("fastq", KMERS, "@a label=1\nACG\n+\nIII\n", "@b label=2\nACG\n+c\nIII", "7:2", "c"),
    ("fastq", KMERS, "@a label=1\nACG\n+\nIII\n", "@b label=2\nACG\n+\nII", "8:3", None),
    ("fastq", KMERS, "@a label=1\nACG\n+\nIII\n", "@b label=2\nACG\n+\nI\x7fI", "8:2", "\\x7fI"),
    ("csv", ("--numeric", "a"), "label,a,b\n1,2,3\n", "0,x y,4", "3:3", "x y"),
    ("csv", ("--numeric", "a"), "label,a,b\n1,2,3\n", '0,"x,y",4', "3:3", '"x,y"'),
    ("csv", (), "label,a,b\n1,2,3\n", "0,2", "3:4", None),
    ("csv", (), "label,a,b\n1,2,3\n", "0,2,3,4", "3:6", ","),
    ("csv", (), "label,a,b\n1,2,3\n", '0,2,"3"x', "3:8", "x"),
    ("tsv", ("--numeric", "a"), "label\ta\tb\n1\t2\t3\n", "0\tx y\t4", "3:3", "x y"),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2,"a":-,"b":1}', "2:16", "-"),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2,"a":1e39,"b":1}', "2:16", "1e39"),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2,"a":nan}', "2:16", "nan"),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2,"a":[1,2]}', "2:17", "1"),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2,"a":1,"a":2}', "2:18", '"a"'),
    ("jsonl", (), '{"label":1,"a":1}\n', '{"label":2' + ',"a":{"b":1}' * 2 + "}", "2:24", '"a"'),
    ("columns", TARGETS, "a 1:1 2:2\n", "b 0:1", "2:3", "0:1"),
    ("columns", TARGETS, "a 1:1 2:2\n", "b 1:x", "2:5", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "options", "before", "record", "place", "got"), BAD)
def test_a_bad_record_is_told_with_its_place_and_a_hint(
    form: str, options: tuple[str, ...], before: str, record: str, place: str, got: str | None,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("targets").write_text("1\n-1\n")
    Path("train").write_text(before + record + "\n")
    done = fsstream("select", "--k", "2", "--format", form, *options, "train")
    assert (done.returncode, done.stdout) == (3, b"")
    message, hint, *more = done.stderr.decode().splitlines()
    shown = "the end of the line" if got is None else f"'{got}'"
    assert re.fullmatch(rf"fsstream: error: train:{place}: expected .+, got {re.escape(shown)}", message)
    assert re.fullmatch("hint: .+", hint)
    assert not more


@pytest.mark.parametrize("command", ["select", "predict"])
def test_a_column_whose_name_is_not_utf8_is_told(command: str, tmp_path: Path) -> None:
    """The name within the message was an internal error."""
    head, model, bad = b"label,caf\xe9\n1,2\n0,3\n", str(tmp_path / "model"), tmp_path / "bad"
    bad.write_bytes(head + b"1,x\n")
    given = ["select", "--k", "1", "--format", "csv", "--numeric", "2", "--model", model]
    assert fsstream(*given, stdin=head).returncode == 0
    done = fsstream(*given, str(bad)) if command == "select" else fsstream("predict", model, str(bad))
    assert done.returncode == 3
    assert b"bad:4:3: expected a number in column 'caf\\udce9', got 'x'\nhint: --categorical" in done.stderr


def test_a_long_label_is_told_by_its_beginning(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2} {i}:1\n" for i in range(10_000))
    (tmp_path / "train").write_text(rows + "x" * 100_000 + " 1:1\n")
    done = fsstream("select", "--k", "2", str(tmp_path / "train"))
    assert done.returncode == 3
    assert f"train:10001:1: expected one of two labels, got '{'x' * 40}...'" in done.stderr.decode()
