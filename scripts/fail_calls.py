"""Fails the n-th read, write, fsync, rename, open, fchmod, preadv or large malloc of a run, for n = 1, 2, ...

    python scripts/fail_calls.py                               # each n, until a run comes to its end
    python scripts/fail_calls.py --every 40 --call malloc      # of that function each 40th only

Each run must end in a documented exit with its message, with the old files in place, no stray one, and a
checkpoint that is whole or none. Every line of output is a JSON object: the job, the function, how many runs
there were, and what their exits were. The exit status is 1 when any run did something else.

The process starts itself again with tests/faults/failing.c preloaded, and a run is a fork of it. It has
imported everything before: what packages do when memory ends while they are imported is not ours.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fsstream.checkpoint import load_checkpoint
from fsstream.cli.main import run

SHIM = Path(__file__).parent.parent / "tests" / "faults" / "failing.c"
ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 97, i * i % 89, i % 2) for i in range(900))
OLD = b"yesterday\n"
DOCUMENTED = {1, 3, 4, 5}
CALLS = {
    "read": errno.EIO,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.EIO,
    "open": errno.EMFILE,
    "fchmod": errno.EPERM,
    "preadv": errno.EIO,
    "malloc": errno.ENOMEM,
}
FORMAT = "--format pairs --block-size 4KB --threads 1 --quiet"
FILES = "--output words --model model --summary summary"
SAVING = "--checkpoint saved --checkpoint-every 12KB"
# What is run, and the files that it writes.
JOBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "select": (f"select --k 4 --passes 2 {FORMAT} {FILES} {SAVING}", ("words", "model", "summary")),
    "resume": ("resume saved", ("words", "model", "summary")),
    "predict": (f"predict ready --output scores {FORMAT}", ("scores",)),
}
# What may fail without a word and without a difference: the fsync of a folder, memory that is only wanted.
PRECAUTIONS = ("fsync", "open", "malloc")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--call", action="append", choices=CALLS)
    parser.add_argument("--job", action="append", choices=JOBS)
    parser.add_argument("--every", type=int, default=1, help="fail the first, and then each of that distance")
    given = parser.parse_args()
    if "failing.so" not in os.environ.get("LD_PRELOAD", ""):
        return start_again()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("rows").write_bytes(ROWS)
        import_all()
        prepare()
        for job in given.job or JOBS:
            for call in given.call or CALLS:
                wrong += fail_each(job, call, given.every)
        os.chdir("/")
    return 1 if wrong else 0


def start_again() -> int:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("fail_calls: skipped: it needs a C compiler")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "failing.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode


def import_all() -> None:
    """Run the first job, in this process: it imports what it needs."""
    begin("select")
    os.chdir("work")
    run(f"{JOBS['select'][0]} rows".split())
    os.chdir("..")


def prepare() -> None:
    """A model, the checkpoint of a run that was stopped, and what each job writes when nothing fails."""
    begin("select")
    if ended(forked(JOBS["select"][0], limit=2)) != 143:
        raise SystemExit("the run was not stopped in its middle")
    Path("work/saved").rename("saved")
    for job, (_, files) in JOBS.items():
        begin(job)
        if ended(forked(JOBS[job][0])) != 0:
            raise SystemExit(Path("messages").read_text())
        for name in files:
            shutil.copy(f"work/{name}", f"{job}.{name}")
        if job == "select":
            shutil.copy("work/model", "ready")


def begin(job: str) -> None:
    """The folder as a run finds it: its input, and the files of yesterday."""
    shutil.rmtree("work", ignore_errors=True)
    Path("work").mkdir()
    for name in JOBS[job][1]:
        Path("work", name).write_bytes(OLD)
    if job == "predict":
        shutil.copy("ready", "work/ready")
    if job == "resume":
        shutil.copy("saved", "work/saved")
    shutil.copy("rows", "work/rows")


def forked(command: str, failure: tuple[str, int] | None = None, limit: int = 0) -> int:
    """Start a command in a child that stands in the folder; its process id."""
    child = os.fork()
    if child:
        return child
    messages = os.open("messages", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    top = Path.cwd()
    os.chdir("work")
    tempfile.tempdir = str(Path.cwd())  # for the spool
    os.dup2(os.open("rows", os.O_RDONLY), 0)
    os.dup2(messages, 1)
    os.dup2(messages, 2)
    if limit:
        stop_after(limit)
    if failure is not None:
        call, n = failure
        places = bytes(top / "work"), bytes(top / "log")
        ctypes.CDLL(None).fail_call(call.encode(), ctypes.c_long(n), CALLS[call], *places)
    os._exit(run(command.split()))


def stop_after(batches: int) -> None:
    """In the child: SIGTERM once so many batches have been learned."""
    from fsstream.saving import Saving

    original = Saving.batches

    def counted(self, *arguments, **named):  # type: ignore[no-untyped-def]
        for number, batch in enumerate(original(self, *arguments, **named)):
            if number == batches:
                os.kill(os.getpid(), 15)
            yield batch

    Saving.batches = counted  # type: ignore[method-assign]


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fail_each(job: str, call: str, every: int) -> int:
    """Run until a run does not come to its n-th call; how many did what they must not."""
    exits: Counter[int] = Counter()
    wrong = 0
    n = 1
    while True:
        begin(job)
        Path("log").unlink(missing_ok=True)
        status = ended(forked(JOBS[job][0], (call, n)))
        failed = Path("log").exists()
        complaint = judge(job, call, status, failed)
        if complaint is not None:
            wrong += 1
            told = {"job": job, "call": call, "n": n, "exit": status, "wrong": complaint}
            print(json.dumps(told), flush=True)
        if not failed:
            break
        exits[status] += 1
        n += every
    ends = dict(sorted(exits.items()))
    result = {"job": job, "call": call, "runs": exits.total(), "exits": ends, "wrong": wrong}
    print(json.dumps(result), flush=True)
    return wrong


def judge(job: str, call: str, status: int, failed: bool) -> str | None:
    """What is wrong with the end of a run; None when all is well."""
    files = JOBS[job][1]
    found = {name: Path("work", name).read_bytes() for name in files}
    message = Path("messages").read_text(errors="replace")
    strays = {path.name for path in Path("work").iterdir()} - {"rows", "saved", "ready", *files}
    renewed = [name for name in files if found[name] != OLD]
    whole = {
        name: Path(f"{job}.{name}").read_bytes() for name in files if name != "summary"
    }  # which tells times
    torn = [name for name in renewed if found[name] != whole.get(name, found[name])]
    if strays:
        return f"stray files: {strays}"
    if torn:
        return f"neither old nor new: {torn}"
    if Path("work/saved").exists():
        load_checkpoint("work/saved")
    if status == 0 and len(renewed) < len(files):
        return f"only these were written: {renewed}"
    if status == 0:
        told = "the run goes on" in message or not failed or call in PRECAUTIONS
        return None if told else "the failure is not told"
    if not failed or status not in DOCUMENTED or "fsstream: " not in message or "Traceback" in message:
        return f"an end that is not documented: {message}"
    return f"renewed by a run that failed: {renewed}" if renewed and call not in ("rename", "fsync") else None


if __name__ == "__main__":
    sys.exit(main())
