"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fsstream.errors import FsstreamError, UsageError
from fsstream.publish import Publisher, check_writable

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_appears_before_the_commit(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")
    with Publisher() as publisher:
        publisher.add(str(old), b"new")
        publisher.add(str(tmp_path / "fresh"), [b"in ", b"pieces"])
        assert old.read_bytes() == b"old"
        assert not (tmp_path / "fresh").exists()
        publisher.commit()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "old": b"new",
        "fresh": b"in pieces",
    }


def test_a_failure_leaves_the_old_and_no_stray_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with pytest.raises(RuntimeError), Publisher() as publisher:
        publisher.add(str(tmp_path / "old"), b"new")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_modes_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    with Publisher() as publisher:
        publisher.add(str(tmp_path / "link"), b"new")
        publisher.commit()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_devices_are_written_at_once(tmp_path: Path) -> None:
    with Publisher() as publisher:
        publisher.add(os.devnull, b"gone")
        publisher.commit()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_can_never_be_written_is_said_early(tmp_path: Path) -> None:
    check_writable(None)
    check_writable(str(tmp_path / "fine"))
    with pytest.raises(FsstreamError, match="no folder"):
        check_writable(str(tmp_path / "no" / "file"))
    with pytest.raises(UsageError, match="not packed"):
        check_writable(str(tmp_path / "lines.jsonl.gz"))
    with pytest.raises(FsstreamError, match="is a folder"):
        check_writable(str(tmp_path))


def test_standard_output_is_written_on_and_never_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = (
        "from fsstream.publish import Publisher, check_writable\n"
        "check_writable('/dev/stdout')\n"
        "with Publisher() as publisher:\n"
        "    publisher.add('/dev/stdout', b'selection')\n"
        "    publisher.commit()\n"
    )
    with log.open("wb") as file:
        file.write(b"before ")
        file.flush()
        subprocess.run([sys.executable, "-c", script], stdout=file, check=True)
        file.seek(0, os.SEEK_END)
        file.write(b" after")
    assert log.read_bytes() == b"before selection after"


def test_names_as_long_as_files_may_have(tmp_path: Path) -> None:
    """What is written beside them has room for more letters; one more is told before a run, not after it."""
    longest = tmp_path / ("\u00e9" * 127 + "x")
    check_writable(str(longest))
    with Publisher() as publisher:
        publisher.add(str(longest), b"new")
        publisher.commit()
    assert [path.name for path in tmp_path.iterdir()] == [longest.name]
    for longer in (f"{longest}x", f"{longest}x/file"):
        with pytest.raises(FsstreamError, match="File name too long"):
            check_writable(longer)


def test_the_folder_that_a_link_leads_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere/file")
    with pytest.raises(FsstreamError, match=f"there is no folder {tmp_path}/nowhere"):
        check_writable(str(tmp_path / "link"))
