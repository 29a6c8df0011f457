"""Raw documents in, counts of the selected words out, by their names; no vocabulary is ever built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fsstream._native import Batch, TokensParser, key_of_name
from fsstream.rows import Rows, RowSource
from fsstream.sklearn.base import FittedByRun, as_value_error, learns_on
from fsstream.sklearn.made import in_order, maker_of
from fsstream.sources import Block
from fsstream.text import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from fsstream.model import Model

_DOCUMENTS = 1 << 10  # parsed at a time
_NO_LABEL = "?"


class Documents(RowSource):
    """Documents with their labels: each is a line of `tokens`."""

    name = "<documents>"
    form = "tokens"

    def __init__(self, documents: Sequence[str], labels: Sequence[Any] | None, ngrams: int) -> None:
        self._documents = documents
        self._labels = labels
        self._parser = TokensParser(ngrams)

    def rows(self) -> Iterator[Rows]:
        """One pass, some documents at a time."""
        for begin in range(0, len(self._documents), _DOCUMENTS):
            block = Block(self.name, memoryview(self._lines(begin)), begin + 1, begin)
            batch = Batch()
            self._parser.parse(block.data, batch, False, self.name)
            yield Rows(block, batch)

    def _lines(self, begin: int) -> bytes:
        documents = self._documents[begin : begin + _DOCUMENTS]
        labels = [_NO_LABEL] * len(documents)
        if self._labels is not None:
            labels = [str(label) for label in self._labels[begin : begin + _DOCUMENTS]]
        lines = (f"{label}\t{text}\n" for label, text in zip(labels, documents, strict=True))
        return to_bytes("".join(lines))


class HashedTextSelector(TransformerMixin, FittedByRun):
    """Select words, and runs of up to `ngrams` words, while documents stream by.

    Memory is that of the learner: no vocabulary, whatever the number of distinct words. `transform`
    counts the selected ones. `token_pattern` finds words as in CountVectorizer; None: between blanks.
    `algo` is any that reads rows.

    >>> texts = ["free money now", "a free offer", "see me at work", "work with money"]
    >>> words = HashedTextSelector(k=2).fit(texts, ["spam", "spam", "ham", "ham"])
    >>> sorted(words.get_feature_names_out())
    ['free', 'work']
    >>> words.transform(["work is not free, free is not work"]).toarray().tolist()
    [[2, 2]]
    """

    _algos: ClassVar[tuple[str, ...]] = (
        "mission", "b-arda", "b-amd", "ofs", "sofs", "l1-arda", "ada-fobos", "fgm",
    )  # fmt: skip

    def __init__(
        self,
        k: int = 100,
        *,
        ngrams: int = 1,
        lowercase: bool = True,
        token_pattern: str | None = r"(?u)\b\w\w+\b",  # noqa: S107 (no password)
        algo: str | None = None,
        loss: str = "auto",
        passes: int | None = None,
        learning_rate: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        intercept: bool | None = None,
        memory: int | str | None = None,
        random_state: Any = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            k,
            algo=algo,
            loss=loss,
            passes=passes,
            learning_rate=learning_rate,
            l1=l1,
            l2=l2,
            intercept=intercept,
            memory=memory,
            random_state=random_state,
            settings=settings,
        )
        self.ngrams = ngrams
        self.lowercase = lowercase
        self.token_pattern = token_pattern

    def fit(self, raw_documents: Iterable[str], y: Any) -> Self:
        """Select from documents with their labels, or numbers."""
        documents, y = _paired(self._words(raw_documents), y)
        self._start(y)
        self._fit_once(self._source(documents, y))
        return self

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, raw_documents: Iterable[str], y: Any, classes: Any = None) -> Self:
        """Learn further documents. `classes`, with the first ones, are all labels that there will be."""
        documents, y = _paired(self._words(raw_documents), y)
        if not hasattr(self, "model_"):
            self._start(y, classes)
        self._fit_more(self._source(documents, y))
        return self

    def transform(self, raw_documents: Iterable[str]) -> csr_matrix[Any]:
        """How often each document has each selected word; what features make of such counts."""
        check_is_fitted(self, "model_")
        with as_value_error():
            parts = [self._counted(rows) for rows in self._source(self._words(raw_documents), None).rows()]
        sizes, columns, values = (np.concatenate(part) for part in zip(_NOTHING, *parts, strict=True))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        counts = csr_matrix((values, columns, starts), shape=(len(sizes), len(self._keys)), dtype=np.int64)
        made = maker_of(self.model_).make(counts, self._words_of_keys, self._made)
        return csr_matrix(made[:, self._column_of])

    def inverse_transform(self, X: Any) -> list[NDArray[np.object_]]:
        """The selected words of each row of counts."""
        names = self.get_feature_names_out()
        counts = csr_matrix(X)
        return [names[counts.indices[a:b]] for a, b in zip(counts.indptr, counts.indptr[1:], strict=False)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The selected words, one a column, in alphabetical order."""
        check_is_fitted(self, "model_")
        return self._names

    def _source(self, documents: list[str], y: Any) -> Documents:
        return Documents(documents, None if y is None else self._codes(y).tolist(), self.ngrams)

    def _words(self, raw_documents: Iterable[str]) -> list[str]:
        if isinstance(raw_documents, str | bytes):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        find = re.compile(self.token_pattern).findall if self.token_pattern is not None else str.split
        return [" ".join(find(_text(document, self.lowercase))) for document in raw_documents]

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        split = [maker_of(self.model_).split(name) for name in self.model_.selection.raw_names]
        known = {key_of_name(word): word for words, _ in split for word in words}
        self._keys = np.array(sorted(known), np.uint64)
        self._words_of_keys = [known[key] for key in self._keys.tolist()]
        place = {key: number for number, key in enumerate(self._keys.tolist())}
        made = [(tuple(sorted(place[key_of_name(word)] for word in words)), part) for words, part in split]
        names = dict(zip(made, self.model_.selection.names, strict=True))
        self._made = in_order(made)
        spelled = np.array([names[feature] for feature in self._made], dtype=object)
        self._column_of = np.argsort(spelled)  # of each word, in alphabetical order
        self._names = spelled[self._column_of]

    def _counted(self, rows: Rows) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Entries a row, their columns, and counts."""
        place = np.searchsorted(self._keys, rows.ids)
        found = np.append(self._keys, np.uint64(0))[place] == rows.ids
        found &= place < len(self._keys)
        before = np.concatenate([[0], np.cumsum(found)])[rows.starts.astype(np.int64)]
        return np.diff(before), place[found], rows.values[found].astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


_NOTHING = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def _paired(documents: list[str], y: Any) -> tuple[list[str], Any]:
    labels = column_or_1d(y)
    if len(labels) != len(documents):
        raise ValueError(f"y has {len(labels)} labels for {len(documents)} documents")
    return documents, labels


def _text(document: Any, lowercase: bool) -> str:
    if not isinstance(document, str):
        raise ValueError(f"documents are str, got {type(document).__name__}")
    text = document.replace("\0", " ")
    return text.lower() if lowercase else text
