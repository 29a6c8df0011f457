"""What a run ends with and its user may not expect: said in a note, since it is no error.

In: the options, the learner, its model, and what was counted in its rows. Out: sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsstream.config import split_class_weight
from fsstream.task import spelled
from fsstream.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsstream.algorithms.learner import Learner
    from fsstream.config import SelectOptions
    from fsstream.model import Model


def remarks(options: SelectOptions, learner: Learner, model: Model, collisions: int) -> Iterator[str]:
    """Fewer features than asked for; weights of classes that are not there; names that met on one key, within
    a row or on a selected feature; and what only the backend knows of.
    """
    if collisions:
        yield (
            f"{collisions} values were added to that of another name in their row, "
            "with which they share 64 bits"
        )
    facts = learner.facts()
    if met := _collisions(facts):
        pair = next((f" ({known!r} and {other!r})" for known, other in facts.get("collided", ())), "")
        yield f"{met} times a feature was met under another name, with which it shares 64 bits{pair}"
    lists = len(model.labels) if model.kind == "classes" else 1
    found = len(model.selection)
    if options.k is not None and found < options.k * lists:
        each = f"{options.k} for each of {lists} classes" if lists > 1 else str(options.k)
        yield f"{found} feature{'s' * (found != 1)} where --k asks for {each}: no other one has a weight"
    for label in map(_label, options.class_weight):
        if label not in model.labels:
            yield f"--class-weight: no row has the label {label!r}"
    yield from learner.remarks()


def _collisions(facts: Mapping[str, Any]) -> int:
    """Of the names of features; one-versus-rest learners see the same rows, each for a class."""
    own = sum(int(facts.get(name, 0)) for name in ("collisions", "key_collisions", "name_collisions"))
    return max([own, *(_collisions(part) for part in facts.values() if hasattr(part, "values"))])


def _label(item: str) -> str:
    return to_text(spelled(split_class_weight(item)[0]))
