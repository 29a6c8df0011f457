"""Files that only the run that makes them may touch, and what killed runs leave of them.

Such a file is locked as long as its run lives. So the next run can tell what nobody needs any more,
and removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from pathlib import Path


def create(directory: Path, prefix: str, suffix: str = "") -> tuple[int, Path]:
    """A new file nobody else can read, locked by us: its descriptor and its path."""
    while True:
        path = directory / f"{prefix}{os.getpid()}-{os.urandom(8).hex()}{suffix}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Between the two calls another run may have taken it for a left-over.
            if _lock(descriptor) and os.fstat(descriptor).st_nlink:
                return descriptor, path
        except BaseException:
            os.close(descriptor)
            path.unlink(missing_ok=True)
            raise
        os.close(descriptor)


def remove_leftovers(directory: Path, prefix: str, suffix: str = "") -> list[Path]:
    """Remove the files of runs that were killed: ours, and locked by nobody. Returns what was removed."""
    removed = []
    with os.scandir(directory) as entries:
        paths = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(prefix) and entry.name.endswith(suffix)
        ]
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and _lock(descriptor):
                    path.unlink()
                    removed.append(path)
            finally:
                os.close(descriptor)
    return removed


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True
