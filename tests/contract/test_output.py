"""Output is a function of input, options and seed: not of block size, threads, compression or source."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fsstream import run
from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.algorithms.random_features.learner import RandomFeatureLearner
from fsstream.config import SelectOptions
from fsstream.formats import FORMATS
from fsstream.output import selection_lines
from tests.contract.samples import CLASS_SAMPLE, CLASSES, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

K = 3
LONGEST_RECORD = 200


def options_for(name: str, **more: Any) -> dict[str, Any]:
    """Options a backend can run with; k unless it selects nothing."""
    chosen = backend(name)
    options: dict[str, Any] = {"algo": name, "quiet": True, **more}
    if "k" in chosen.uses:
        options["k"] = K
    return options


def result(path: Path, **options: Any) -> tuple[bytes, bytes]:
    """The selection's lines and the model's bytes."""
    resolved = SelectOptions(inputs=(str(path),), **options)
    resolved.check()
    model = run.select(resolved).model
    return selection_lines(model.selection), model.to_bytes()


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(data: bytes, name: str = "data") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return written


def makes_features(name: str) -> bool:
    """Random features have names of their own."""
    return issubclass(backend(name), RandomFeatureLearner)


@pytest.mark.parametrize("name", [name for name in BACKENDS if "k" in backend(name).uses])
def test_every_backend_takes_three_classes(name: str, write: Any) -> None:
    rows = [b"%c %d:1 %d:1\n" % (b"abc"[(i + (i % 11 == 5)) % 3], i % 3, 3 + i % 7) for i in range(90)]
    lines, _ = result(write(b"".join(rows)), **options_for(name))
    records = list(map(json.loads, lines.splitlines()))
    assert [record["class"] for record in records] == ["a"] * K + ["b"] * K + ["c"] * K
    features = {record["feature"] for record in records}
    assert any("#" in feature for feature in features) if makes_features(name) else {"0", "1", "2"} & features


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(FORMATS) - {"columns"}


@pytest.mark.parametrize("form", SAMPLES)
def test_every_format_gives_the_names_that_decide(form: str, write: Any) -> None:
    sample = SAMPLES[form]
    lines, _ = result(
        write(sample.text), algo="mission", k=K, format=form, passes=10, quiet=True, **sample.options
    )
    assert {json.loads(line)["feature"] for line in lines.splitlines()} == sample.informative


@pytest.mark.parametrize("form", SAMPLES)
def test_block_size_and_threads_change_nothing(form: str, write: Any) -> None:
    sample = SAMPLES[form]
    path = write(sample.text)
    common = {"algo": "mission", "k": 10, "format": form, "quiet": True, **sample.options}
    expected = result(path, threads=1, **common)
    for size in (1, 7, LONGEST_RECORD, LONGEST_RECORD + 3, 5000, 1 << 24):
        for threads in (1, 2, 4):
            assert result(path, threads=threads, block_size=size, **common) == expected


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_is_deaf_to_blocks_and_threads(name: str, write: Any) -> None:
    path = write(SAMPLES["pairs"].text)
    expected = result(path, threads=1, **options_for(name))
    for size, threads in ((1, 1), (300, 2), (1000, 4)):
        assert result(path, threads=threads, block_size=size, **options_for(name)) == expected


@pytest.mark.parametrize("name", [name for name in BACKENDS if "seed" not in backend(name).uses])
def test_a_backend_that_draws_nothing_is_deaf_to_the_seed(name: str, write: Any) -> None:
    """So it takes one all the same: FSSTREAM_SEED and configurations are for all runs."""
    for text in (SAMPLES["pairs"].text, CLASS_SAMPLE.text):
        path = write(text)
        lines = {result(path, seed=seed, **options_for(name))[0] for seed in (0, 1, 2**64 - 1)}
        assert len(lines) == 1


@pytest.mark.parametrize("name", BACKENDS)
def test_exactly_k_features_that_exist(name: str, write: Any) -> None:
    lines, _ = result(write(SAMPLES["pairs"].text), **options_for(name))
    records = [json.loads(line) for line in lines.splitlines()]
    assert len(records) == (K if "k" in backend(name).uses else 0)
    assert [record["rank"] for record in records] == list(range(1, len(records) + 1))
    start = ("gaussian#", "perceptron#") if makes_features(name) else "w"
    assert all(record["feature"].startswith(start) for record in records)
    assert all(record["weight"] != 0 for record in records)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_changes_nothing(compress: Any, write: Any) -> None:
    text = SAMPLES["vw"].text
    expected = result(write(text), algo="mission", k=K, quiet=True)
    half = len(text) // 2
    half = text.index(b"\n", half) + 1
    assert result(write(compress(text), "packed"), algo="mission", k=K, quiet=True) == expected
    members = compress(text[:half]) + compress(text[half:])
    assert result(write(members, "members"), algo="mission", k=K, quiet=True) == expected


def command(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "fsstream", *arguments], input=stdin, capture_output=True, check=False
    )


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_is_deaf_to_packing_and_to_the_kind_of_input(name: str, write: Any) -> None:
    text, options = SAMPLES["pairs"].text, options_for(name)
    expected = result(write(text), **options)
    for number, compress in enumerate((gzip.compress, bz2.compress, lzma.compress)):
        assert result(write(compress(text), f"packed{number}"), **options) == expected
    words = ["select", "--quiet", "--algo", name, *(["--k", str(K)] if "k" in options else [])]
    if "k" not in options:
        words += ["--model", "/dev/stdout"]
    for stdin in (text, gzip.compress(text)):
        done = command(*words, stdin=stdin)
        assert (done.returncode, done.stdout) == (0, expected["k" not in options])


def test_file_and_standard_input_give_the_same_bytes(write: Any) -> None:
    text = SAMPLES["libsvm"].text
    path = write(text)
    arguments = ["select", "--k", "5", "--seed", "3"]
    outputs = [
        command(*arguments, str(path)),
        command(*arguments, stdin=text),
        command(*arguments, "-", stdin=gzip.compress(text)),
        command(*arguments, "--threads", "1", "--block-size", "100", stdin=text),
    ]
    assert {(done.returncode, done.stdout) for done in outputs} == {(0, outputs[0].stdout)}
    assert len(outputs[0].stdout.splitlines()) == 5


def test_the_format_is_recognised(write: Any) -> None:
    for form, sample in SAMPLES.items():
        if form in ("csv", "tsv"):
            continue
        asked = result(write(sample.text), algo="mission", k=K, format=form, quiet=True, **sample.options)
        assert result(write(sample.text), algo="mission", k=K, quiet=True, **sample.options)[0] == asked[0]


@pytest.mark.parametrize("form", ["fasta", "jsonl", "csv"])
def test_an_input_of_blank_lines_tells_nothing(form: str, write: Any) -> None:
    """The format, and a table's header, were looked for in the first input, though it had not one record."""
    sample = SAMPLES[form]
    data, blank = str(write(sample.text)), str(write(b"\n\r\n", "blank"))
    asked: dict[str, Any] = {"format": "csv"} if form == "csv" else {}
    options = {"algo": "mission", "k": K, "quiet": True, **asked, **sample.options}
    both = run.select(SelectOptions(inputs=(blank, data), **options))
    assert both.to_jsonl() == run.select(SelectOptions(inputs=(data,), **options)).to_jsonl()


def test_passes_over_a_stream_equal_passes_over_a_file(write: Any) -> None:
    text = SAMPLES["pairs"].text
    path = write(text)
    arguments = ["select", "--k", "5", "--format", "pairs", "--passes", "3", "--set", "tolerance=0"]
    whole = command(*arguments, str(path))
    assert whole.returncode == 0
    for extra in ([], ["--threads", "1", "--block-size", "100"]):
        assert command(*arguments, *extra, stdin=text).stdout == whole.stdout


def test_a_shuffle_is_a_function_of_data_and_seed(write: Any) -> None:
    common: dict[str, Any] = {"algo": "mission", "k": 5, "format": "pairs", "passes": 2, "quiet": True}
    path = write(SAMPLES["pairs"].text)
    shuffled = result(path, shuffle=True, seed=1, **common)
    assert result(path, shuffle=True, seed=1, block_size=100, threads=1, **common) == shuffled
    assert result(path, shuffle=True, seed=2, **common) != shuffled
    assert result(path, seed=1, **common)[0] != shuffled[0]


def test_rows_of_unit_length(write: Any) -> None:
    rows = b"".join(b"%d 1:3 2:4\n%d 1:0.6 2:0.8\n" % (i % 2, i % 2) for i in range(20))
    unit = rows.replace(b"1:3 2:4", b"1:0.6 2:0.8")
    common: dict[str, Any] = {"algo": "mission", "k": 2, "format": "libsvm", "quiet": True}
    scaled = result(write(rows, "rows"), normalize="l2", **common)[0]
    assert scaled == result(write(unit, "unit"), **common)[0]
    assert scaled != result(write(rows, "rows"), **common)[0]


MULTI_CLASS = [name for name in BACKENDS if backend(name).access is Access.ROWS and "k" in backend(name).uses]


@pytest.mark.parametrize("name", MULTI_CLASS)
def test_words_as_labels_are_classes_and_each_gets_k(name: str, write: Any) -> None:
    path = write(CLASS_SAMPLE.text)
    options = options_for(name, format="pairs")
    lines, model = result(path, threads=1, **options)
    records = [json.loads(line) for line in lines.splitlines()]
    assert [(record["class"], record["rank"]) for record in records] == [
        (label, rank) for label in dict.fromkeys(record["class"] for record in records) for rank in (1, 2, 3)
    ]
    assert {record["class"] for record in records} == set(CLASSES)
    assert result(path, threads=3, block_size=300, **options) == (lines, model)


@pytest.mark.parametrize("name", MULTI_CLASS)
def test_losses_before_a_class_is_met_do_not_hang_on_blocks(name: str, write: Any) -> None:
    """In a block that held a row of a new class, the rows before it were scored for that class, too."""
    labels = [b"p", b"q"] * 30 + [b"p", b"r", b"q", b"s"] * 20
    path = write(b"".join(b"%s w%s:1 v%d:1\n" % (label, label, i % 7) for i, label in enumerate(labels)))
    for loss in backend(name).losses:
        if loss == "squared":
            continue
        found = [
            run.select(
                SelectOptions(inputs=(str(path),), block_size=size, loss=loss, **options_for(name))
            ).summary
            for size in (1, 300, 1 << 20)
        ]
        progressive = [summary["progressive_validation"] for summary in found]
        assert progressive[0] == progressive[1] == progressive[2]
        assert progressive[0]["mean_loss"] < 10


@pytest.mark.parametrize("name", ["mission", "hashing"])
def test_several_classes_mean_softmax(name: str, write: Any) -> None:
    options = SelectOptions(inputs=(str(write(CLASS_SAMPLE.text)),), **options_for(name, format="pairs"))
    outcome = run.select(options)
    assert (outcome.model.kind, outcome.model.loss) == ("classes", "softmax")
    assert outcome.model.labels == outcome.summary["task"]["labels"]
    assert set(outcome.model.labels) == set(CLASSES)
    assert len(outcome.model.intercepts) == 3
    assert outcome.summary["progressive_validation"]["accuracy"] > 0.4


def test_a_model_of_classes_goes_on(write: Any, tmp_path: Path) -> None:
    path = write(CLASS_SAMPLE.text)
    common: dict[str, Any] = {"algo": "mission", "k": K, "format": "pairs", "quiet": True}
    first = tmp_path / "first.fss"
    first.write_bytes(result(path, **common)[1])
    lines, _ = result(path, init=str(first), **common)
    assert len(lines.splitlines()) == K * len(CLASSES)
    assert {json.loads(line)["feature"] for line in lines.splitlines()} >= CLASS_SAMPLE.informative


def test_a_learner_that_knows_rows_by_number_is_shuffled_once(write: Any) -> None:
    """Scans of fgm that each had an order of their own gave weights of nothing."""
    path = write(SAMPLES["pairs"].text * 20)
    common: dict[str, Any] = {"algo": "fgm", "k": K, "format": "pairs", "quiet": True, "memory": 300_000}
    lines, _ = result(path, shuffle=True, **common)
    assert {json.loads(line)["feature"] for line in lines.splitlines()} == SAMPLES["pairs"].informative
