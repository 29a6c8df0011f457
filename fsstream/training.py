"""One learner of one run: made from the options, fed batches, asked for its model."""

from __future__ import annotations

import dataclasses
import math
from array import array
from typing import TYPE_CHECKING, Any

from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Common, Task, check_plan, required_k
from fsstream.algorithms.one_versus_rest import OneVersusRest
from fsstream.config import LEARNING_FIELDS
from fsstream.errors import CorruptError, FsstreamError, UsageError, fitting
from fsstream.groups import groups_by_key
from fsstream.model import Model, name_classes
from fsstream.numerics import np
from fsstream.option_fields import suggest
from fsstream.parameters import parse_parameters
from fsstream.task import TWO_CLASS_LOSSES, turned
from fsstream.units import show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch
    from fsstream.aim import Aim
    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.numerics import Floats

# Options a backend may have no use for, by field; each must not be given then.
_BACKEND_OPTIONS = ("k", "learning_rate", "l1", "l2", "passes", "intercept", "workers", "init", "groups")


def find_backend(name: str) -> type[Learner]:
    """The backend behind --algo."""
    if name not in BACKENDS:
        raise UsageError(f"there is no backend {name!r}", hint=suggest(name, BACKENDS))
    return backend(name)


def check_uses(options: SelectOptions, chosen: type[Learner]) -> None:
    """Refuse options that the backend would ignore."""
    for name in _BACKEND_OPTIONS:
        if getattr(options, name) is not None and name not in chosen.uses:
            flag = "--" + name.replace("_", "-")
            raise UsageError(
                f"{flag} has no use with --algo {chosen.name}", hint=f"see `fsstream algos {chosen.name}`"
            )
    if "k" in chosen.uses and options.l1 is None:
        required_k(options.k)
    if options.patience is not None and "passes" not in chosen.uses:
        raise UsageError(
            f"--patience has no use with --algo {chosen.name}", hint="its scans are steps of one solution"
        )
    if options.with_state and chosen.state_refusal is not None and not chosen.goes_on:
        raise UsageError(
            f"--with-state has no use with --algo {chosen.name}",
            hint=f"it is not merged: {chosen.state_refusal}",
        )
    if options.output and "k" not in chosen.uses:
        raise UsageError(f"--algo {chosen.name} selects nothing, so there is no --output to write")


def common_options(
    options: SelectOptions, chosen: type[Learner], recipe: Mapping[str, Any] | None = None
) -> Common:
    """The part of the options that reaches the backend, with its defaults; `recipe` is of what is read."""
    kmer, canonical = options.kmer, options.canonical
    if recipe is not None:
        kmer, canonical = recipe["kmer"], recipe["canonical"]
    return Common(
        k=options.k,
        learning_rate=options.learning_rate,
        l1=options.l1,
        l2=options.l2 or 0.0,
        passes=options.passes or chosen.default_passes,
        intercept=chosen.intercept_default if options.intercept is None else options.intercept,
        seed=options.seed,
        memory=options.memory_bytes,
        threads=options.thread_count,
        workers=options.workers or 1,
        groups=groups_by_key(options.groups, kmer, canonical) if options.groups else None,
    )


def make_learner(chosen: type[Learner], common: Common, parameters: Any, task: Task, kind: str) -> Learner:
    """A new learner, if it fits the memory; one a class where a two-class loss has several."""
    check_plan(chosen.plan(common, parameters, task), common.memory)
    if kind == "classes" and task.loss in TWO_CLASS_LOSSES:
        return OneVersusRest(common, parameters, task, backend=chosen)
    return chosen(common, parameters, task)


def learner_like(model: Model, labels: tuple[str, ...]) -> Learner:
    """As the one that made the model began, for these labels."""
    chosen = find_backend(str(model.options["algo"]))
    known = {field.name for field in dataclasses.fields(Common)} & set(model.options)
    common = Common(**{name: model.options[name] for name in known})
    parameters = chosen.Parameters(**model.options["set"])
    task = Task(loss=model.loss, labels=labels, max_classes=int(model.options["max_classes"]))
    return make_learner(chosen, common, parameters, task, model.kind)


class StatePredictor:
    """Scores rows with all that a learner knew, where a selection would not say it."""

    def __init__(self, model: Model) -> None:
        if model.state is None:
            raise UsageError(
                f"the model holds nothing to predict with: {model.options['algo']} selects no features",
                hint="train it again: its models hold its table now",
            )
        with fitting("the model"):
            self._learner = learner_like(model, model.state_labels)
            self._learner.restore(model.state)
        self.outputs = model.outputs
        self._sign = np.float32(-1 if turned(model.kind, model.state_labels) else 1)

    def predict(self, batch: Batch) -> NDArray[np.float32]:
        """Rows by outputs."""
        return self._sign * self._learner.scores(batch)


def predicts_with_state(model: Model) -> bool:
    """Whether its backend's selection is not all there is to its predictions."""
    return find_backend(str(model.options.get("algo"))).predicts_with_state


def model_of_learner(learner: Learner, labels: tuple[str, ...], *, with_state: bool, **told: Any) -> Model:
    """What a learner knows now; `labels` are in the order that it knows them by."""
    selection, intercepts, ordered = learner.selection(), learner.intercepts(), labels
    stateful = with_state or learner.predicts_with_state
    _check_finite(selection.raw_weights, intercepts)
    if turned(told["kind"], labels):
        ordered = labels[::-1]
        selection = dataclasses.replace(selection, raw_weights=_negated(selection.raw_weights))
        intercepts = _negated(intercepts)
    return Model(
        selection=name_classes(selection, ordered).ranked(),
        raw_intercepts=intercepts,
        labels=ordered,
        basis=learner.basis(),
        state=learner.state() if stateful else None,
        state_labels=labels if stateful else (),
        **told,
    )


def _negated(numbers: Floats) -> Floats:
    return array("f", [-number for number in numbers])


def _check_finite(weights: Floats, intercepts: Floats) -> None:
    """A model has numbers in it, or there is none."""
    if not (all(map(math.isfinite, weights)) and all(map(math.isfinite, intercepts))):
        raise FsstreamError(
            "the weights left the range of 32-bit numbers",
            hint="scale the features' values: they are tiny, or huge",
        )


def differing(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], keys: Iterable[str] | None = None
) -> list[tuple[str, Any, Any]]:
    """Options that are not the same, as flags; `--memory` may differ, it decides what fits."""

    def plain(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    pairs = [(key, plain(ours.get(key)), plain(theirs.get(key))) for key in keys or ours if key != "memory"]
    return [(f"--{key.replace('_', '-')}", a, b) for key, a, b in pairs if a != b]


def _check_kinds(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """UsageError for a column of a table that the rows of this run show to be of another kind: `a` is another
    feature than `a=2`, and neither would meet what the model knows of the other.
    """
    for ours, theirs in (("numeric", "categorical"), ("categorical", "numeric")):
        changed = sorted(set(now.get(ours) or ()) & set(before.get(theirs) or ()))
        if changed:
            import shlex

            raise UsageError(
                f"--init: the column {changed[0]!r} is {ours} in this stream, "
                f"and was {theirs} in that of the model",
                hint=f"--{theirs} {shlex.quote(changed[0])} reads it as it was",
            )


class Training:
    """A learner with what makes it a model: the options it was made from and the labels it met."""

    def __init__(
        self,
        options: SelectOptions,
        chosen: type[Learner],
        aim: Aim,
        task: Task,
        recipe: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.options = options
        self.aim = aim
        self._recipe = recipe
        self._chosen = chosen
        self._parameters = parse_parameters(chosen.Parameters, options.set, options.algo)
        self._common = common_options(options, chosen, recipe())
        self.learner = self._make_learner(task)
        if aim.initial is not None:
            self._start_from(aim.initial)

    def model(self) -> Model:
        """The model as it is now."""
        aim = self.aim
        return model_of_learner(
            self.learner,
            aim.labels,
            with_state=self.options.with_state,
            kind=aim.kind,
            loss=aim.loss,
            options=self._resolved(),
            reading=self._recipe(),
            rows=aim.rows + aim.rows_before,
        )

    def _make_learner(self, task: Task) -> Learner:
        return make_learner(self._chosen, self._common, self._parameters, task, self.aim.kind)

    def _start_from(self, model: Model) -> None:
        reading = self._recipe()
        model.check_kmers(reading["kmer"], reading["canonical"], what="--init")
        _check_kinds(model.reading, reading)
        if model.state is None:
            products = str(getattr(self._parameters, "interactions", 1)) == "2"
            if model.basis is not None or (model.has_products and not products):
                raise UsageError(
                    f"--init: the features of the model ({model.selection.beginning}) are made of others, "
                    "and this run makes none of these",
                    hint="start from a model of the features that are in the stream",
                )
            self.learner.start_from(model)
            return
        for what, ours, theirs in differing(self._resolved(), model.options):
            raise UsageError(
                f"--init: its state was learned with {what} {theirs!r}, not {ours!r}",
                hint="a state goes on with equal options; a model without one gives its weights to any",
            )
        try:
            with fitting("the model of --init"):
                self.learner.start_again(model.state)
        except CorruptError:
            self._explain_memory(model)
            raise

    def _explain_memory(self, model: Model) -> None:
        """UsageError where the model was learned with another `--memory`, which decides what fits."""
        before, now = int(model.options.get("memory") or 0), self._common.memory
        if before != now:
            raise UsageError(
                f"--init: its state was learned with --memory {show_size(before)}, and is not of the size "
                f"that {show_size(now)} gives",
                hint="say the same --memory in both runs",
            )

    def _resolved(self) -> dict[str, Any]:
        """The options as they were in the end; what only moves bytes or speed is left out."""
        given = {name: getattr(self.options, name) for name in LEARNING_FIELDS}
        common = {name: value for name, value in dataclasses.asdict(self._common).items() if name in given}
        return {**given, **common, "loss": self.aim.loss, "set": dataclasses.asdict(self._parameters)}
