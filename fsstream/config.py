"""What a run is told to do: one frozen dataclass a command, each field with its help.

The fields are the flags: `learning_rate` is `--learning-rate`, FSSTREAM_LEARNING_RATE, a TOML key
and a keyword of `fsstream.select`. Whatever can be checked without opening a file is checked here.
"""

from __future__ import annotations

import dataclasses
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from fsstream.errors import UsageError
from fsstream.option_fields import EMPTY_NAME_HINT, check_fields, check_name, option

FORMATS = (
    "auto", "libsvm", "pairs", "tokens", "vw", "seq", "fasta", "fastq", "csv", "tsv", "jsonl", "columns",
    "parquet",
)  # fmt: skip
LOSSES = ("auto", "logistic", "squared-hinge", "hinge", "squared", "softmax")
TEXT_TABLES = ("csv", "tsv")
TYPED_TABLES = (*TEXT_TABLES, "parquet")
KMER_FORMATS = ("seq", "fasta", "fastq")
# The formats that have a use for an option; the others of InputOptions mean something in each.
USES: dict[str, tuple[str, ...]] = {
    "ngrams": ("tokens",),
    "kmer": KMER_FORMATS,
    "canonical": KMER_FORMATS,
    "labels": ("fasta", "fastq"),
    "no_header": TEXT_TABLES,
    "numeric": TYPED_TABLES,
    "categorical": TYPED_TABLES,
    "missing": TEXT_TABLES,
    "label_column": (*TYPED_TABLES, "jsonl"),
    "targets": ("columns",),
}
MOST_BLOCK = 2**30  # places in a block are 31 bits
LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30  # of a class: 32-bit numbers hold its products


IN = "What comes in"
LEARN = "What is learned"
WITH = "With what"
OUT = "What goes out"


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How input is read: the same for every command that reads a stream."""

    needs_labels: ClassVar[bool] = True

    inputs: tuple[str, ...] = ()
    format: str = option(
        "auto", "what the records look like; auto decides from the first 10,000", choices=FORMATS, group=IN
    )
    ngrams: int = option(1, "tokens: runs of 2 to N words are features, too", kind="integer", low=1, group=IN)
    kmer: int | None = option(
        None,
        "seq, fasta, fastq: features are words of N letters, 32 at most",
        kind="integer",
        low=1,
        group=IN,
    )
    canonical: bool | None = option(
        None, "with --kmer: count a k-mer and its reverse complement as one feature, or as two; no default",
        kind="flag", group=IN,
    )  # fmt: skip
    labels: str | None = option(
        None, "fasta, fastq: the labels, a table of record id or file name, TAB, label", kind="path", group=IN
    )
    targets: str | None = option(
        None, "columns: the labels of the samples, one a line", kind="path", group=IN
    )
    label_column: str | None = option(
        None, "tables, jsonl: the column or key of the labels (default: label; in tables else the first)",
        group=IN,
    )  # fmt: skip
    no_header: bool = option(
        False, "csv, tsv: the first line is data; columns are called c1, c2, ...", kind="switch", group=IN
    )
    numeric: tuple[str, ...] = option(
        (), "csv, tsv, parquet: a column that holds numbers, by name or number from 1; may be repeated, or "
        "hold several with commas", kind="list", group=IN, metavar="COLUMNS",
    )  # fmt: skip
    categorical: tuple[str, ...] = option(
        (), "csv, tsv, parquet: the same of a column that holds words: each different cell is a feature",
        kind="list", group=IN, metavar="COLUMNS",
    )  # fmt: skip
    missing: tuple[str, ...] = option(
        (), "csv, tsv: a cell that stands for no value, such as NA, is read as an empty one; may be repeated",
        kind="list", group=IN, metavar="CELL",
    )  # fmt: skip
    keep: tuple[str, ...] = option(
        (), "use no features but those whose names match, such as 'age*'; may be repeated",
        kind="list", group=IN, metavar="PATTERN",
    )  # fmt: skip
    ignore: tuple[str, ...] = option(
        (), "leave out features whose names match; may be repeated, and goes before --keep",
        kind="list", group=IN, metavar="PATTERN",
    )  # fmt: skip
    normalize: str = option(
        "none", "l2: divide the values of each row by its Euclidean length", choices=("none", "l2"), group=IN
    )
    threads: int | None = option(
        None,
        "threads to use; changes the speed, never the result (default: the cores there are, at most 4)",
        kind="integer",
        low=1,
        high=1024,
        group=WITH,
    )
    block_size: int | None = option(
        None,
        "bytes read at a time; changes speed and memory, never the result; blocks of more than 2 MiB are "
        "parsed alone, which is slower (default: 1 MiB, of sequences 64 KiB)",
        kind="size",
        low=1,
        high=MOST_BLOCK,
        group=WITH,
    )
    on_bad_line: str = option(
        "stop", "at a malformed record: end with exit 3, or leave it out and count it",
        choices=("stop", "skip"), group=OUT,
    )  # fmt: skip
    max_bad: int | None = option(
        None, "with --on-bad-line skip: end with exit 3 after more than N (default: no limit)",
        kind="integer", low=0, group=OUT,
    )  # fmt: skip
    bad_lines: str | None = option(
        None, "with --on-bad-line skip: copy what was left out to a file", kind="path", group=OUT
    )
    progress: bool | None = option(
        None, "show how far the run is (default: on a terminal)", kind="flag", group=OUT
    )
    quiet: bool = option(False, "print nothing but errors", kind="switch", group=OUT)
    verbose: bool = option(
        False, "also print what was read and decided, the time and the memory", kind="switch", group=OUT
    )

    @property
    def thread_count(self) -> int:
        """As given, else the cores this process may use, four at most."""
        return self.threads or min(len(os.sched_getaffinity(0)), 4)

    def check(self) -> None:
        """Raise UsageError for what can be known to be wrong before any file is opened."""
        check_fields(self)
        if self.format in KMER_FORMATS and self.kmer is None:
            raise UsageError(f"--format {self.format} needs --kmer", hint="for example --kmer 12")
        if self.kmer is not None and self.kmer > 32:
            raise UsageError(f"--kmer {self.kmer} is too long", hint="k-mers are exact up to 32 letters")
        if self.kmer is not None and self.canonical is None:
            raise UsageError(
                "k-mers need --canonical or --no-canonical",
                hint="reads from both strands want --canonical, stranded sequences --no-canonical",
            )
        self.check_use(self.format)
        if self.format == "columns" and self.targets is None and self.needs_labels:
            raise UsageError("--format columns needs --targets", hint="a file with one label a line")
        if (self.max_bad is not None or self.bad_lines) and self.on_bad_line != "skip":
            raise UsageError("--max-bad and --bad-lines go with --on-bad-line skip")
        self.check_inputs()
        if any(not cell.strip() for cell in self.missing):
            raise UsageError("--missing: an empty cell has no value anyway", hint="for example --missing NA")
        for flag, patterns in (("--keep", self.keep), ("--ignore", self.ignore)):
            if "" in patterns:
                raise UsageError(f"{flag}: the pattern is empty, and no name is", hint=EMPTY_NAME_HINT)

    def check_inputs(self) -> None:
        """UsageError for names of inputs that cannot be."""
        paths = self.inputs
        if not isinstance(paths, tuple | list) or not all(
            isinstance(path, str | os.PathLike) for path in paths
        ):
            raise UsageError(f"inputs: expected a list of paths, got {paths!r}")
        for path in paths:
            check_name("inputs", path)
        if "" in paths:
            raise UsageError("the name of an input is empty", hint=EMPTY_NAME_HINT)
        if len([path for path in paths if path == "-"]) > 1:
            raise UsageError("standard input can be read once only")

    def check_use(self, form: str) -> None:
        """UsageError for what is said of the input and means nothing in that format."""
        if form == "columns" and self.normalize != "none":
            raise UsageError("--normalize scales rows, and a line of columns is a feature")
        for name, formats in USES.items():
            is_given = getattr(self, name) != getattr(InputOptions, name)
            if is_given and form not in ("auto", *formats):
                flag = name.replace("_", "-")
                raise UsageError(
                    f"--{flag} has no use with --format {form}", hint=f"it is for {', '.join(formats)}"
                )


@dataclass(frozen=True, kw_only=True)
class SelectOptions(InputOptions):
    """Everything `fsstream select` can be told. None: not given."""

    groups: str | tuple[tuple[str, tuple[str, ...]], ...] | None = option(
        None, "fgm: --k counts groups of features; a table of feature, TAB, group", kind="table", group=IN
    )
    class_weight: tuple[str, ...] = option(
        (), "count rows with this label W times; may be repeated", kind="list", group=IN, metavar="LABEL=W"
    )
    shuffle: bool = option(
        False, "copy the rows to disk first, and learn them in a random order, which follows from --seed",
        kind="switch", group=IN,
    )  # fmt: skip
    algo: str = option("mission", "the backend; `fsstream algos` lists them", group=LEARN)
    k: int | None = option(
        None, "how many features to select, for each class where there are more than two; no default",
        kind="integer", low=1, high=2**40, group=LEARN,
    )  # fmt: skip
    loss: str = option(
        "auto", "what is minimised; auto decides from the labels: two, several classes, or numbers",
        choices=LOSSES, group=LEARN,
    )  # fmt: skip
    passes: int | None = option(
        None, "how often the data is read, at most (default: once with most backends)",
        kind="integer", low=1, high=2**31, group=LEARN,
    )  # fmt: skip
    learning_rate: float | None = option(
        None, "size of a step (default: the backend finds it, or 0.5)", kind="number", low=0, group=LEARN
    )
    l1: float | None = option(
        None, "weight of the penalty on |w|: larger selects fewer features", kind="number", low=0, group=LEARN
    )
    l2: float | None = option(
        None, "weight of the penalty on w^2: larger makes smaller weights", kind="number", low=0, group=LEARN
    )
    intercept: bool | None = option(
        None,
        "learn a constant beside the features (default: as the backend has it)",
        kind="flag",
        group=LEARN,
    )
    init: str | None = option(
        None, "go on from a model, such as yesterday's", kind="path", group=LEARN, metavar="MODEL"
    )
    seed: int = option(
        0,
        "decides all that is random: hashing in sketches, shuffles, draws",
        kind="integer",
        low=0,
        high=2**64 - 1,
        group=LEARN,
    )
    set: tuple[str, ...] = option(
        (), "a parameter of the backend, as `fsstream algos NAME` lists them; may be repeated",
        kind="list", group=LEARN, metavar="KEY=VALUE",
    )  # fmt: skip
    max_classes: int = option(
        1000, "end with exit 4 when there are more labels", kind="integer", low=2, high=2**31, group=LEARN
    )
    patience: int | None = option(
        None, "stop after N passes in which the loss on --valid got no better, and keep the best pass",
        kind="integer", low=1, group=LEARN,
    )  # fmt: skip
    memory: int | None = option(
        None, "limit of memory, such as 256MB; the program itself takes up to 64 MB besides (default: 1 GB "
        "or a quarter of the machine, the smaller)", kind="size", high=2**62, group=WITH,
    )  # fmt: skip
    workers: int | None = option(
        None, "asy-os: workers of the method; they change the result", kind="integer", low=1, high=65_536,
        group=WITH,
    )  # fmt: skip
    engine: str = option(
        "local", "what runs the workers: this machine (ray is refused: not built yet)",
        choices=("local", "ray"), group=WITH,
    )  # fmt: skip
    address: str | None = option(None, "of a cluster, for --engine ray", group=WITH)
    spool_dir: str | None = option(
        None, "where data that must be read again is kept during the run (default: the system's temporary "
        "folder)", kind="path", group=WITH, metavar="FOLDER",
    )  # fmt: skip
    output: str | None = option(
        None, "write the selection to a file instead of standard output; .csv and .parquet select that form",
        kind="path", group=OUT,
    )  # fmt: skip
    model: str | None = option(
        None, "write a model, for predict, evaluate, transform, merge and --init", kind="path", group=OUT
    )
    summary: str | None = option(
        None, "write options, counts, losses and times as JSON, also for `fsstream report`", kind="path",
        group=OUT,
    )  # fmt: skip
    with_state: bool = option(
        False, "put all the learner knows into --model, so that --init and `fsstream merge` are exact",
        kind="switch", group=OUT,
    )  # fmt: skip
    valid: str | None = option(
        None, "a labelled file that is scored after each pass, never learned", kind="path", group=OUT
    )
    checkpoint: str | None = option(
        None, "save the run there now and then, and when it is stopped, for `fsstream resume`", kind="path",
        group=OUT,
    )  # fmt: skip
    checkpoint_every: float | None = option(
        None, "how often to save: 60s, or each 1GB of data (default: 60s)", kind="interval", group=OUT
    )
    lock: str | None = option(
        None, "end at once with exit 75 when another run holds this file", kind="path", group=OUT
    )

    def resolved(self) -> dict[str, Any]:
        """All options but the inputs, by name, with the numbers that stand for what was not given."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del found["inputs"]
        if isinstance(self.groups, tuple):  # of a Python caller, and as large as what is selected from
            found["groups"] = f"a table of {len(self.groups)} features"
        return found | {"threads": self.thread_count, "memory": self.memory_bytes}

    @property
    def memory_bytes(self) -> int:
        """As given, else 1 GB or a quarter of the machine, the smaller."""
        if self.memory is not None:
            return self.memory
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return min(10**9, machine // 4)

    def check(self) -> None:
        super().check()
        if self.checkpoint_every is not None:
            if self.checkpoint is None:
                raise UsageError("--checkpoint-every needs --checkpoint FILE")
            if not self.checkpoint_every > 0:
                raise UsageError("--checkpoint-every: expected more than 0")
        if self.learning_rate == 0:
            raise UsageError("--learning-rate: expected more than 0", hint="without it a step is chosen")
        if self.patience is not None and self.valid is None:
            raise UsageError("--patience needs --valid FILE")
        if self.valid == "-":
            raise UsageError("--valid needs a file: it is read after each pass")
        weighed = [_as_number(split_class_weight(item)[0]) for item in self.class_weight]
        for place, label in enumerate(weighed):
            if label in weighed[:place]:
                raise UsageError(
                    f"--class-weight: the label {label!r} has two weights", hint="give each label one"
                )
        if self.init == "-" and (not self.inputs or "-" in self.inputs):
            raise UsageError(
                "standard input cannot be the model of --init and the data", hint="give one of them as a file"
            )
        self._check_outputs()
        if self.engine != "local":
            raise UsageError(
                f"--engine {self.engine}: this version runs on one machine",
                hint="learn shards with --with-state where they lie, and `fsstream merge` the models",
            )
        if self.address is not None:
            raise UsageError("--address goes with --engine ray")

    def _check_outputs(self) -> None:
        """`-` is standard output, which takes one thing, and the selection unless that has a file."""
        if [self.output or "-", self.model, self.summary].count("-") > 1:
            raise UsageError(
                "standard output can take one thing only", hint="--output FILE takes the selection elsewhere"
            )
        for flag, path in (("--checkpoint", self.checkpoint), ("--bad-lines", self.bad_lines)):
            if path == "-":
                raise UsageError(f"{flag} needs a file: standard output is for the selection")


# The fields that decide what is learned: recorded in models. The others move bytes or change the speed.
LEARNING_FIELDS = (
    "algo", "k", "loss", "passes", "learning_rate", "l1", "l2", "intercept", "seed", "memory", "workers",
    "max_classes", "class_weight", "shuffle", "keep", "ignore", "normalize",
)  # fmt: skip


def split_class_weight(item: str) -> tuple[str, float]:
    """`spam=2.5` -> ("spam", 2.5)."""
    label, equals, weight = item.rpartition("=")
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not equals or not label or not LEAST_WEIGHT <= value <= MOST_WEIGHT:
        raise UsageError(
            f"--class-weight: expected LABEL=W with W from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {item!r}"
        )
    return label, value


def _as_number(label: str) -> str | float:
    """`+1` and `1.0` are one label; two whole numbers are two, also where a float holds one of them only."""
    for number in (int, float):
        with suppress(ValueError):
            return number(label)
    return label
