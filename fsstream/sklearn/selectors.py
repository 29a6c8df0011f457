"""One selector a family of backends. What they share is in `columns` and `base`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream.sklearn.columns import ColumnSelector, RowSelector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsstream.model import Model


class MissionSelector(RowSelector):
    """Select while learning from a stream, in a memory that does not grow with the number of columns.

    `awm` is the active-set weight-median sketch, `bear` learns by L-BFGS in a sketch; `iht` and
    `batch-iht` threshold weights that are all kept.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> MissionSelector(k=3).fit(X, y).get_feature_names_out().tolist()
    ['mean concave points', 'worst perimeter', 'worst area']
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

    C and the other parameters of `fsstream algos fgm` are `settings`. With `degree=2` among them, squares and
    products of columns are selected as well; with `expand` each selected column becomes many features, of
    which a linear function is a curve of the column. `transform` makes them, `features_` has the columns of
    each.

    `groups` makes k count groups of columns: the group of each column, or a dict of group -> columns, where a
    column may be in several groups, and a column of none is a group of its own. `groups_` are the selected
    ones.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> FGMSelector(k=3).fit(X, y).get_feature_names_out().tolist()
    ['mean area', 'worst perimeter', 'worst area']
    >>> groups = [name.split()[0] for name in X.columns]
    >>> FGMSelector(k=1, groups=groups).fit(X, y).groups_
    ['worst']
    """

    _algos: ClassVar[tuple[str, ...]] = ("fgm",)

    def __init__(
        self,
        k: int = 10,
        *,
        groups: Sequence[Any] | Mapping[Any, Sequence[int]] | None = None,
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
        self.groups = groups

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        return options if self.groups is None else {**options, "groups": self._group_table()}

    def _group_table(self) -> dict[str, list[str]]:
        """The groups of each column that is in some."""
        table: dict[str, list[str]] = {}
        if isinstance(self.groups, Mapping):
            for group, columns in self.groups.items():
                for column in columns:
                    if not 0 <= int(column) < self.n_features_in_:
                        raise ValueError(
                            f"groups: {group!r} has column {column}, and X has {self.n_features_in_} columns"
                        )
                    table.setdefault(str(int(column)), []).append(str(group))
            return table
        labels = list(self.groups or ())
        if len(labels) != self.n_features_in_:
            raise ValueError(f"groups has {len(labels)} labels, and X has {self.n_features_in_} columns")
        return {str(column): [str(group)] for column, group in enumerate(labels)}

    def _keep(self, model: Model) -> None:
        super()._keep(model)
        self.groups_ = sorted(set(self.model_.selection.groups or ()))
