"""`-` in every place where a file may stand: commands combine in pipes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"spam a b\nham c d\nspam a e\nham c\n" * 10
SELECT = ("select", "--k", "2", "--format", "tokens")


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.fss"
    assert fsstream(*SELECT, "--model", str(path), stdin=ROWS).returncode == 0
    return str(path)


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows"
    path.write_bytes(ROWS)
    return str(path)


def test_the_selection_goes_to_standard_output_by_name_too(tmp_path: Path) -> None:
    plain = fsstream(*SELECT, stdin=ROWS)
    named = fsstream(*SELECT, "--output", "-", stdin=ROWS)
    assert (named.returncode, named.stdout) == (0, plain.stdout)


def test_a_model_goes_through_a_pipe(model: str, rows: str, tmp_path: Path) -> None:
    made = fsstream(*SELECT, "--output", str(tmp_path / "o"), "--model", "-", stdin=ROWS)
    with open(model, "rb") as file:
        assert made.stdout == file.read()
    from_file = fsstream("predict", model, rows)
    assert from_file.stdout.count(b"\n") == 40
    assert fsstream("predict", "-", rows, stdin=made.stdout).stdout == from_file.stdout
    assert fsstream("evaluate", "-", rows, stdin=made.stdout).returncode == 0
    assert fsstream("inspect", "-", stdin=made.stdout).stdout == fsstream("inspect", model).stdout


def test_merged_models_go_through_a_pipe(model: str, tmp_path: Path) -> None:
    path = str(tmp_path / "merged")
    assert fsstream("merge", "-o", path, model, model).returncode == 0
    with open(path, "rb") as file:
        assert fsstream("merge", "-o", "-", model, model).stdout == file.read()


def test_a_summary_goes_through_a_pipe(tmp_path: Path) -> None:
    summary = fsstream(*SELECT, "--output", str(tmp_path / "o"), "--summary", "-", stdin=ROWS).stdout
    assert json.loads(summary)["selected"] == 2
    assert b"&lt;stdin&gt;" in fsstream("report", "-", stdin=summary).stdout


def test_standard_output_takes_one_thing() -> None:
    for more in (("--model", "-"), ("--summary", "-"), ("-o", "-", "--model", "-"), ("--checkpoint", "-")):
        done = fsstream(*SELECT, *more, stdin=ROWS)
        assert (done.returncode, done.stdout) == (2, b""), more


def test_standard_input_is_the_model_or_the_data() -> None:
    for command in ("predict", "evaluate", "transform"):
        done = fsstream(command, "-", stdin=ROWS)
        assert done.returncode == 2
        assert b"standard input cannot be the" in done.stderr


def test_a_reader_that_leaves_early_is_no_failure(model: str, rows: str, tmp_path: Path) -> None:
    """The model is there all the same: files come before standard output."""
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "fsstream", *SELECT, "-o", "-", "--model", str(kept), rows]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
    assert kept.exists()


def test_an_empty_stream_is_no_data_to_any_command(model: str) -> None:
    for command in ("predict", "evaluate", "transform"):
        done = fsstream(command, model, stdin=b"")
        assert (done.returncode, done.stdout) == (3, b""), command
        assert b"there is no data" in done.stderr


@pytest.mark.parametrize("option", [
    ["--kmer", "5", "--canonical"], ["--kmer", "5", "--no-canonical", "--labels", "table"], ["--ngrams", "2"],
    ["--label-column", "y"],
])  # fmt: skip
@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_stream_is_no_data_with_any_option(option: list[str], data: bytes, tmp_path: Path) -> None:
    """Of nothing the format is not known, and an option that another one has a use for was exit 2."""
    table = tmp_path / "table"
    table.write_text("r1\ta\n")
    done = fsstream("select", "--k", "2", *(str(table) if o == "table" else o for o in option), stdin=data)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"there is no data" in done.stderr


def test_debug_keeps_the_exit_status() -> None:
    done = fsstream("select", "--k", "2", "--set", "stp=1", "--debug", stdin=ROWS)
    assert done.returncode == 2
    assert b"Traceback" in done.stderr
    assert done.stderr.endswith(b"hint: did you mean 'step'?\n")


def test_debug_may_stand_where_other_options_do(tmp_path: Path) -> None:
    """`FSSTREAM_DEBUG` was told as no option, and so was `debug` in a --config file."""
    wrong = ("select", "--k", "2", "--set", "stp=1")
    assert b"Traceback" in fsstream(*wrong, stdin=ROWS, env={"FSSTREAM_DEBUG": "1"}).stderr
    assert b"Traceback" in fsstream("inspect", str(tmp_path / "none"), env={"FSSTREAM_DEBUG": "1"}).stderr
    assert b"Traceback" not in fsstream(*wrong, stdin=ROWS, env={"FSSTREAM_DEBUG": "0"}).stderr
    config = tmp_path / "run.toml"
    for debug in ("true", "false"):
        config.write_text(f"k = 2\nformat = 'pairs'\ndebug = {debug}\n")
        said = fsstream("select", "--config", str(config), stdin=b"a x:1\nb x:one\n").stderr
        assert (b"Traceback" in said) == (debug == "true")
    config.write_text("k = 2\ndebug = 1\n")
    done = fsstream("select", "--config", str(config), stdin=ROWS)
    assert done.returncode == 2
    assert b"--debug: expected true or false, got 1" in done.stderr


def test_what_a_run_ends_with_is_said(model: str) -> None:
    few = fsstream("select", "--k", "9", "--format", "tokens", stdin=b"a x\nb y\n" * 9)
    assert b"2 features where --k asks for 9" in few.stderr
    assert len(few.stdout.splitlines()) == 2
    unmet = fsstream(*SELECT, "--class-weight", "spm=2", stdin=ROWS)
    assert b"no row has the label 'spm'" in unmet.stderr
    strange = fsstream("predict", model, stdin=b"spam x y\nham z\n")
    assert b"no feature of the model was met" in strange.stderr
    assert fsstream("predict", model, stdin=ROWS).stderr == b""


def test_the_engine_is_this_machine() -> None:
    assert fsstream(*SELECT, "--engine", "local", stdin=ROWS).stdout == fsstream(*SELECT, stdin=ROWS).stdout
    for more, said in ((("--engine", "ray"), b"fsstream merge"), (("--address", "auto"), b"--engine ray")):
        done = fsstream(*SELECT, *more, stdin=ROWS)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr


def test_class_weights_of_numbers_are_refused() -> None:
    done = fsstream("select", "--k", "1", "--class-weight", "1=2", stdin=b"1.5 1:1\n2.5 2:1\n3 1:2\n")
    assert done.returncode == 2
    assert b"--class-weight has no use with the squared loss" in done.stderr


def test_one_class_too_many_is_a_limit() -> None:
    done = fsstream("select", "--k", "1", "--max-classes", "2", stdin=b"a x\nb y\nc z\n")
    assert done.returncode == 4
    assert done.stderr.startswith(
        b"fsstream: error: <stdin>:3:1: expected no more classes than --max-classes"
    )


@pytest.mark.parametrize(
    ("form", "text", "hint"),
    [
        ("fasta", b">r1\nACGT\n", b"--labels"),
        ("jsonl", b'{"a":1}\n', b"--label-column"),
        ("vw", b"| a\n", b"before the bar"),
        ("seq", b"\tACGT\n", b"tab"),
    ],
)
def test_the_hint_for_a_missing_label_fits_the_format(form: str, text: bytes, hint: bytes) -> None:
    kmers = ["--kmer", "3", "--canonical"] if form in ("fasta", "seq") else []
    done = fsstream("select", "--k", "1", "--format", form, *kmers, stdin=text)
    assert done.returncode == 3
    assert hint in done.stderr.splitlines()[1]


def test_a_file_is_not_written_over_the_data_or_twice(rows: str, model: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    for command in (
        ("select", "--k", "2", "--output", rows, rows),
        ("select", "--k", "2", "--output", out, "--model", out, rows),
        ("predict", model, rows, "-o", model),
        ("transform", model, rows, "-o", out, "--names", out),
    ):
        done = fsstream(*command)
        assert done.returncode == 2
        assert b"and written over" in done.stderr
    with open(rows, "rb") as file:
        assert file.read() == ROWS
    assert fsstream("select", "--k", "2", "-o", "/dev/null", "--model", "/dev/null", rows).returncode == 0


def test_the_format_that_is_found_is_said_with_its_reason(rows: str) -> None:
    done = fsstream("select", "--k", "2", "-v", stdin=b"1 3:1\n0 4:1\n")
    assert done.stderr.startswith(b"fsstream: taken for libsvm: ")
    assert b"taken for" not in fsstream("select", "--k", "2", "-v", "--format", "tokens", rows).stderr


@pytest.mark.parametrize("flag", ["seed", "k", "passes", "max-classes", "threads"])
def test_numbers_beyond_their_range_are_refused(flag: str) -> None:
    done = fsstream(*SELECT, f"--{flag}", str(10**23), stdin=ROWS)
    assert done.returncode == 2
    assert f"--{flag}: expected at most".encode() in done.stderr


def test_the_largest_seed() -> None:
    assert fsstream(*SELECT, "--seed", str(2**64 - 1), stdin=ROWS).returncode == 0


def test_other_labels_than_those_of_the_first_model(model: str) -> None:
    done = fsstream(*SELECT, "--init", model, stdin=b"1 a\n0 b\n")
    assert done.returncode == 3
    assert b"the model of --init tells 'spam' from 'ham'" in done.stderr


def test_the_first_night_has_no_model_yet(tmp_path: Path) -> None:
    done = fsstream(*SELECT, "--init", str(tmp_path / "none"), stdin=ROWS)
    assert done.returncode == 2
    assert b"error: --init: cannot read" in done.stderr
    assert b"without --init" in done.stderr


def test_a_wrong_value_is_traced_to_the_environment_or_the_file(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('k = "many"\n')
    done = fsstream("select", "--config", str(config), stdin=ROWS)
    assert done.returncode == 2
    said = f"--config {config}: --k: expected a whole number, got 'many'"
    assert done.stderr == f"fsstream: error: {said}\n".encode()
    wrong = (
        ("FSSTREAM_K", "many"),
        ("FSSTREAM_LOSS", "none"),
        ("FSSTREAM_K", "0"),
        ("FSSTREAM_THREADS", "0"),
    )
    for name, value in wrong:
        done = fsstream("select", stdin=ROWS, env={name: value})
        assert done.stderr.endswith(f"hint: {name} in the environment says so\n".encode())
    useless = fsstream("select", "--algo", "hashing", stdin=ROWS, env={"FSSTREAM_K": "3"})
    assert useless.returncode == 2
    assert useless.stderr.endswith(b"; FSSTREAM_K in the environment says so\n")
    assert b"environment" not in fsstream("select", "--k", "0", stdin=ROWS, env={"FSSTREAM_K": "3"}).stderr
    assert b"--help" in fsstream("select", "--k", "many", stdin=ROWS, env={"FSSTREAM_K": "3"}).stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), b"1 1:1\n-1 2:1\n"),
        ((), b"1 a:1\n-1 b:1\n"),
        ((), b"1 | a\n-1 | b\n"),
        ((), b'{"label":"p","a":1}\n{"label":"q","b":1}\n'),
        (("--format", "tokens"), b"p a\nq b\n"),
        (("--format", "csv"), b"label,a\np,1\nq,2\n"),
        (("--kmer", "3", "--canonical"), b"p\tACGT\nq\tAAAA\n"),
        (("--kmer", "3", "--canonical"), b">a label=p\nACGT\nACC\n>b label=q\nAAAA\n"),
        (("--kmer", "3", "--canonical"), b"@a label=p\nACGT\n+\n@@@@\n@b label=q\r\nAAAA\r\n+\r\n@IJK\r\n"),
        (
            ("--kmer", "3", "--canonical", "--format", "fastq"),
            b"@a label=p\nACGT\n+\n@@@@\n@b label=q\nAA\n+\n@I\n",
        ),
    ],
    ids=lambda value: value if isinstance(value, bytes) else None,
)
@pytest.mark.parametrize("block", ["1", "1MB"])
def test_a_byte_order_mark_is_no_part_of_the_first_record(options, text, block, tmp_path) -> None:
    plain, marked = tmp_path / "plain", tmp_path / "marked"
    plain.write_bytes(text * 20)
    marked.write_bytes(b"\xef\xbb\xbf" + text * 20)
    command = ("select", "--k", "2", "--block-size", block, *options)
    expected = fsstream(*command, str(plain), str(plain))
    found = fsstream(*command, str(marked), str(marked))
    assert expected.returncode == 0
    assert (found.stdout, found.stderr) == (expected.stdout, expected.stderr)
    packed = fsstream(*command, stdin=gzip.compress(marked.read_bytes()))
    assert (packed.returncode, packed.stdout) == (0, fsstream(*command, stdin=plain.read_bytes()).stdout)


def test_a_byte_order_mark_is_no_part_of_tables_and_selections(tmp_path: Path) -> None:
    """Editors put it before labels, groups, options and selections, too."""
    for name, text in {
        "labels": b"r1\tp\r\nr2\tq\r\n",
        "groups": b"a\tg\nb\tg\nc\th\nd\th\ne\th\n",
        "config": b"k = 1\r\n",
        "jsonl": b'{"rank":1,"feature":"a"}\r\n',
        "csv": b"feature,weight\r\na,1\r\n",
    }.items():
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text)
    reads = b">r1\nACGT\n>r2\nAAAA\n"
    for command, stdin in (
        (("select", "--k", "1", "--kmer", "3", "--canonical", "--labels", "labels"), reads),
        (("select", "--k", "1", "--algo", "fgm", "--format", "tokens", "--groups", "groups"), ROWS),
        (("select", "--config", "config", "--format", "tokens"), ROWS),
        (("transform", "jsonl"), ROWS),
        (("transform", "csv"), ROWS),
    ):
        paths = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in command]
        done = fsstream(*paths, stdin=stdin)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout


def test_an_empty_file_of_valid_is_told_as_such(tmp_path: Path) -> None:
    """The message might have been of the input."""
    (tmp_path / "empty").touch()
    done = fsstream("select", "--k", "1", "--valid", str(tmp_path / "empty"), stdin=b"1 1:1\n0 2:1\n")
    assert (done.returncode, done.stdout) == (3, b"")
    assert f"error: {tmp_path}/empty: --valid: there is no data".encode() in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--labels", "nowhere", "--kmer", "3", "--canonical", "--format", "fasta"),
        ("--targets", "nowhere", "--algo", "os"),
        ("--groups", "nowhere", "--algo", "fgm"),
        ("--init", "nowhere"),
        ("--valid", "nowhere"),
        ("--config", "nowhere"),
    ],
)
def test_a_file_of_an_option_that_is_not_there_is_wrong_usage(options: tuple[str, ...]) -> None:
    """That of --labels was exit 1."""
    done = fsstream("select", "--k", "1", *options, stdin=b"1 1:1\n0 2:1\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"nowhere: No such file or directory" in done.stderr


@pytest.mark.parametrize("settings", [(), ("--set", "expand=histogram"), ("--set", "degree=2")])
def test_what_has_one_model_is_validated_once(settings: tuple[str, ...], tmp_path: Path) -> None:
    """Names come in a scan of their own: the model without them was measured, or was an internal error."""
    summary, rows = tmp_path / "summary", tmp_path / "rows"
    rows.write_text("spam a b c\nham b d\nspam a c\nham d e d\n" * 10)
    given = ["--algo", "fgm", "--k", "1", "--valid", str(rows), *settings, str(rows)]
    done = fsstream("select", "--summary", str(summary), *given)
    assert done.returncode == 0, done.stderr
    (measured,) = json.loads(summary.read_text())["validation"]
    assert measured["loss"] < 1  # which it is without a feature
    assert fsstream("select", "--patience", "1", *given).returncode == 2


@pytest.mark.parametrize(
    "made",
    [
        ("--algo", "sparse-rf"),
        ("--algo", "fgm", "--set", "expand=gaussian"),
        ("--algo", "fgm", "--set", "degree=2"),
        ("--set", "interactions=2"),
    ],
)
def test_features_that_are_made_of_others_start_no_run_on_plain_ones(
    made: tuple[str, ...], tmp_path: Path
) -> None:
    """`gaussian#17` was selected as if it were in the stream."""
    model = str(tmp_path / "model")
    rows = b"".join(b"%d 1:%d 2:%d 3:1\n" % (i % 2, i % 3, i % 5) for i in range(60))
    given = ("select", "--quiet", "--loss", "squared-hinge", "--k", "9")
    assert fsstream(*given, *made, "--model", model, stdin=rows).returncode == 0
    done = fsstream(*given, "--init", model, stdin=rows)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"are made of others" in done.stderr
    if "=2" in made[-1]:
        assert fsstream(*given, "--set", "interactions=2", "--init", model, stdin=rows).returncode == 0


def test_a_misspelt_option_in_the_environment_is_told() -> None:
    words = ["select", "--k", "1", "--format", "pairs"]
    rows = b"1 a:1\n0 b:1\n"
    done = fsstream(
        *words, stdin=rows, env={"FSSTREAM_MEMROY": "64MB", "FSSTREAM_TO": "vw", "FSSTREAM_SEED": "1"}
    )
    said = "FSSTREAM_MEMROY in the environment is no option: did you mean 'FSSTREAM_MEMORY'?"
    assert (done.returncode, done.stderr.decode()) == (0, f"fsstream: note: {said}\n")
    assert fsstream(*words, "-q", stdin=rows, env={"FSSTREAM_MEMROY": "64MB"}).stderr == b""
