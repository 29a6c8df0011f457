"""What the estimators share: parameters that are options, labels that are codes, and fitting.

In: rows as a RowSource, and y as scikit-learn has it. Out: `model_`, whose labels are those of y. Every
error of ours is a ValueError here, as scikit-learn's own are.
"""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from fsstream import run
from fsstream.algorithms import backend
from fsstream.algorithms.learner import Access
from fsstream.api import Selector
from fsstream.config import SelectOptions
from fsstream.errors import FsstreamError
from fsstream.option_fields import from_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fsstream.model import Model
    from fsstream.rows import RowSource

_OPTIONS = ("k", "passes", "learning_rate", "l1", "l2", "intercept", "memory")


class FittedByRun(BaseEstimator):
    """An estimator around a backend of a family.

    Parameters are the options of `fsstream select`, None where not given; `settings` is those of `--set`
    as a dict. `algo` is the first of the family unless given. y is labels, strings or integers, or it is
    numbers: floats of more than two values, and all with `loss="squared"`. Fitted, `model_` predicts and
    can be saved; `classes_` is None for numbers.
    """

    _algos: ClassVar[tuple[str, ...]]
    _selector: Selector | None

    def __init__(
        self,
        k: int = 10,
        *,
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
        self.k = k
        self.algo = algo
        self.loss = loss
        self.passes = passes
        self.learning_rate = learning_rate
        self.l1 = l1
        self.l2 = l2
        self.intercept = intercept
        self.memory = memory
        self.random_state = random_state
        self.settings = settings

    @property
    def _algo(self) -> str:
        name = self._algos[0] if self.algo is None else self.algo
        if name not in self._algos:
            raise ValueError(f"algo={name!r}: {type(self).__name__} has {', '.join(self._algos)}")
        return name

    def _fit_once(self, source: RowSource) -> None:
        """Learn all rows anew."""
        with as_value_error():
            options = from_mapping(SelectOptions, {**self._options(), "quiet": True})
            options.check()
            self._keep(run.select(options, source).model)

    def _fit_more(self, source: RowSource) -> None:
        """Learn further rows."""
        with as_value_error():
            if self._selector is None:
                options = {name: value for name, value in self._options().items() if name != "passes"}
                codes = None if self.classes_ is None else range(len(self.classes_))
                self._selector = Selector(classes=codes, **options)
            self._selector.learn(source)
            self._keep(self._selector.model)

    def _options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        return {**given, "algo": self._algo, "loss": self._loss(), "seed": int(seed), "set": self._settings()}

    def _settings(self) -> dict[str, Any]:
        return dict(self.settings or {})

    def _loss(self) -> str:
        """What `auto` means to this backend for the y that was given."""
        if self.loss != "auto":
            return str(self.loss)
        if self.classes_ is None:
            return "squared"
        chosen = backend(self._algo)
        several = len(self.classes_) > 2 and "softmax" in chosen.losses
        return "softmax" if several else chosen.auto_binary_loss

    def _keep(self, model: Model) -> None:
        """The model, with the labels of y."""
        if self.classes_ is not None:
            labels = tuple(str(self.classes_[int(code)]) for code in model.labels)
            chosen = model.selection
            if chosen.classes is not None:
                named = dict(zip(model.labels, labels, strict=True))
                chosen = dataclasses.replace(chosen, classes=[named[str(code)] for code in chosen.classes])
            model = dataclasses.replace(model, labels=labels, selection=chosen)
        self.model_ = model

    def _start(self, y: Any, classes: Any = None) -> None:
        """Forget what was learned; classes or numbers, as y is."""
        self._selector = None
        self.classes_: NDArray[Any] | None = None
        if self.loss == "squared":
            return
        if self.loss == "auto" and classes is None and _are_numbers(y):
            return
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else classes)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: there is nothing to tell apart")

    def _codes(self, y: Any) -> Any:
        """Labels as places in `classes_`; numbers as they are."""
        if self.classes_ is None:
            return np.asarray(y, dtype=np.float64)
        places = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[places] != y
        if unknown.any():
            raise ValueError(f"y has the label {y[unknown][0]!r}, which is not among the classes")
        return places


def learns_on(estimator: Any) -> bool:
    """Whether the backend can go on with further rows; else there is no partial_fit."""
    return backend(estimator._algo).access is Access.ROWS


def _are_numbers(y: Any) -> bool:
    """Floats are, unless there are two of them: whole ones too, which scikit-learn would call classes."""
    kind = type_of_target(y, input_name="y")
    return kind == "continuous" or (kind == "multiclass" and np.asarray(y).dtype.kind == "f")


@contextmanager
def as_value_error() -> Iterator[None]:
    """What we refuse, in the way scikit-learn's users expect."""
    try:
        yield
    except FsstreamError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise ValueError(f"{error.message}{hint}") from error
