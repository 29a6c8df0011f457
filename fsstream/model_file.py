"""The file of a model: an archive of its selection, of what prediction needs, and of how its input is read.

In: a Model, or the bytes of a file. Out: the other of the two. A file that is not whole, or says what no
model says, is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream.archive import check_kind, load, pack, pack_texts, unpack, unpack_texts
from fsstream.basis import Basis
from fsstream.errors import CorruptError
from fsstream.expansion import Expansion
from fsstream.model import Model, name_classes
from fsstream.numerics import np
from fsstream.selection import Selection
from fsstream.state import under
from fsstream.text import to_bytes, to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "fsstream model"
VERSION = 1
_BASIS, _STATE = "basis_", "state/"


def bytes_of(model: Model) -> bytes:
    """The file: a function of the model alone."""
    chosen = model.selection
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"fsstream {__version__}",
        "kind": model.kind,
        "loss": model.loss,
        "labels": model.labels,
        "options": model.options,
        "reading": model.reading,
        "rows": model.rows,
        "extra": sorted(chosen.extra),
    }
    members = {f"names_{key}": value for key, value in pack_texts(list(chosen.raw_names)).items()}
    members |= {"weights": chosen.raw_weights, "intercepts": model.raw_intercepts}
    members |= {f"extra_{key}": column for key, column in chosen.extra.items()}
    classes = model.class_numbers()
    if classes is not None:
        members["classes"] = classes
    if chosen.groups is not None:
        texts = pack_texts([to_bytes(group) for group in chosen.groups])
        members |= {f"groups_{key}": value for key, value in texts.items()}
    if model.basis is not None:
        meta["basis"], arrays = model.basis.parts()
        members |= {f"{_BASIS}{key}": value for key, value in arrays.items()}
    if model.state is not None:
        meta["state_labels"] = model.state_labels
        members |= {f"{_STATE}{key}": value for key, value in model.state.items()}
    return pack(meta, members)


def load_model(path: str | Path) -> Model:
    """Read a model file, or `-`, standard input; CorruptError when it is not one, or not whole."""
    return model_of(*load(Path(path)), path)


def parse_model(data: bytes, path: str) -> Model:
    """The model in the bytes of a file; `path` is for messages."""
    return model_of(*unpack(data, path), path)


def model_of(meta: dict[str, Any], members: dict[str, NDArray[Any]], path: str | Path) -> Model:
    """The model in an archive; `path` is for messages."""
    check_kind(meta, FORMAT, VERSION, path)
    try:
        found = _from_parts(meta, members)
        found.check_names()
        return found
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path}: not a valid model: {error!r}") from None


def _from_parts(meta: dict[str, Any], members: dict[str, NDArray[Any]]) -> Model:
    names = unpack_texts(members["names_bytes"], members["names_ends"])
    groups = None
    if "groups_bytes" in members:
        groups = [to_text(group) for group in unpack_texts(members["groups_bytes"], members["groups_ends"])]
    classes = [int(index) for index in members["classes"]] if "classes" in members else None
    selection = Selection(
        names,
        _in_32_bits(members["weights"]),
        classes,
        groups,
        {key: members[f"extra_{key}"] for key in meta["extra"]},
    )
    labels = tuple(str(label) for label in meta["labels"])
    intercepts = _in_32_bits(members["intercepts"])
    if classes is not None and any(index >= len(labels) or index >= len(intercepts) for index in classes):
        raise ValueError("a class without a label")
    if meta["kind"] not in ("numbers", "binary", "classes") or intercepts.ndim != 1 or not len(intercepts):
        raise ValueError("what it predicts is not said")
    if not (np.isfinite(selection.weights).all() and np.isfinite(intercepts).all()):
        raise ValueError("a weight is no finite number")
    if not isinstance(meta["options"].get("set", {}), dict):
        raise TypeError("--set is no table")
    return Model(
        name_classes(selection, labels),
        intercepts,
        meta["kind"],
        str(meta["loss"]),
        labels,
        dict(meta["options"]),
        dict(meta["reading"]),
        _basis_of(meta, members, selection),
        int(meta.get("rows", 0)),
        under(_STATE, members) if "state_labels" in meta else None,
        tuple(str(label) for label in meta.get("state_labels", ())),
    )


def _in_32_bits(numbers: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what is too large is not finite then
        return numbers.astype(np.float32)


def _basis_of(
    meta: dict[str, Any], members: dict[str, NDArray[Any]], selection: Selection
) -> Basis | Expansion | None:
    if "basis" not in meta:
        return None
    arrays = {name.removeprefix(_BASIS): array for name, array in members.items() if name.startswith(_BASIS)}
    basis = (Expansion if "expands" in meta["basis"] else Basis).from_parts(meta["basis"], arrays)
    numbers = selection.classes or [0] * len(selection)
    basis.check(selection, np.array(numbers, dtype=np.uint32))
    return basis
