"""The aim of a run: its loss, the kind of its targets, and the labels that were met so far.

The aim grows while the data is read, since classes may come late. What a learner is told before the first
row is a Task (algorithms/learner.py): what the aim knew by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.algorithms.learner import Task
from fsstream.bad_records import row_fault
from fsstream.config import TYPED_TABLES, split_class_weight
from fsstream.errors import DataError, LimitError, UsageError, no_data
from fsstream.task import Labels, check_loss, decide, make_map, start_labels
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsstream._native import LabelMap
    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.model import Model
    from fsstream.pipeline import Parsed

_WHERE_LABELS_ARE = {
    "fasta": "--labels FILE is a table of record and label, else the header says label=...",
    "fastq": "--labels FILE is a table of record and label, else the header says label=...",
    "seq": "a label and a tab stand before the sequence",
    "vw": "the label stands first, before the bar",
    **dict.fromkeys((*TYPED_TABLES, "jsonl"), "--label-column NAME says where the label is"),
}


@dataclass
class Aim:
    """What is predicted, and the map from labels to the targets that learners see."""

    loss: str
    kind: str  # numbers, binary or classes
    label_map: LabelMap
    initial: Model | None
    max_classes: int
    rows: int = 0  # seen in the first pass
    rows_before: int = 0  # behind the state of --init

    @classmethod
    def decide(cls, options: SelectOptions, labels: Labels, chosen: type[Learner]) -> Aim:
        """As the model of --init has it, which may meet a day of two labels only, or of none; else from the
        labels of the first records.
        """
        initial = _first_model(options.init) if options.init else None
        if initial is not None and options.loss in ("auto", initial.loss):
            loss, kind = initial.loss, initial.kind
            check_loss(loss, chosen)
        else:
            loss, kind = decide(options.loss, labels, chosen)
        if kind == "numbers" and options.class_weight:
            raise UsageError(f"--class-weight has no use with the {loss} loss", hint="its labels are numbers")
        if initial is not None and (initial.kind, initial.loss) != (kind, loss):
            raise UsageError(
                f"--init: a model of {initial.kind} with the {initial.loss} loss cannot start one of "
                f"{kind} with the {loss} loss"
            )
        known = start_labels(kind, labels, (initial.state_labels or initial.labels) if initial else ())
        weights = map(split_class_weight, options.class_weight)
        label_map = make_map(kind, known, options.max_classes, weights)
        before = initial.rows if initial is not None and initial.state is not None else 0
        return cls(loss, kind, label_map, initial, options.max_classes, rows_before=before)

    @classmethod
    def continued(
        cls, options: SelectOptions, loss: str, kind: str, labels: Iterable[str], rows: int, *, before: int
    ) -> Aim:
        """As it was when so many rows had been seen."""
        weights = map(split_class_weight, options.class_weight)
        label_map = make_map(kind, list(map(to_bytes, labels)), options.max_classes, weights)
        return cls(loss, kind, label_map, None, options.max_classes, rows, before)

    @property
    def labels(self) -> tuple[str, ...]:
        """Canonical labels: negative and positive, or the classes in order of appearance."""
        return tuple(map(to_text, self.label_map.labels))

    @property
    def task(self) -> Task:
        """What a learner needs to know."""
        return Task(loss=self.loss, labels=self.labels, max_classes=self.max_classes)

    def resolve(self, parsed: Parsed, form: str) -> None:
        """Give the rows their targets, or say which label will not do, or is one too many."""
        problem = self.label_map.resolve(parsed.batch)
        if problem is None:
            return
        row, expected, hint = problem
        if not parsed.batch.labels()[row]:
            hint = _WHERE_LABELS_ARE.get(form, hint)
        elif self.kind == "binary" and self.initial is not None:
            hint = f"the model of --init tells {self.labels[1]!r} from {self.labels[0]!r}"
        error = row_fault(parsed.block, parsed.batch, row, expected, hint)
        raise LimitError(error.message, hint=hint) if "--max-classes" in expected else error

    def check_rows(self) -> None:
        """After the data: there must have been some, and something to tell apart."""
        if self.rows == 0:
            raise no_data()
        if self.kind != "numbers" and len(self.labels) < 2:
            raise DataError(
                f"every row ({self.rows}) has the label {self.labels[0]!r}: there is nothing to tell apart",
                hint="classes need at least two labels",
            )


def _first_model(path: str) -> Model:
    from fsstream.model_file import load_model

    try:
        return load_model(path)
    except UsageError as error:
        raise UsageError(
            f"--init: {error.message}", hint="the first run of all goes without --init"
        ) from None
