"""A model: the selection plus what prediction needs, and how its input is to be read."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fsstream._native import LinearModel, ProductModel, key_of_name, pair_key
from fsstream.errors import UsageError
from fsstream.kmers import kmer_key, shown_kmers
from fsstream.numerics import np
from fsstream.pairs import split_pair

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Protocol

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.basis import Basis
    from fsstream.expansion import Expansion
    from fsstream.numerics import Floats
    from fsstream.selection import Selection

    class Predictor(Protocol):
        """Scores of rows: rows x outputs."""

        @property
        def outputs(self) -> int: ...
        def predict(self, batch: Batch) -> NDArray[np.float32]: ...


@dataclass(frozen=True, repr=False)
class Model:
    """What `select --model` writes. `kind` is `numbers`, `binary` or `classes`."""

    selection: Selection  # in output order, classes by their labels
    raw_intercepts: Floats
    kind: str
    loss: str
    labels: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # resolved, as select ran with them
    reading: Mapping[str, Any] = field(default_factory=dict)  # how the input was read
    basis: Basis | Expansion | None = None  # what names like `gaussian#17` stand for
    rows: int = 0  # that it was learned from
    state: Mapping[str, NDArray[Any]] | None = None  # of the learner, when it was asked for
    state_labels: tuple[str, ...] = ()  # in the order that the state knows them by

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return len(self.raw_intercepts)

    @cached_property
    def intercepts(self) -> NDArray[np.float32]:
        """One number, or one a class, as an array."""
        return np.asarray(self.raw_intercepts)

    def keys(self) -> NDArray[np.uint64]:
        """The identity of each feature: 2-bit codes of k-mers, else what its name gives; of both factors."""
        if self.has_products:
            triples = zip(*(column.tolist() for column in self.factors()), strict=True)
            return np.array([pair_key(a, b) if product else a for a, b, product in triples], dtype=np.uint64)
        return np.array([self._key_of(name) for name in self.selection.raw_names], dtype=np.uint64)

    def __repr__(self) -> str:
        what = f"{self.kind}, {self.loss} loss"
        return f"<model of {len(self.selection)} features by {self.options['algo']}: {what}>"

    def predictor(self) -> Predictor:
        """What scores rows."""
        from fsstream import training

        if training.predicts_with_state(self):
            return training.StatePredictor(self)
        numbers = self.class_numbers()
        classes = np.zeros(len(self.selection), np.uint32) if numbers is None else np.asarray(numbers)
        intercepts = self.intercepts.astype(np.float64)
        if self.basis is not None:
            return self.basis.predictor(self.selection, classes, intercepts, self._key_of)
        if self.has_products:
            return ProductModel(*self.factors(), self.selection.weights, classes, intercepts)
        return LinearModel(self.keys(), self.selection.weights, classes, intercepts)

    @property
    def has_products(self) -> bool:
        """Names may be `a*b`: products of two features."""
        settings = self.options.get("set", {})
        return "2" in (str(settings.get("degree")), str(settings.get("interactions")))

    def known_keys(self) -> NDArray[np.uint64] | None:
        """Of all features that scores are made of; None: of any."""
        from fsstream import training

        if self.basis is not None or training.predicts_with_state(self):
            return None
        return np.concatenate(self.factors()[:2]) if self.has_products else self.keys()

    def factors(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]:
        """The keys of both factors of each name, and whether there are two."""
        split = [split_pair(name) for name in self.selection.raw_names]
        first = np.array([self._key_of(factors[0]) for factors in split], dtype=np.uint64)
        second = np.array([self._key_of(factors[-1]) for factors in split], dtype=np.uint64)
        return first, second, np.array([len(factors) == 2 for factors in split], dtype=np.uint8)

    def check_names(self) -> None:
        """ValueError where features of the stream are k-mers, and a name of one in the model is none."""
        if not self.reading.get("kmer"):
            return
        if self.basis is not None:
            for name in self.basis.input_names:
                kmer_key(name)
        elif self.has_products:
            self.factors()
        else:
            self.keys()

    def _key_of(self, name: bytes) -> int:
        return kmer_key(name) if self.reading.get("kmer") else key_of_name(name)

    def check_kmers(self, kmer: int | None, canonical: bool | None, *, what: str) -> None:
        """UsageError for a stream of k-mers of another kind: their keys stand for other words."""
        ours = shown_kmers(self.reading.get("kmer"), self.reading.get("canonical"))
        theirs = shown_kmers(kmer, canonical)
        if ours != theirs:
            raise UsageError(f"{what}: its features are {ours}, and the stream's {theirs}")

    def scores(self, source: Any, *, names: Any = None, **options: Any) -> NDArray[np.float32]:
        """The score of each row of what `select` reads, for each class when there are more than two.

        What is not said about the input is taken to be as it was in training.
        """
        from fsstream import api

        found = api.scores(self, source, names, **options)
        return found if self.kind == "classes" else found[:, 0]

    def predict(self, source: Any, *, names: Any = None, **options: Any) -> NDArray[Any]:
        """The label of each row of what `select` reads, or the number.

        >>> import fsstream
        >>> model = fsstream.select("data/spam_sample.tsv.gz", k=8, format="tokens").model
        >>> model.predict([b"? click here to remove our\\n? re: but you wrote\\n"]).tolist()
        ['spam', 'ham']
        """
        from fsstream.apply import decisions

        found = self.scores(source, names=names, **options)
        decided = decisions(self, np.atleast_2d(found.T).T)
        return decided if self.kind == "numbers" else np.array(self.labels, dtype=object)[decided]

    def save(self, path: str | Path) -> None:
        """Write the model file: whole, or not at all."""
        from fsstream.publish import Publisher

        with Publisher() as publisher:
            publisher.add(str(path), self.to_bytes())
            publisher.commit()

    def class_numbers(self) -> array[int] | None:
        """The class of each feature as its place among the labels."""
        if self.selection.classes is None:
            return None
        number = {label: place for place, label in enumerate(self.labels)}
        return array("I", [number[str(label)] for label in self.selection.classes])

    def to_bytes(self) -> bytes:
        """The bytes of the model file: a function of the model alone."""
        from fsstream.model_file import bytes_of

        return bytes_of(self)


def name_classes(selection: Selection, labels: tuple[str, ...]) -> Selection:
    """Class numbers become labels."""
    if selection.classes is None:
        return selection
    named = [labels[int(index)] for index in selection.classes]
    return replace(selection, classes=named)
