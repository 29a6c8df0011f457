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
    format: str = option("auto", "format of the records", choices=FORMATS, group=IN)
    ngrams: int = option(1, "tokens: also count word n-grams up to N", kind="integer", low=1, group=IN)
    kmer: int | None = option(None, "length of k-mers, up to 32", kind="integer", low=1, group=IN)
    canonical: bool | None = option(
        None, "a k-mer and its reverse complement are one feature (no default)", kind="flag", group=IN
    )
    labels: str | None = option(
        None, "fasta, fastq: table of record id or file name, TAB, label", kind="path", group=IN
    )
    targets: str | None = option(None, "columns: one label a line, for each sample", kind="path", group=IN)
    label_column: str | None = option(None, "tables, jsonl: name (or number) of the label", group=IN)
    no_header: bool = option(False, "csv, tsv: columns are c1, c2, ...", kind="switch", group=IN)
    numeric: tuple[str, ...] = option((), "csv, tsv, parquet: columns of numbers", kind="list", group=IN)
    categorical: tuple[str, ...] = option((), "csv, tsv, parquet: columns of words", kind="list", group=IN)
    keep: tuple[str, ...] = option((), "keep only features that match the pattern", kind="list", group=IN)
    ignore: tuple[str, ...] = option((), "drop features that match the pattern", kind="list", group=IN)
    normalize: str = option("none", "scale rows to unit length", choices=("none", "l2"), group=IN)
    threads: int | None = option(
        None,
        "threads to use; changes the speed, never the result",
        kind="integer",
        low=1,
        high=1024,
        group=WITH,
    )
    block_size: int | None = option(
        None,
        "bytes read at a time; never the result (default: 1 MB, of sequences 128 KB)",
        kind="size",
        low=1,
        high=MOST_BLOCK,
        group=WITH,
    )
    on_bad_line: str = option("stop", "what a bad record does", choices=("stop", "skip"), group=OUT)
    max_bad: int | None = option(None, "most bad records to skip", kind="integer", low=0, group=OUT)
    bad_lines: str | None = option(None, "copy skipped records to a file", kind="path", group=OUT)
    progress: bool | None = option(None, "show progress (default: on a terminal)", kind="flag", group=OUT)
    quiet: bool = option(False, "only errors", kind="switch", group=OUT)
    verbose: bool = option(False, "say what was decided", kind="switch", group=OUT)

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
        None, "fgm: table of feature, TAB, group", kind="table", group=IN
    )
    class_weight: tuple[str, ...] = option((), "LABEL=W: weight of a class's rows", kind="list", group=IN)
    shuffle: bool = option(False, "learn what is spooled in a fresh seeded order", kind="switch", group=IN)
    algo: str = option("mission", "the backend; see `fsstream algos`", group=LEARN)
    k: int | None = option(
        None, "number of features to select", kind="integer", low=1, high=2**40, group=LEARN
    )
    loss: str = option("auto", "what is minimised", choices=LOSSES, group=LEARN)
    passes: int | None = option(
        None, "times the data is read", kind="integer", low=1, high=2**31, group=LEARN
    )
    learning_rate: float | None = option(None, "size of a step", kind="number", low=0, group=LEARN)
    l1: float | None = option(None, "weight of the l1 penalty", kind="number", low=0, group=LEARN)
    l2: float | None = option(None, "weight of the l2 penalty", kind="number", low=0, group=LEARN)
    intercept: bool | None = option(None, "learn a constant beside the k features", kind="flag", group=LEARN)
    init: str | None = option(None, "start from a model (yesterday's)", kind="path", group=LEARN)
    seed: int = option(
        0,
        "of sketch cells, shuffles and draws; what draws nothing is the same for each",
        kind="integer",
        low=0,
        high=2**64 - 1,
        group=LEARN,
    )
    set: tuple[str, ...] = option((), "KEY=VALUE: any parameter of the backend", kind="list", group=LEARN)
    max_classes: int = option(1000, "most classes to accept", kind="integer", low=2, high=2**31, group=LEARN)
    patience: int | None = option(
        None, "stop after N passes without a better --valid loss", kind="integer", low=1, group=LEARN
    )
    memory: int | None = option(
        None, "most memory to use (default: 1 GB or a quarter)", kind="size", high=2**62, group=WITH
    )
    workers: int | None = option(
        None, "workers of the method (asy-os)", kind="integer", low=1, high=65_536, group=WITH
    )
    engine: str = option(
        "local", "what runs the workers: this machine (ray is refused: not built yet)",
        choices=("local", "ray"), group=WITH,
    )  # fmt: skip
    address: str | None = option(None, "of a cluster, for --engine ray", group=WITH)
    spool_dir: str | None = option(None, "folder for data that is read again", kind="path", group=WITH)
    output: str | None = option(None, "write the selection to a file", kind="path", group=OUT)
    model: str | None = option(None, "write a model for predict and --init", kind="path", group=OUT)
    summary: str | None = option(None, "write what happened as JSON", kind="path", group=OUT)
    with_state: bool = option(
        False, "put all the learner knows into --model, for an exact `--init` and `fsstream merge`",
        kind="switch", group=OUT,
    )  # fmt: skip
    valid: str | None = option(None, "file to validate on after each pass", kind="path", group=OUT)
    checkpoint: str | None = option(
        None, "save the run there now and then, and when it is stopped, for `fsstream resume`", kind="path",
        group=OUT,
    )  # fmt: skip
    checkpoint_every: float | None = option(
        None, "how often: 60s, or each 1GB of data (default: 60s)", kind="interval", group=OUT
    )
    lock: str | None = option(None, "exit 75 at once when another run holds it", kind="path", group=OUT)

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
