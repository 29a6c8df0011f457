"""The library: read, select, and learn batch by batch. What is selected is what the command selects."""

from __future__ import annotations

import copy
import os
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fsstream import run
from fsstream.aim import Aim
from fsstream.algorithms.learner import Access
from fsstream.apply_options import ApplyOptions
from fsstream.arrays import ids_source, matrix_source
from fsstream.config import LEARNING_FIELDS, InputOptions, SelectOptions
from fsstream.errors import DataError, Interrupted, UsageError, no_data
from fsstream.kmers import shown_kmers
from fsstream.option_fields import from_mapping
from fsstream.reading import Reading, RowsReading, make_reading
from fsstream.rows import GivenRows, Rows
from fsstream.sources import PEEK_RECORDS, Source
from fsstream.sources.given import GivenSource
from fsstream.task import Labels
from fsstream.training import Training, check_uses, find_backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fsstream.model import Model
    from fsstream.rows import RowSource
    from fsstream.run import Outcome
    from fsstream.selection import Selection


_WRITTEN = frozenset({"output", "model", "summary", "lock"})


def read(source: Any, *, format: str = "auto", **options: Any) -> Iterator[Rows]:  # noqa: A002
    """Look at what the parsers see: the rows of paths, file objects or pieces of bytes, some at a time.

    Takes the options of `fsstream select` that say how input is read.

    >>> [rows] = fsstream.read([b"spam free:2 money:1\\n", b"ham re:1\\n"], format="pairs")
    >>> rows
    <2 rows with 3 entries of <stream>>
    >>> sum(len(rows) for rows in fsstream.read("data/mushrooms.libsvm.zst"))
    8124
    """
    paths, given = find_source(source)
    resolved = from_mapping(InputOptions, {"inputs": paths, "format": format, "quiet": True, **options})
    resolved.check()
    return _read(resolved, given)


def _read(options: InputOptions, given: Source | RowSource | None) -> Iterator[Rows]:
    with closing(make_reading(options, given)) as reading:
        kmers = reading.kmers
        batches = reading.batches(reuse=False) if isinstance(reading, Reading) else reading.batches()
        for parsed in batches:
            yield Rows(parsed.block, parsed.batch, kmers=kmers)


def select(
    source: Any,
    y: Any = None,
    *,
    weights: Any = None,
    names: Sequence[str | bytes] | None = None,
    **options: Any,
) -> Outcome:
    """Select features, with the options of `fsstream select` as keywords; nothing is written.

    `source` is what the command reads: a path or several, a file object, or pieces of bytes. Or it is
    rows: a scipy matrix, a dense array, `(ids, values, indptr)`, `(ids, values)` with an array of each
    for every row, or what `read` gives. Arrays come with labels `y`, and may have row weights and, if
    they are matrices, names of the columns; without names a column is called by its number. A data
    frame or Arrow table (with `fsstream[parquet]`) is read like a Parquet file; labels are a column, or `y`.

    The outcome has `names`, `weights`, `to_dict()` and `to_jsonl()`; its `model` predicts, its
    `summary` says what happened.

    >>> outcome = fsstream.select("data/spam_sample.tsv.gz", k=3, format="tokens")
    >>> outcome.names
    ['re', 'click', 'your']
    >>> X = np.array([[1, 0, 3], [0, 2, 1], [2, 0, 2], [0, 1, 3]])
    >>> fsstream.select(X, ["no", "yes", "no", "yes"], k=1, names=["a", "b", "c"]).names
    ['b']
    """
    for name in sorted(_WRITTEN & options.keys()):
        hint = "outcome.to_jsonl(), outcome.model.save(path) and outcome.summary are yours to write"
        raise UsageError(f"{name} is written by the command", hint=hint)
    paths, given = find_source(source, y, weights, names)
    resolved = from_mapping(SelectOptions, {"inputs": paths, "quiet": True, **options})
    resolved.check()
    return _interruptible(resolved, given)


def _interruptible(options: SelectOptions, given: Source | RowSource | None) -> Outcome:
    try:
        return run.select(options, given)
    except Interrupted as error:
        if error.exit_code == 130:
            raise KeyboardInterrupt from error
        raise


class Selector:
    """Selects from batches as they come: the backends that read rows once.

    `classes` says all labels beforehand (two of them: the smaller number, or the earlier in byte order, is
    the negative one). Without them the first 10,000 rows are kept back until the kind of the labels is
    known, as it is for a file; so the batches may be cut anywhere.

    >>> selector = fsstream.Selector(k=3)
    >>> for rows in fsstream.read("data/spam_sample.tsv.gz", format="tokens"):
    ...     selector.update(rows)
    >>> selector.selection.names
    ['re', 'click', 'your']
    """

    def __init__(
        self,
        *,
        algo: str = "mission",
        k: int | None = None,
        classes: Iterable[Any] | None = None,
        **options: Any,
    ) -> None:
        allowed = {*LEARNING_FIELDS, "set", "init", "threads", "with_state"} - {"passes", "shuffle"}
        for name in options:
            if name.replace("-", "_") not in allowed:
                raise UsageError(
                    f"{name} has no use where batches are learned as they come", hint="see select"
                )
        self._options: SelectOptions = from_mapping(
            SelectOptions, {"algo": algo, "k": k, "quiet": True, **options}
        )
        self._options.check()
        self._chosen = find_backend(algo)
        check_uses(self._options, self._chosen)
        if self._chosen.access is not Access.ROWS:
            raise UsageError(f"{algo} needs the data more than once", hint="fsstream.select reads it again")
        self._classes = None if classes is None else _labels_of(classes)
        self._recipe: dict[str, Any] = {}
        self._waiting: list[Rows] = []
        self._training: Training | None = None
        self.rows = 0

    def update(self, batch: Any, y: Any = None, *, weights: Any = None, names: Any = None) -> None:
        """Learn rows: some of `read`, or arrays with their labels as `select` takes them."""
        paths, source = find_source(batch, y, weights, names)
        if paths or source is None or isinstance(source, Source):
            raise UsageError(
                "update takes rows", hint="for rows in fsstream.read(path): selector.update(rows)"
            )
        self.learn(source)

    def learn(self, source: RowSource) -> None:
        """Learn the rows of a source."""
        reading = RowsReading(self._options, source)
        self._take_recipe(reading.recipe())
        if self._training is None and self._classes is not None:
            self._begin(self._classes)
        for parsed in reading.batches():
            self.rows += parsed.batch.rows
            if self._training is not None:
                self._learn(self._training, Rows(parsed.block, parsed.batch))
            else:
                self._waiting.append(Rows(parsed.block, parsed.batch))
                if self.rows >= PEEK_RECORDS:
                    self._begin(self._labels_waiting())

    @property
    def model(self) -> Model:
        """The model as it is now, to predict with or to save."""
        if not self.rows:
            raise no_data()
        if self._training is None:
            self._begin(self._labels_waiting())
        assert self._training is not None
        self._training.aim.check_rows()
        learner = self._training.learner
        if learner.rows_a_step == 1 and not (self._options.with_state or learner.predicts_with_state):
            return self._training.model()
        # Rows that wait for others of their step count in a model, and go on waiting here.
        settled = copy.deepcopy(self)._training
        assert settled is not None
        settled.learner.end_pass()
        return settled.model()

    @property
    def selection(self) -> Selection:
        """The features that are selected now."""
        return self.model.selection

    def _take_recipe(self, recipe: dict[str, Any]) -> None:
        ours, theirs = (shown_kmers(one.get("kmer"), one.get("canonical")) for one in (self._recipe, recipe))
        if self.rows and ours != theirs:
            raise UsageError(f"the features of these rows are {theirs}, and those of the rows before {ours}")
        self._recipe = recipe

    def _labels_waiting(self) -> Labels:
        texts = list(chain.from_iterable(rows.batch.labels() for rows in self._waiting))
        values = np.concatenate([[], *(rows.batch.label_values for rows in self._waiting)]).tolist()
        return Labels.seen(texts[:PEEK_RECORDS], values[:PEEK_RECORDS])

    def _begin(self, labels: Labels) -> None:
        aim = Aim.decide(self._options, labels, self._chosen)
        self._training = Training(self._options, self._chosen, aim, aim.task, lambda: self._recipe)
        waiting, self._waiting = self._waiting, []
        for rows in waiting:
            self._learn(self._training, rows)

    def _learn(self, training: Training, rows: Rows) -> None:
        training.aim.resolve(rows, str(self._recipe.get("format")))
        training.learner.update(rows.batch)
        training.aim.rows += len(rows)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the options, the labels, and the learner's arrays."""
        if self._training is None and self._waiting:
            self._begin(self._labels_waiting())
        state = {"options": self._options, "recipe": self._recipe, "rows": self.rows, "learned": None}
        state["classes"] = self._classes
        if self._training is not None:
            aim = self._training.aim
            aimed = (aim.loss, aim.kind, aim.labels, aim.rows)
            state["learned"] = (aimed, aim.rows_before, self._training.learner.state())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._options, self._recipe, self.rows = state["options"], state["recipe"], state["rows"]
        self._chosen = find_backend(self._options.algo)
        self._classes = state["classes"]
        self._waiting, self._training = [], None
        if state["learned"] is not None:
            aimed, before, learned = state["learned"]
            aim = Aim.continued(self._options, *aimed, before=before)
            self._training = Training(self._options, self._chosen, aim, aim.task, lambda: self._recipe)
            self._training.learner.restore(learned)


def scores(model: Model, source: Any, names: Any = None, **options: Any) -> NDArray[np.float32]:
    """The scores of all rows of a source: rows x outputs."""
    from fsstream.apply import score_batches

    paths, given = find_source(source, names=names)
    resolved = from_mapping(ApplyOptions, {"inputs": paths, "quiet": True, **options})
    resolved.check()
    found = list(score_batches(model, resolved, given))
    return np.concatenate(found) if found else np.empty((0, model.outputs), np.float32)


def find_source(
    source: Any, y: Any = None, weights: Any = None, names: Any = None
) -> tuple[tuple[str, ...], Source | RowSource | None]:
    """What was given to read: paths, or bytes or rows in their place."""
    rows = _rows_of_arrays(source, y, weights, names)
    if rows is not None:
        return (), rows
    if y is not None or weights is not None or names is not None:
        raise UsageError("y, weights and names go with arrays", hint="text has its labels in every record")
    if isinstance(source, str | os.PathLike):
        return (os.fspath(source),), None
    if isinstance(source, Rows):
        return (), GivenRows([source])
    if isinstance(source, bytes | bytearray | memoryview):
        return (), GivenSource([bytes(source)])
    if hasattr(source, "read"):
        return (), GivenSource(source)
    try:
        pieces = iter(source)
    except TypeError:
        raise UsageError(f"{type(source).__name__} is nothing that rows can be read from") from None
    return _of_pieces(source, pieces)


def _of_pieces(source: Any, pieces: Iterator[Any]) -> tuple[tuple[str, ...], Source | RowSource | None]:
    first = next(pieces, None)
    if first is None:
        raise DataError(
            "there is no data: nothing was given to read",
            hint="is the list, or what makes its pieces, empty?",
        )
    if isinstance(first, str | os.PathLike):
        return tuple(os.fspath(path) for path in chain([first], pieces)), None
    if isinstance(first, Rows):
        return (), GivenRows(source if isinstance(source, list | tuple) else chain([first], pieces))
    return (), GivenSource(chain([first], pieces))


def _rows_of_arrays(source: Any, y: Any, weights: Any, names: Any) -> RowSource | None:
    if hasattr(source, "__arrow_c_stream__"):
        from fsstream.arrow import FrameSource

        if names is not None:
            raise UsageError("a data frame has names of its own")
        return FrameSource(source, y, weights)
    if hasattr(source, "tocsr") or isinstance(source, np.ndarray):
        return matrix_source(source, y, weights, names)
    if isinstance(source, list | tuple) and source:
        first = source[0]
        if isinstance(source, tuple) and len(source) in (2, 3) and _is_array(first):
            if names is not None:
                raise UsageError("names are of a matrix's columns", hint="ids are names already")
            return ids_source(source, y, weights)
        if _is_array(first):
            return matrix_source(_array_of(source), y, weights, names)
    return None


def _array_of(rows: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise UsageError(
            "the rows are not of one length", hint="rows with ids of their own are (ids, values), see select"
        ) from None


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray) or (isinstance(part, list | tuple) and not isinstance(part, str))


def _labels_of(classes: Iterable[Any]) -> Labels:
    source = matrix_source(np.zeros((len(known := list(classes)), 0)), known)
    batches = [rows.batch for rows in source.rows()]
    texts = [label for batch in batches for label in batch.labels()]
    return Labels.seen(texts, [value for batch in batches for value in batch.label_values.tolist()])
