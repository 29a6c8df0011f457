"""One selector a family of backends. What they share is in `columns` and `base`."""

from __future__ import annotations

from typing import Any, ClassVar

from fsstream.sklearn.columns import ColumnSelector, RowSelector


class MissionSelector(RowSelector):
    """Select while learning from a stream, in a memory that does not grow with the number of columns.

    `awm` is the active-set weight-median sketch, `bear` learns by L-BFGS in a sketch; `iht` and
    `batch-iht` threshold weights that are all kept.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> MissionSelector(k=3).fit(X, y).get_feature_names_out().tolist()
    ['mean concave points', 'mean fractal dimension', 'symmetry error']
    """

    _algos: ClassVar[tuple[str, ...]] = ("mission", "awm", "bear", "iht", "batch-iht")


class BudgetedSelector(RowSelector):
    """Select on a budget of k weights that a step may not exceed.

    `l1-arda` and `ada-fobos` search for their l1 weight, which takes all rows at once: no partial_fit.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BudgetedSelector(k=2).fit(X[:100], y[:100]).get_support(indices=True).tolist()
    [0, 2]
    """

    _algos: ClassVar[tuple[str, ...]] = ("b-arda", "b-amd", "ofs", "sofs", "l1-arda", "ada-fobos")


class SubstitutionSelector(ColumnSelector):
    """Select from columns that are met one after the other.

    Labels are known when the columns come, all at once: rows have no weights and there is no partial_fit.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> SubstitutionSelector(k=4).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's1', 's5']
    """

    _algos: ClassVar[tuple[str, ...]] = ("os", "asy-os", "proj-gd", "grafting")


class FGMSelector(RowSelector):
    """Select by generating the most violated constraints: the best few hundred columns, jointly.

    C and the other parameters of `fsstream algos fgm` are `settings`.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> FGMSelector(k=3).fit(X, y).get_feature_names_out().tolist()
    ['mean area', 'worst perimeter', 'worst area']
    """

    _algos: ClassVar[tuple[str, ...]] = ("fgm",)

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if str(settings.get("degree", 1)) != "1":
            raise ValueError(
                "degree=2 selects products of columns, which are no columns: use fsstream.select(algo='fgm')"
            )
        return settings
