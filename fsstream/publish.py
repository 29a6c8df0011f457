"""Files that appear whole or not at all: written beside, synced, renamed together at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from fsstream.errors import FsstreamError, UsageError
from fsstream.leftovers import create, remove_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import BinaryIO

    Write = Callable[[BinaryIO], object]


_PACKED = (".gz", ".bz2", ".xz", ".zst")
_MOST_OF_A_NAME = 200  # bytes; file systems take 255


class Publisher:
    """Collects the files of a run; `commit` makes all of them appear, an exception none."""

    def __init__(self) -> None:
        self._pending: list[
            tuple[BinaryIO, Path, Path]
        ] = []  # (locked until it is renamed, temporary, final)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file, temporary, _ in self._pending:
            temporary.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # what could not be written cannot be flushed either
                file.close()

    def add(self, path: str, data: bytes | Iterable[bytes]) -> None:
        """Write `data`, whole or in pieces, where `path` will be; pipes and devices get it at once."""
        self.add_written(path, lambda file: file.writelines([data] if isinstance(data, bytes) else data))

    def add_written(self, path: str, write: Write) -> None:
        """As `add`, of what `write` puts into the file it is given."""
        target = Path(os.path.realpath(path))
        descriptor = _descriptor(path)
        try:
            if descriptor is not None:
                with os.fdopen(os.dup(descriptor), "wb") as file:
                    write(file)
                return
            if target.exists() and not stat.S_ISREG(target.stat().st_mode):
                with target.open("wb") as file:
                    write(file)
                return
            self._write_beside(target, write)
        except OSError as error:
            raise FsstreamError(f"cannot write {path}: {error.strerror}") from None

    def commit(self) -> None:
        """Rename everything into place, in the order it was added."""
        for folder in {final.parent for _, _, final in self._pending}:
            _sync_folder(folder)
        while self._pending:
            file, temporary, final = self._pending[0]
            try:
                temporary.replace(final)
                _sync_folder(final.parent)
            except OSError as error:
                raise FsstreamError(f"cannot write {final}: {error.strerror}") from None
            self._pending.pop(0)
            file.close()

    def _write_beside(self, target: Path, write: Write) -> None:
        prefix, suffix = _beside(target), ".tmp"
        remove_leftovers(target.parent, prefix, suffix)
        descriptor, temporary = create(target.parent, prefix, suffix)
        try:
            file = os.fdopen(descriptor, "wb")
        except BaseException:  # out of memory, say
            temporary.unlink(missing_ok=True)
            os.close(descriptor)
            raise
        self._pending.append((file, temporary, target))
        write(file)
        file.flush()
        os.fchmod(descriptor, _mode_for(target))
        os.fsync(descriptor)


def _beside(target: Path) -> str:
    """What the names of a target's temporary files begin with: short, so that the rest has room."""
    return f".{os.fsdecode(os.fsencode(target.name)[:_MOST_OF_A_NAME])}."


def check_writable(path: str | None) -> None:
    """Fail before a long run, not after it, when a file could never be written."""
    if path in (None, "-") or _descriptor(path) is not None:
        return
    if path.endswith(_PACKED):
        raise UsageError(
            f"cannot write {path}: what is written is not packed",
            hint=f"write to a pipe: ... | gzip > {path}",
        )
    target = Path(os.path.realpath(path))
    try:
        target.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise FsstreamError(f"cannot write {path}: {error.strerror}") from None
    if target.is_dir():
        raise FsstreamError(f"cannot write {path}: it is a folder")
    if not target.parent.is_dir():
        folder = target.parent if Path(path).is_symlink() else Path(path).parent
        raise FsstreamError(f"cannot write {path}: there is no folder {folder}")
    if not os.access(target.parent if not target.exists() or target.is_file() else target, os.W_OK):
        raise FsstreamError(f"cannot write {path}: permission denied")


def _descriptor(path: str) -> int | None:
    """The open file behind /dev/stdout and the like: to be written on, never to be replaced."""
    match = re.fullmatch(r"(?:/dev|/proc/self)/(?:fd/(\d+)|(stdout)|(stderr))", path)
    if match is None:
        return None
    return int(match[1]) if match[1] else 1 if match[2] else 2


def _mode_for(target: Path) -> int:
    """An existing file keeps its mode; a new one gets what the umask leaves."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some filesystems cannot sync a folder
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
