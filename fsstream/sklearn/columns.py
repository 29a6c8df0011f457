"""Selectors of columns: matrices in, the selected columns of them out.

Columns are found by their numbers alone, so a sparse matrix may have as many as int64 can count. Where
features are made of columns (products of two, parts of what a kernel makes of one), those come out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from fsstream.arrays import matrix_source
from fsstream.sklearn.base import FittedByRun, as_value_error, learns_on
from fsstream.sklearn.made import in_order, maker_of
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from fsstream.model import Model
    from fsstream.rows import RowSource

FLOATS = (np.float64, np.float32)


class ColumnSelector(SelectorMixin, FittedByRun):
    """Fits, and keeps the columns whose features were selected."""

    def fit(self, X: Any, y: Any) -> Self:
        """Select from all of X, labelled or valued by y."""
        return self._fit(X, y, None)

    def transform(self, X: Any) -> Any:
        """The selected columns of X, in the order they have there, or the features made of them."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", dtype=None, reset=False)
        columns = taken(X, self.selected_) if issparse(X) else X[:, self.selected_]
        place = {column: number for number, column in enumerate(self.selected_.tolist())}
        features = [(tuple(place[column] for column in made_of), part) for made_of, part in self._made]
        made = maker_of(self.model_).make(columns, [b"%d" % column for column in place], features)
        return csr_array(made) if isinstance(X, csr_array) else made

    def inverse_transform(self, X: Any) -> Any:
        """The columns of X where they were, zeros in the others."""
        check_is_fitted(self, "model_")
        if (refusal := maker_of(self.model_).refusal) is not None:
            raise ValueError(refusal)
        reduced: Any = check_array(X, accept_sparse="csr", dtype=None)
        if reduced.shape[1] != len(self.selected_):
            raise ValueError(f"X has {reduced.shape[1]} columns, and {len(self.selected_)} are selected")
        shape = (reduced.shape[0], self.n_features_in_)
        if hasattr(reduced, "tocsr"):
            return _like(reduced, reduced.data, self.selected_[reduced.indices], reduced.indptr, shape)
        whole = np.zeros(shape, dtype=reduced.dtype)
        whole[:, self.selected_] = reduced
        return whole

    def get_support(self, indices: bool = False) -> Any:
        """Which columns are selected, or features made of them: a mask, or their numbers."""
        check_is_fitted(self, "model_")
        return self.selected_ if indices else self._get_support_mask()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the selected columns; `a*b` of products, `a#1` of parts, as everywhere in fsstream."""
        check_is_fitted(self, "model_")
        known = self._names_in(input_features)
        names = [f"x{column}" if known is None else str(known[column]) for column in self.selected_.tolist()]
        spelled = dict(zip(self.selected_.tolist(), map(to_bytes, names), strict=True))
        join = maker_of(self.model_).join
        named = [join([spelled[column] for column in columns], part) for columns, part in self._made]
        return np.array([to_text(name) for name in named], dtype=object)

    def _names_in(self, input_features: Any) -> NDArray[np.object_] | None:
        """The names of all columns, where they have some."""
        known: NDArray[np.object_] | None = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, given):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), "
                    f"got {len(given)}"
                )
            known = given
        return known

    def _fit(self, X: Any, y: Any, weights: Any) -> Self:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        self._start(y)
        self._fit_once(labelled_rows(self, X, y, weights))
        return self

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        split = map(maker_of(self.model_).split, self.model_.selection.raw_names)
        made = [(tuple(sorted(map(int, names))), part) for names, part in split]
        self._made = in_order(made)
        self.features_ = [columns for columns, _ in self._made]
        self.selected_ = np.unique(np.array([c for columns in self.features_ for c in columns], np.int64))
        place = {feature: number for number, feature in enumerate(self._made)}
        self.weights_ = np.zeros((self.model_.outputs, len(self._made)), dtype=np.float32)
        numbers = self.model_.class_numbers()
        places = [place[feature] for feature in made]
        self.weights_[0 if numbers is None else numbers, places] = self.model_.selection.weights

    def _get_support_mask(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RowSelector(ColumnSelector):
    """Reads rows, which may have weights, and may come batch by batch."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select from all rows of X, labelled or valued by y; sample_weight says how much each counts."""
        return self._fit(X, y, sample_weight)

    @available_if(learns_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows. `classes`, with the first ones, are all labels that there will be."""
        begins = not hasattr(self, "model_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, reset=begins)
        if begins:
            self._start(y, classes)
        self._fit_more(labelled_rows(self, X, y, sample_weight))
        return self


def labelled_rows(estimator: FittedByRun, X: Any, y: Any, weights: Any) -> RowSource:
    """The rows of X as a source, with the codes of y."""
    if weights is not None:
        X, y, weights = _weighed(X, y, weights)
    with as_value_error():
        return matrix_source(X, estimator._codes(y), weights)


def _weighed(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The rows that count."""
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    counts = weights > 0
    if not counts.any():
        raise ValueError("all sample weights are zero")
    return (X, y, weights) if counts.all() else (X[counts], y[counts], weights[counts])


def taken(X: Any, columns: NDArray[np.int64]) -> Any:
    """These columns of a sparse matrix, without an array as long as all of them."""
    place = np.searchsorted(columns, X.indices)
    kept = columns[place.clip(max=len(columns) - 1)] == X.indices if len(columns) else np.zeros(X.nnz, bool)
    before = np.concatenate([[0], np.cumsum(kept)])
    return _like(X, X.data[kept], place[kept], before[X.indptr], (X.shape[0], len(columns)))


def _like(X: Any, values: Any, columns: Any, starts: Any, shape: tuple[int, int]) -> Any:
    """A sparse matrix, or array, as X is one."""
    make = csr_array if isinstance(X, csr_array) else csr_matrix
    return make((values, columns, starts), shape=shape)
