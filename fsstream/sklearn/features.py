"""Random features of a kernel: matrices in, the features that were kept out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsstream.basis import Basis
from fsstream.sklearn.base import FittedByRun
from fsstream.sklearn.columns import FLOATS, labelled_rows, taken

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import NDArray

    from fsstream.model import Model

_ROWS = 1 << 10  # made dense at a time


class SparseRandomFeatures(TransformerMixin, FittedByRun):
    """The k random features of a kernel that say most about y; a linear model on them is non-linear in X.

    `sparse-rf` keeps few of many by an l1 weight, `rf` draws k, `boosting` learns perceptrons. `kernel` is
    gaussian (unless given), laplacian or perceptron; `width` is the median distance of rows unless given.
    Columns are brought to one scale (`settings={"scale": "none"}` leaves them).

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> y = (X ** 2).sum(axis=1) < 1.4
    >>> LogisticRegression().fit(X, y).score(X, y) < 0.6
    True
    >>> made = make_pipeline(SparseRandomFeatures(k=30), LogisticRegression()).fit(X[:300], y[:300])
    >>> made.score(X[300:], y[300:]) > 0.9
    True
    """

    _algos: ClassVar[tuple[str, ...]] = ("sparse-rf", "rf", "boosting")

    def __init__(
        self,
        k: int = 100,
        *,
        kernel: str | None = None,
        width: float | None = None,
        algo: str | None = None,
        loss: str = "auto",
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
            l1=l1,
            l2=l2,
            intercept=intercept,
            memory=memory,
            random_state=random_state,
            settings=settings,
        )
        self.kernel = kernel
        self.width = width

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw features, and keep those that say most about y."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        self._start(y)
        self._fit_once(labelled_rows(self, X, y, sample_weight))
        return self

    def transform(self, X: Any) -> Any:
        """The value of each feature for each row."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        parts = [self._map.of(self._inputs(X[row : row + _ROWS])) for row in range(0, X.shape[0], _ROWS)]
        return np.concatenate(parts).astype(X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """`kernel#number`; the model knows the feature by it."""
        check_is_fitted(self, "model_")
        return self._names

    @property
    def _n_features_out(self) -> int:
        return len(self._names)

    def _settings(self) -> dict[str, Any]:
        own = {"kernel": self.kernel, "width": self.width}
        return {**{name: value for name, value in own.items() if value is not None}, **super()._settings()}

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        basis, chosen = self.model_.basis, self.model_.selection
        assert isinstance(basis, Basis)
        self._columns = np.array([int(name) for name in basis.inputs.names], dtype=np.int64)
        self._logarithms = basis.inputs.logarithms
        classes = self.model_.class_numbers()
        places = list(range(len(chosen)))
        if basis.learned is None:  # a drawn feature is one, whatever the class that it was kept for
            places = sorted(dict(zip(reversed(chosen.names), reversed(places), strict=True)).values())
        names = [chosen.raw_names[place] for place in places]
        numbers = np.zeros(len(places), np.uint32) if classes is None else np.asarray(classes)[places]
        self._drawn = names, numbers
        self._names = np.array([name.decode() for name in names], dtype=object)
        if len(set(names)) < len(names):
            labelled = zip(self._names, numbers.tolist(), strict=True)
            self._names = np.array([f"{self.model_.labels[c]}:{name}" for name, c in labelled], dtype=object)

    @property
    def _map(self) -> Any:
        assert isinstance(self.model_.basis, Basis)
        return self.model_.basis.selected_map(*self._drawn)

    def _inputs(self, rows: Any) -> NDArray[np.float32]:
        order = np.argsort(self._columns)
        if issparse(rows):
            part = np.asarray(taken(rows, self._columns[order]).todense())
        else:
            part = rows[:, self._columns[order]]
        values = np.empty(part.shape, np.float32)
        values[:, order] = part
        return np.sign(values) * np.log1p(np.abs(values)) if self._logarithms else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
