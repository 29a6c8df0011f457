"""What a run stands on gives way: disks, folders, inputs, pipes, memory. Old output stays, nothing strays."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsstream.cli.main import run
from tests.cli.command import PROGRAM, ROOT, fsstream

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 97, i * i % 9973, i % 2) for i in range(20_000))
OLD = b"yesterday\n"
FILES = ("words", "model", "summary")
WRITING = [word for name in FILES for word in (f"--{name}".replace("words", "output"), name)]
SELECT = ["select", "--k", "40", "--format", "pairs", "--quiet", *WRITING]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        (tmp_path / name).write_bytes(OLD)
    (tmp_path / "rows").write_bytes(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(
    *arguments: str, before: Callable[[], object] | None = None, **more: object
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [*PROGRAM, *arguments],
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=before,  # noqa: PLW1509 (this process has no threads)
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **more},
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=90)
    return process.returncode, errors.decode()


def assert_nothing_happened(folder: Path, *more: str) -> None:
    """The files of yesterday, the input, and nothing else but what is named."""
    assert {path.name for path in folder.iterdir()} <= {*FILES, "rows", *more}
    assert all((folder / name).read_bytes() == OLD for name in FILES)


def on_a_mount(folder: Path, mount: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run in a folder of a namespace of its own; `mount` prepares it, `here` is the folder."""
    script = (
        f'here={folder}; {mount} && cd "$here" && "$@"; '
        'status=$?; ls -A "$here" >"$here-listing"; exit $status'
    )
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *PROGRAM, *arguments],
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
        timeout=90,
    )


def can_mount() -> bool:
    try:
        done = subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="mounting in a namespace is not allowed here")


@needs_mounts
@pytest.mark.parametrize(
    ("options", "left", "exit_code", "message"),
    [
        ([], 0, 1, b"No space left on device"),
        ([], 4, 1, b"No space left on device"),
        (["--passes", "2", "--shuffle", "--spool-dir", "."], 40, 4, b". is full: the spool had grown to"),
    ],
)
def test_a_full_disk(options: list[str], left: int, exit_code: int, message: bytes, folder: Path) -> None:
    """So many kilobytes are left on it: none, too few for all three files, too few for a spool."""
    rows = folder.parent / "rows-elsewhere"
    rows.write_bytes(ROWS)
    size = 4 * len(FILES) + left
    prepare = (
        f'mount -t tmpfs -o size={size}k none "$here" && cd "$here" && echo yesterday | tee {" ".join(FILES)}'
    )
    done = on_a_mount(folder, f"{prepare} >/dev/null", *SELECT, *options, str(rows))
    assert (done.returncode, message in done.stderr) == (exit_code, True), done.stderr
    assert sorted(Path(f"{folder}-listing").read_text().split()) == sorted(FILES)


@needs_mounts
def test_a_folder_that_must_not_be_written(folder: Path) -> None:
    prepare = 'mount --bind "$here" "$here" && mount -o remount,ro,bind "$here"'
    done = on_a_mount(folder, prepare, *SELECT, "rows")
    assert done.returncode == 1
    assert done.stderr.startswith(b"fsstream: error: cannot write words: ")
    assert_nothing_happened(folder)


@pytest.mark.parametrize("limit", [0, 100, 5_000])
def test_a_file_must_not_grow(limit: int, folder: Path) -> None:
    """What is too large for the limit fails; a smaller file of the same run does not appear either."""
    process = started(
        *SELECT, "rows", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    status, errors = ended(process)
    assert status == 1
    assert errors.startswith("fsstream: error: cannot write ")
    assert "File too large" in errors
    assert_nothing_happened(folder)


@pytest.mark.parametrize("device", ["--output", "--summary"])
def test_a_device_that_is_full(device: str, folder: Path) -> None:
    done = fsstream(*SELECT, device, "/dev/full", "rows")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"cannot write /dev/full: No space left on device" in done.stderr
    assert_nothing_happened(folder)


def test_a_device_for_bad_lines_that_is_full(folder: Path) -> None:
    (folder / "rows").write_bytes(ROWS + b"1 no-value\n")
    done = fsstream(*SELECT, "--on-bad-line", "skip", "--bad-lines", "/dev/full", "rows")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"cannot write /dev/full: No space left on device" in done.stderr
    assert_nothing_happened(folder)


def test_standard_output_is_full(folder: Path) -> None:
    """The model and the summary of yesterday stay, or the next run would learn the same day twice."""
    with open("/dev/full", "wb") as full:
        words = ["select", "--k", "3", "--quiet", "--model", "model", "--summary", "summary", "rows"]
        status, errors = ended(started(*words, stdout=full))
    assert status == 1
    assert "No space left on device" in errors
    assert_nothing_happened(folder)


def test_nobody_reads_standard_output(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        status, errors = ended(
            started("select", "--k", "3", "--quiet", "--model", "model", "rows", stdout=pipe)
        )
    assert (status, errors) == (0, "")
    assert (folder / "model").read_bytes().startswith(b"PK")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_takes_a_part_only(unbuffered: str, folder: Path) -> None:
    """Without a buffer of Python's own the first write ends early and says so by its count alone."""
    environment = {**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered}
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))}
    with (folder / "page").open("wb") as page:
        done = subprocess.run(
            [*PROGRAM, "man", "select"],
            stdout=page,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
            **limit,
        )
    assert (done.returncode, (folder / "page").stat().st_size) == (1, 1000)
    assert b"standard output: File too large" in done.stderr


def test_an_input_that_is_not_there(folder: Path) -> None:
    done = fsstream(*SELECT, "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith(b"fsstream: error: cannot read nowhere: No such file")
    assert_nothing_happened(folder)


@pytest.mark.parametrize("passes", ["1", "2"])
@pytest.mark.parametrize("size", [0, 1, len(ROWS) // 2, len(ROWS) - 1])
def test_an_input_that_shrinks(size: int, passes: str, folder: Path, capfd: pytest.CaptureFixture[str],
                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Cut to a size while it is read: not even a cut between two lines passes for the end."""
    cut_at_the_first_batch(lambda: os.truncate("rows", size), monkeypatch)
    words = [*SELECT, "--passes", passes, "--threads", "1", "--block-size", "4KB", "rows"]
    status = run(words)
    errors = capfd.readouterr().err
    assert status == 3, errors
    assert f"rows: the file became shorter while it was read: {size} bytes, {len(ROWS)} when" in errors
    assert_nothing_happened(folder)


def test_an_input_that_vanishes_between_passes(folder: Path, capfd: pytest.CaptureFixture[str],
                                               monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    cut_at_the_first_batch((folder / "rows").unlink, monkeypatch)
    assert run([*SELECT, "--passes", "2", "--threads", "1", "--block-size", "4KB", "rows"]) == 1
    assert "cannot open rows: No such file or directory" in capfd.readouterr().err
    assert_nothing_happened(folder)


def cut_at_the_first_batch(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something to the input when the first of it has been learned."""
    from fsstream.saving import Saving

    original = Saving.batches

    def acting(self, *arguments, **named):  # type: ignore[no-untyped-def]
        for number, batch in enumerate(original(self, *arguments, **named)):
            if number == 1:
                act()
            yield batch

    monkeypatch.setattr(Saving, "batches", acting)


def test_a_pipe_of_packed_data_that_dies(folder: Path) -> None:
    """Its writer is killed: what has come is no whole file."""
    packed = gzip.compress(ROWS)
    process = started(*SELECT)
    assert process.stdin is not None
    process.stdin.write(packed[: len(packed) // 2])
    process.stdin.close()
    process.stdin = None
    status, errors = ended(process)
    assert (status, "<stdin>" in errors) == (3, True), errors
    assert_nothing_happened(folder)


def test_a_reader_of_the_output_that_dies(folder: Path) -> None:
    """Of `--output` alone: other files of the run do not appear."""
    os.mkfifo(folder / "pipe")
    process = started(*SELECT, "--output", "pipe", "rows")
    os.close(os.open(folder / "pipe", os.O_RDONLY))
    status, errors = ended(process)
    assert (status, errors) in [(0, ""), (1, "fsstream: error: cannot write pipe: Broken pipe\n")]
    if status:
        assert_nothing_happened(folder, "pipe")


@pytest.mark.parametrize("sent", [b"", ROWS[:50], ROWS])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_pipe_that_stalls(sent: bytes, threads: str, folder: Path) -> None:
    """Nothing more comes, and nobody closes it: the run waits until it is told to end."""
    process = started(*SELECT, "--threads", threads)
    assert process.stdin is not None
    process.stdin.write(sent)
    process.stdin.flush()
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:  # its input stays open
        time.sleep(0.05)
    status, errors = ended(process)
    if status == -signal.SIGTERM:  # it had not begun
        assert sent != ROWS
    else:
        assert (status, errors) == (143, "fsstream: stopped by SIGTERM\n")
    assert_nothing_happened(folder)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_less_address_space_than_it_takes(threads: str, folder: Path) -> None:
    """`ulimit -v`, from what Python needs to start upwards."""
    ends = set()
    for megabytes in (300, 340, 380, 420, 460, 560, 760, 1400):
        size = megabytes << 20
        process = started(
            *SELECT, "--memory", "256MB", "--threads", threads, "rows",
            before=lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        )  # fmt: skip
        status, errors = ended(process)
        ends.add(status)
        if status == 0:
            break
        assert status in (1, 4), (megabytes, status, errors)
        assert errors.startswith("fsstream: error: "), errors
        assert "internal error" not in errors
        assert_nothing_happened(folder)
    assert 0 in ends


def test_two_runs_on_the_same_files_leave_those_of_one(folder: Path) -> None:
    """Renames of both may alternate between files, but each file is whole."""
    wanted: dict[str, set[bytes]] = {name: set() for name in ("words", "model")}
    both = [
        [*SELECT, "--algo", algo, "--checkpoint", "saved", "--checkpoint-every", "50KB", "rows"]
        for algo in ("mission", "awm")
    ]
    for words in both:
        assert ended(started(*words)) == (0, "")
        for name, contents in wanted.items():
            contents.add((folder / name).read_bytes())
    running = [started(*words) for words in both]
    assert [ended(process) for process in running] == [(0, ""), (0, "")]
    assert {path.name for path in folder.iterdir()} == {*FILES, "rows", "saved"}
    for name, contents in wanted.items():
        assert (folder / name).read_bytes() in contents
    assert fsstream("inspect", "saved").returncode == 0


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_spool_that_somebody_damages_is_seen(folder: Path, damage: str) -> None:
    """Between two passes: it is held up by a pipe that is not closed yet."""
    spools = folder / "spools"
    spools.mkdir()
    process = started(*SELECT, "--passes", "3", "--spool-dir", str(spools), "--threads", "1", "-")
    assert process.stdin is not None
    for _ in range(4):
        process.stdin.write(ROWS)
    until = time.monotonic() + 60
    while not (found := [path for path in spools.iterdir() if path.stat().st_size > 200_000]):
        assert time.monotonic() < until
        time.sleep(0.01)
    with found[0].open("r+b") as file:
        if damage == "cut":
            file.truncate(100_000)
        else:
            file.seek(100_000)
            byte = file.read(1)
            file.seek(100_000)
            file.write(bytes([byte[0] ^ 1]))
    status, errors = ended(process)
    assert status == 5
    assert "damaged: " in errors
    assert_nothing_happened(folder, "spools")
    assert list(spools.iterdir()) == []
