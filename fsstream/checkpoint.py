"""Checkpoints: a run between two records, on disk, so that it can go on after any end.

In: the state of the learner, where it stands in its input, and the options. Out, later: the same. A
checkpoint is an archive that replaces the one before in one step; what was read ahead and not learned
is no part of it, nor are spools and caches, which are made again from the input.
"""

from __future__ import annotations

import dataclasses
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream._native import RunningDigest
from fsstream.archive import check_kind, load_members_later, write
from fsstream.config import LOSSES, SelectOptions
from fsstream.errors import CorruptError, DataError, FsstreamError, UsageError
from fsstream.feeds import FeedState
from fsstream.option_fields import from_mapping, names_of_kind
from fsstream.publish import Publisher
from fsstream.saving import Snapshot
from fsstream.sources import Input
from fsstream.state import Under
from fsstream.stream_feed import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsstream.resume_options import ResumeOptions
    from fsstream.state import State, StateSink

FORMAT = "fsstream checkpoint"
VERSION = 5
DEFAULT_SECONDS = 60.0
_PIECE_BYTES = 1 << 20
_BESIDE = ("labels", "targets", "groups", "valid")  # files beside the input that decide what is learned
_FIRST_READ = "init"  # what a run reads at its beginning only: a snapshot holds what came of it
_DATA_HINT = "resume with the data that the run began with, or start anew with select"


@dataclass(frozen=True)
class Saved(Snapshot):
    """One that was read again, with the arrays of the learner, the meter and the validation, by prefix."""

    members: State

    def part(self, prefix: str) -> State:
        """The arrays of one of them."""
        return Under(self.members, f"{prefix}/")


@dataclass(frozen=True)
class Origin:
    """What a run was given: options, and the files as they were then."""

    options: SelectOptions
    folder: str
    inputs: list[dict[str, Any]]  # path, size and time of change; None for streams
    beside: dict[str, str]  # digests of other files, by option
    resumes: int  # how often the run went on

    @classmethod
    def of(cls, options: SelectOptions, before: Checkpoint | None) -> Origin:
        """Of a run that begins, or goes on, now."""
        options = dataclasses.replace(options, memory=options.memory_bytes)
        beside = _digests(options, begun=before is not None and before.snapshot is not None)
        resumes = before.origin.resumes + 1 if before is not None else 0
        return cls(options, str(Path.cwd()), _identities(options.inputs), beside, resumes)


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds. Without a snapshot nothing had been learned yet."""

    origin: Origin
    snapshot: Saved | None = field(default=None, repr=False)

    def resumed(self, given: ResumeOptions) -> SelectOptions:
        """The options of the run that goes on; DataError when its files are not what they were."""
        options = self.origin.options
        if str(Path.cwd()) != self.origin.folder:
            options = _moved(options, self.origin.folder)
        _check_inputs(options.inputs, self.origin.inputs, given.inputs)
        options = dataclasses.replace(options, **given.told_anew)
        if given.inputs:
            options = dataclasses.replace(options, inputs=given.inputs)
        if given.checkpoint is None:
            options = dataclasses.replace(options, checkpoint=given.checkpoint_file)
        options.check()
        for name, digest in _digests(options, begun=self.snapshot is not None).items():
            if self.origin.beside.get(name, digest) != digest:  # an old checkpoint may not know of all
                raise DataError(
                    f"--{name} is not the file that the run began with",
                    path=str(getattr(options, name)),
                    hint=_DATA_HINT,
                )
        return options


class CheckpointWriter:
    """Knows when a checkpoint is due, and replaces the file."""

    def __init__(self, origin: Origin) -> None:
        assert origin.options.checkpoint is not None
        self._origin = origin
        self.path = origin.options.checkpoint
        self._every = origin.options.checkpoint_every or DEFAULT_SECONDS
        self._bytes = 0
        self._last_time, self._last_bytes = time.monotonic(), 0

    def is_due(self, size: int) -> bool:
        """Whether it is time, with so many bytes learned since the run began or went on."""
        self._bytes = size
        if isinstance(self._every, int):
            return self._bytes - self._last_bytes >= self._every
        return time.monotonic() - self._last_time >= self._every

    def write(self, snapshot: Snapshot | None, save: Callable[[StateSink], None] = lambda out: None) -> None:
        """Replace the file: it is the old one or the new one, whatever happens. `save` puts the arrays."""
        meta = _meta(self._origin)
        if snapshot is not None:
            meta["snapshot"] = dataclasses.asdict(snapshot)
        try:
            with Publisher() as publisher:
                publisher.add_written(self.path, lambda file: write(file, meta, save))
                publisher.commit()
        finally:
            self._last_time, self._last_bytes = time.monotonic(), self._bytes


def load_checkpoint(path: str) -> Checkpoint:
    """Read a checkpoint; CorruptError when it is not one, or not whole."""
    return checkpoint_of(*load_members_later(Path(path)), path)


def checkpoint_of(meta: Mapping[str, Any], members: State, path: str) -> Checkpoint:
    """The checkpoint in an archive; `path` is for messages."""
    check_kind(meta, FORMAT, VERSION, path)
    try:
        return Checkpoint(_origin_from(meta), _snapshot_from(meta.get("snapshot"), members))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, UsageError) as error:
        raise CorruptError(f"{path}: not a valid checkpoint: {error!r}") from None


def _meta(origin: Origin) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"fsstream {__version__}",
        "options": dataclasses.asdict(origin.options),
        "folder": origin.folder,
        "inputs": origin.inputs,
        "beside": origin.beside,
        "resumes": origin.resumes,
    }


def _origin_from(meta: Mapping[str, Any]) -> Origin:
    options = from_mapping(SelectOptions, meta["options"])
    options.check()
    if not all(isinstance(path, str) for path in options.inputs):
        raise ValueError("an input is no path")
    inputs: list[dict[str, Any]] = []
    for entry in meta["inputs"]:
        numbers = {name: None if entry[name] is None else int(entry[name]) for name in ("size", "modified")}
        inputs.append({"path": str(entry["path"]), **numbers})
    beside = {str(name): str(digest) for name, digest in meta["beside"].items()}
    return Origin(options, str(meta["folder"]), inputs, beside, int(meta["resumes"]))


def _snapshot_from(plain: Mapping[str, Any] | None, members: State) -> Saved | None:
    if plain is None:
        return None
    feed = plain["feed"]
    labels = tuple(str(label) for label in feed["labels"])
    if feed["loss"] not in LOSSES:
        raise ValueError("there is no such loss")
    return Saved(
        passes=int(plain["passes"]),
        feed=FeedState(
            Place.from_plain(feed["place"]),
            str(feed["loss"]),
            str(feed["kind"]),
            labels,
            int(feed["rows"]),
            int(feed.get("rows_before", 0)),
        ),
        first_labels=int(plain["first_labels"]),
        counts=dict(plain["counts"]),
        notes=[str(note) for note in plain["notes"]],
        validation=plain["validation"],
        course=dict(plain["course"]),
        begun=_no_less_than_0(int(plain["begun"])),
        members=members,
    )


def _no_less_than_0(rows: int) -> int:
    if rows < 0:
        raise ValueError("a negative number of rows")
    return rows


def _identities(inputs: tuple[str, ...]) -> list[dict[str, Any]]:
    return [source.identity() for source in Input(inputs).sources]


def _check_inputs(paths: tuple[str, ...], before: list[dict[str, Any]], given: tuple[str, ...]) -> None:
    """The files are what they were, as far as can be said without reading them.

    A file that is named anew may be a copy, with another time of change: what the run has learned from it is
    compared anyway.
    """
    now = _identities(given or paths)
    if len(now) != len(before):
        raise DataError(f"the run began with {len(before)} inputs, not {len(now)}", hint=_DATA_HINT)
    for old, new in zip(before, now, strict=True):
        same_path = Path(old["path"]).name == Path(new["path"]).name
        if same_path and None not in (old["size"], new["size"]) and old["size"] != new["size"]:
            raise DataError(
                f"the file has {new['size']} bytes, and had {old['size']} when the run began",
                path=new["path"],
                hint=_DATA_HINT,
            )
        if not given and old["modified"] != new["modified"]:
            raise DataError(
                "the file has been written since the run began",
                path=new["path"],
                hint="if its content is the same, name it: fsstream resume CHECKPOINT INPUT",
            )


def _digests(options: SelectOptions, *, begun: bool) -> dict[str, str]:
    """Of the files beside the input; a table that a Python caller gave is in the options itself."""
    paths = {name: getattr(options, name) for name in _BESIDE}
    if not begun and options.init is not None and Path(options.init).is_file():
        paths[_FIRST_READ] = options.init
    return {
        name: _digest_of(path)
        for name, path in paths.items()
        if path is not None and not isinstance(path, tuple)
    }


def _digest_of(path: str) -> str:
    digest = RunningDigest()
    try:
        if not Path(path).is_file():
            raise UsageError(f"{path} is not a file, so a run with --checkpoint could not read it again")
        with Path(path).open("rb", buffering=0) as file:
            while piece := file.read(_PIECE_BYTES):
                digest.add(piece)
    except OSError as error:
        raise FsstreamError(f"cannot read {path}: {error.strerror}") from None
    return digest.text


def _moved(options: SelectOptions, folder: str) -> SelectOptions:
    """The options with paths that hold outside the folder they were given in."""

    def there(path: str) -> str:
        return path if path == "-" else os.path.join(folder, path)  # noqa: PTH118

    paths: dict[str, Any] = {
        name: there(value)
        for name in names_of_kind(SelectOptions, "path", "table")
        if (value := getattr(options, name)) is not None and not isinstance(value, tuple)
    }
    return dataclasses.replace(options, inputs=tuple(map(there, options.inputs)), **paths)
