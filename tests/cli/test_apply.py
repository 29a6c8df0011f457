"""`predict`, `evaluate`, `inspect`, `algos` in a shell."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsstream import load_model
from fsstream.algorithms import BACKENDS, backend
from fsstream.cli.algos import describe
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

ROWS = b"".join(b"%s a:1 %s:1\n" % ((b"spam", b"x") if i % 2 else (b"ham", b"y")) for i in range(60))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    done = fsstream("select", "--format", "pairs", "--k", "2", "--model", str(path), stdin=ROWS)
    assert done.returncode == 0, done.stderr
    return path


def test_predictions(model: Path) -> None:
    done = fsstream("predict", str(model), stdin=b"ham y:1\nspam x:1\nspam q:1\n")
    assert (done.returncode, done.stderr) == (0, b"")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["class"] for record in records[:2]] == ["ham", "spam"]
    for record in records:
        assert record["probability"] == pytest.approx(1 / (1 + math.exp(-record["score"])), abs=1e-6)


def test_evaluation(model: Path, tmp_path: Path) -> None:
    done = fsstream("evaluate", str(model), "--output", str(tmp_path / "measures"), stdin=ROWS)
    assert (done.returncode, done.stdout) == (0, b"")
    measures = json.loads((tmp_path / "measures").read_bytes())
    assert (measures["rows"], measures["accuracy"], measures["auc"]) == (60, 1, 1)


# Forms that show what they are by themselves. Of tokens and tables nothing does.
FORMS = {
    "libsvm": "{label} 1:{a} 2:{b}\n",
    "pairs": "{label} 1:{a} 2:{b} w:1 x:1 y:1\n",
    "vw": "{label} | 1:{a} 2:{b}\n",
    "jsonl": '{{"label":{label},"1":{a},"2":{b}}}\n',
}


@pytest.mark.parametrize("trained_on", [*FORMS, "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_a_model_scores_what_is_of_another_format(trained_on: str, form: str, tmp_path: Path) -> None:
    """It took every stream for one of the format that it was trained on: exit 3."""
    model, records = tmp_path / "model", [(i % 2, i % 3, 1 + i % 2) for i in range(60)]
    if trained_on == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = dict(zip(("label", "1", "2"), map(list, zip(*records, strict=True)), strict=True))
        pq.write_table(pa.table(columns), tmp_path / "train")
    else:
        texts = [FORMS[trained_on].format(label=label, a=a, b=b) for label, a, b in records]
        (tmp_path / "train").write_text("".join(texts))
    done = fsstream("select", "--k", "2", "--keep", "[12]", "--model", str(model), str(tmp_path / "train"))
    assert done.returncode == 0, done.stderr
    stream = "".join(FORMS[form].format(label=label, a=a, b=b) for label, a, b in records).encode()
    done = fsstream("predict", str(model), stdin=stream)
    asked = fsstream("predict", str(model), "--format", form, stdin=stream)
    assert done.returncode == asked.returncode == 0, done.stderr
    assert done.stdout == asked.stdout
    assert asked.stderr == b""
    own = form == trained_on or (trained_on, form) == ("pairs", "libsvm")  # numbers are names, too
    assert (b"note: read as" in done.stderr) == (not own)


def test_a_stream_of_bad_records_is_not_taken_for_another_format(tmp_path: Path) -> None:
    model = tmp_path / "model"
    fsstream("select", "--k", "2", "--model", str(model), stdin=b"1 1:1\n0 2:1\n")
    for stream, place in ((b"1 1:x\n", b"1:5"), (b"1 word\n", b"1:3"), (b"1 1:1\n1 a:1\n", b"2:3")):
        done = fsstream("predict", str(model), stdin=stream)
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"<stdin>:" + place + b": expected index:value" in done.stderr


@pytest.mark.parametrize("command", ["predict", "evaluate", "transform"])
@pytest.mark.parametrize(
    ("option", "formats"),
    [
        ("--label-column=x", "csv, tsv, parquet, jsonl"),
        ("--no-header", "csv, tsv"),
        ("--ngrams=3", "tokens"),
        ("--labels=nowhere", "fasta, fastq"),
        ("--canonical", "seq, fasta, fastq"),
    ],
)
def test_what_the_format_of_the_model_has_no_use_for(
    command: str, option: str, formats: str, model: Path
) -> None:
    done = fsstream(command, option, str(model), stdin=ROWS)
    said = f"{option.partition('=')[0]} has no use with --format pairs\nhint: it is for {formats}\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"fsstream: error: {said}")


def test_a_file_that_cannot_be_read_is_not_the_output(tmp_path: Path) -> None:
    (tmp_path / "reads").write_bytes(b">a label=x\nACGT\n>b label=y\nTTGA\n")
    kmers = ("--kmer", "2", "--canonical", str(tmp_path / "reads"))
    done = fsstream("select", "--k", "2", "--model", str(tmp_path / "model"), *kmers)
    assert done.returncode == 0, done.stderr
    done = fsstream("predict", str(tmp_path / "model"), "--labels", str(tmp_path / "no"), *kmers[3:])
    assert done.returncode == 2
    assert done.stderr.decode() == f"fsstream: error: cannot read {tmp_path}/no: No such file or directory\n"


def test_a_label_the_model_does_not_know(model: Path) -> None:
    done = fsstream("evaluate", str(model), stdin=b"ham y:1\neggs x:1\n")
    assert done.returncode == 3
    assert b"<stdin>:2:1: expected ham or spam, got 'eggs'" in done.stderr


def test_damaged_models_are_refused(model: Path, tmp_path: Path) -> None:
    data = model.read_bytes()
    for damaged in (b"", data[:-1], data[:100], data.replace(b"spam", b"slam")):
        (tmp_path / "damaged").write_bytes(damaged)
        for command in ("predict", "evaluate", "inspect"):
            done = fsstream(command, str(tmp_path / "damaged"), stdin=b"")
            assert (done.returncode, done.stdout) == (5, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["predict", "evaluate", "transform"])
def test_a_signal_ends_every_command_alike(
    command: str, number: signal.Signals, model: Path, tmp_path: Path
) -> None:
    """SIGTERM killed all but `select` and `resume`, so that what they had begun to write stayed."""
    output = tmp_path / "out"
    with subprocess.Popen(
        [*PROGRAM, command, str(model), "-o", str(output)], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as running:  # fmt: skip
        assert running.stdin is not None
        assert running.stderr is not None
        running.stdin.write(ROWS * 1000)  # more than is looked at, and than a block
        running.stdin.flush()
        if command == "evaluate":
            time.sleep(0.5)
        while command != "evaluate" and list(tmp_path.iterdir()) == [model]:
            time.sleep(0.01)
        running.send_signal(number)
        said = running.stderr.read()
    assert running.returncode == 128 + number
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize("byte", [0, 3, 40])
def test_a_damaged_model_is_no_selection(model: Path, tmp_path: Path, byte: int) -> None:
    """One without the first bytes of a model was taken for csv, and that is exit 3."""
    data = bytearray(model.read_bytes())
    data[byte] ^= 1
    path = tmp_path / "damaged"
    path.write_bytes(data)
    for command in (["transform", str(path)], ["report", str(path)]):
        done = fsstream(*command, stdin=ROWS)
        assert (done.returncode, done.stdout) == (5, b""), command
        assert b"hint: " in done.stderr


def test_a_damaged_selection_in_parquet_is_bad_data(tmp_path: Path) -> None:
    """It was an internal error."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "words.parquet"
    assert fsstream("select", "--k", "2", "-o", str(path), "--format", "pairs", stdin=ROWS).returncode == 0
    data = path.read_bytes()
    for damaged in (data[:-1], data[:10], data[: len(data) // 2] + data[-8:]):
        path.write_bytes(damaged)
        done = fsstream("transform", str(path), stdin=ROWS)
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"words.parquet: not a whole Parquet file: " in done.stderr


def test_a_selection_nested_too_deep_is_bad_data(tmp_path: Path) -> None:
    path = tmp_path / "deep"
    path.write_bytes(b'{"feature":' + b"[" * 200_000 + b"\n")
    for command in ("transform", "report"):
        done = fsstream(command, str(path), stdin=ROWS)
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"deep:1: expected a line of a selection" in done.stderr


def test_inspect_says_what_is_in_a_model(model: Path) -> None:
    done = fsstream("inspect", str(model))
    facts = json.loads(done.stdout)
    assert (facts["kind"], facts["labels"], facts["features"]) == ("binary", ["ham", "spam"], 2)
    assert facts["options"]["algo"] == "mission"


def test_algos_lists_every_parameter() -> None:
    listed = [line.split()[0] for line in fsstream("algos").stdout.decode().splitlines()]
    assert listed == list(BACKENDS)
    for name in listed:
        described = " ".join(describe(backend(name)).split())
        for field in dataclasses.fields(backend(name).Parameters):
            assert f" {field.name}" in described
            assert " ".join(field.metadata["doc"].split()) in described
    assert b"sketch_width=0 (from 0 to" in fsstream("algos", "mission").stdout
    unknown = fsstream("algos", "mison")
    assert unknown.returncode == 2
    assert b"did you mean 'mission'?" in unknown.stderr


def test_names_that_are_not_utf8_come_back_exactly(tmp_path: Path) -> None:
    rows = b"".join(b"%d b\xff\xfe:1 c:1\n" % (i % 2) if i % 2 else b"0 c:1\n" for i in range(40))
    done = fsstream("select", "--format", "pairs", "--k", "1", stdin=rows)
    feature = json.loads(done.stdout)["feature"]
    assert feature.encode("utf-8", "surrogateescape") == b"b\xff\xfe"


def test_a_stream_reduced_to_a_selection_scores_alike(model: Path, tmp_path: Path) -> None:
    rows = ROWS.replace(b"a:1", b"a:1 other:2")
    reduced = fsstream("transform", str(model), stdin=rows)
    assert (reduced.returncode, reduced.stderr) == (0, b"")
    assert reduced.stdout != rows
    assert b"other" not in reduced.stdout
    before, after = (fsstream("predict", str(model), stdin=text).stdout for text in (rows, reduced.stdout))
    assert before == after
    assert len(before.splitlines()) == 60


def test_a_model_says_itself_whether_there_are_products(model: Path) -> None:
    done = fsstream("transform", str(model), "--no-products", stdin=ROWS)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"a model says it itself" in done.stderr


def test_a_selection_from_a_pipe_reduces_a_file(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(b"1 b:1 a:2\n")
    selection = b'{"rank":1,"feature":"a","weight":1}\n'
    done = fsstream("transform", "-", str(tmp_path / "rows"), stdin=selection)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"1 a:2\n", b"")


@pytest.mark.parametrize(
    ("selection", "rows", "status", "message"),
    [
        (b"", b"1 a:1\n", 3, b"there is nothing in it"),
        (b'{"rank":1}\n', b"1 a:1\n", 3, b"selection:1: expected a line of a selection"),
        (b"nonsense\n", b"1 a:1\n", 3, b"expected a selection or a model"),
        (b'{"feature":"a"}\n', b"1 a:1\n0 a:x\n", 3, b"<stdin>:2:5: expected"),
        (b"PK\x03\x04", b"1 a:1\n", 5, b"not an fsstream archive"),
    ],
)
def test_what_cannot_be_transformed(
    selection: bytes, rows: bytes, status: int, message: bytes, tmp_path: Path
) -> None:
    (tmp_path / "selection").write_bytes(selection)
    output = tmp_path / "output"
    done = fsstream(
        "transform", str(tmp_path / "selection"), "--format", "pairs", "-o", str(output), stdin=rows
    )
    assert done.returncode == status
    assert message in done.stderr
    assert not output.exists()


def test_a_selection_that_meets_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "selection").write_bytes(b'{"feature":"n^a"}\n')
    done = fsstream("transform", str(tmp_path / "selection"), stdin=b"1 a b c\n")
    assert (done.returncode, done.stdout) == (0, b"1\n")
    assert b"no selected feature was met" in done.stderr


READS = b">r1 label=ecoli\nACGTTGCAACGT\n>r2 label=phage\nTTTTGGGGTTTA\n>r3 label=ecoli\nGGACGTTGCA\n"


def test_k_mers_of_another_kind_are_not_taken_for_those_of_a_model(tmp_path: Path) -> None:
    """Their keys say nothing of their length: 7-mers that begin with an A had the keys of 6-mers."""
    model, selection = str(tmp_path / "model"), str(tmp_path / "selection")
    kmers = ("--kmer", "6", "--canonical")
    done = fsstream("select", "--k", "3", *kmers, "--model", model, "-o", selection, stdin=READS)
    assert done.returncode == 0
    start = ("select", "--k", "3", "--init", model)
    for others in (
        ("--kmer", "7", "--canonical"),
        ("--kmer", "5", "--no-canonical"),
        ("--kmer", "6", "--no-canonical"),
    ):
        for command in (("predict", model), ("evaluate", model), ("transform", model), start):
            done = fsstream(*command, *others, stdin=READS)
            assert (done.returncode, done.stdout) == (2, b"")
            assert b"its features are canonical 6-mers, and the stream's " in done.stderr
    assert fsstream("predict", model, "--no-canonical", stdin=READS).returncode == 2
    for others in (("--kmer", "7", "--canonical"), ("--kmer", "5", "--no-canonical")):
        done = fsstream("transform", selection, *others, stdin=READS)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"the selection holds '" in done.stderr
    for command in (
        ("predict", model),
        ("transform", model),
        ("transform", selection, *kmers),
        (*start, *kmers),
    ):
        assert fsstream(*command, stdin=READS).returncode == 0


@pytest.mark.parametrize(
    "made",
    [
        ["--algo", "sparse-rf"],
        ["--algo", "rf"],
        ["--algo", "boosting"],
        ["--algo", "fgm", "--set", "expand=gaussian"],
        ["--algo", "fgm", "--set", "degree=2"],
        ["--algo", "mission", "--set", "interactions=2"],
        ["--algo", "hashing"],
    ],
)
def test_models_of_what_is_made_of_k_mers_can_be_read(made: list[str], tmp_path: Path) -> None:
    """The names of what is made (`gaussian#17`, `AC#3`, `AC*GT`) are no k-mers, those it is made of are."""
    rng, path = random.Random(4), str(tmp_path / "model")
    pieces = ("ACCGT", "GATTA", "CCAGG", "TTTAC")
    rows = "".join(
        f"{row % 2}\t{''.join(rng.choices(pieces, [row % 2 + 1, 2, 1, 1], k=9))}\n" for row in range(60)
    ).encode()
    k = [] if "hashing" in made else ["--k", "4"]
    options = ["--kmer", "3", "--no-canonical", "--model", path, "-q"]
    done = fsstream("select", *made, *k, *options, stdin=rows)
    assert done.returncode == 0, done.stderr
    done = fsstream("predict", path, stdin=rows)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 60), done.stderr


def test_words_that_no_canonical_k_mer_spells_are_told(tmp_path: Path) -> None:
    (tmp_path / "selection").write_bytes(b'{"feature":"ACGTTG"}\n{"feature":"TTTTGG"}\n')
    command = ("transform", str(tmp_path / "selection"), "--kmer", "6")
    assert fsstream(*command, "--no-canonical", stdin=READS).returncode == 0
    done = fsstream(*command, "--canonical", stdin=READS)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the selection holds 'TTTTGG', and the stream canonical 6-mers" in done.stderr


def test_canonical_k_mers_that_are_looked_for_on_one_strand_are_told(tmp_path: Path) -> None:
    """Half of what had been selected was not found, without a word; one word the other way round shows that
    they are of one strand, and a few say nothing."""
    words = ["AAAC", "AACC", "AACG", "ACCA", "AGGA", "CAAA", "CCAA", "ACGT"]
    assert all(word <= word[::-1].translate(str.maketrans("ACGT", "TGCA")) for word in words)

    def notes(strands: str, words: list[str]) -> bytes:
        selection = tmp_path / "selection"
        selection.write_text("".join(f'{{"feature":"{word}"}}\n' for word in words))
        stream = b"x\tTTTAAACCGTTT\n"
        done = fsstream("transform", str(selection), "--kmer", "4", strands, stdin=stream)
        assert (done.returncode, bool(done.stdout)) == (0, True)
        return done.stderr

    told = b"fsstream: note: all k-mers of the selection are canonical: were they selected with --canonical?"
    assert notes("--no-canonical", words).startswith(told)
    assert notes("--no-canonical", words[1:]) == b""
    assert notes("--no-canonical", [*words, "GTTT"]) == b""
    assert notes("--canonical", words) == b""


CANNOT_HAVE = {
    "tokens": (b"1 a b c\n", "a", "a b"),
    "libsvm": (b"1 7:1\n", "7", "x"),
    "csv": (b"label,a,7\n1,word,2\n", "7", "a"),
    "pairs": (b"1 a:1\n", "a", "a b"),
    "vw": (b"1 |n a\n", "n^a", "a b"),
}


@pytest.mark.parametrize("form", CANNOT_HAVE)
def test_features_that_the_stream_cannot_have_are_told(form: str, tmp_path: Path) -> None:
    """Runs of words were dropped without a word where --ngrams had been forgotten."""
    rows, known, stranger = CANNOT_HAVE[form]
    (tmp_path / "selection").write_text(f'{{"feature":"{stranger}"}}\n{{"feature":"{known}"}}\n')
    command = ("transform", str(tmp_path / "selection"), "--format", form, "--to", "jsonl")
    done = fsstream(*command, stdin=rows)
    assert done.returncode == 0
    assert json.loads(done.stdout).keys() == {"label", known}
    told = f"1 of 2 selected features are none that this stream can have, read as {form}: '{stranger}';"
    assert told in done.stderr.decode()
    assert fsstream(*command, "-q", stdin=rows).stderr == b""
    if form == "tokens":
        assert fsstream(*command, "--ngrams", "2", stdin=rows).stderr == b""


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("algo", ["hashing", "mission"])
def test_a_block_without_a_row_has_no_scores(algo: str, loss: str, tmp_path: Path) -> None:
    """A header in a block of its own was an internal error for models that hold a table."""
    path, text = str(tmp_path / "model"), b"label,a\n" + b"x,1\ny,2\n" * 20
    size = () if algo == "hashing" else ("--k", "1")
    done = fsstream(
        "select", "-q", "--algo", algo, *size, "--loss", loss, "--format", "csv", "--model", path, stdin=text
    )
    assert done.returncode == 0, done.stderr
    whole = fsstream("predict", path, stdin=text)
    parts = fsstream("predict", path, "--block-size", "7", stdin=text)
    assert whole.returncode == parts.returncode == 0, parts.stderr
    assert whole.stdout == parts.stdout
    model = load_model(path)
    assert model.predict(np.zeros((0, 3))).shape == (0,)
    assert len(model.predict(np.zeros((2, 3)))) == 2
