"""Make the checkout's own environment: .venv, with fsstream compiled into it and the tools of some extras.

Enters: any Python from 3.11 on and a C++ compiler; nothing else is taken for granted. Leaves:
.venv/bin/fsstream, and a stamp that makes the next call instant. Order: the right Python, the compiler, the
virtual environment, requirements, the package (editable: Python files are read from the checkout, the core is
compiled).

Only the standard library, in a syntax that an old Python can read far enough to say that it is too old.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from environment import Environment, succeeds
from toolchain import what_is_missing

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NEWEST_NAMED = 14
# What an isolated build would fetch by itself; ours is not isolated, so that it is incremental.
BUILD_TOOLS = ["cmake>=3.20", "ninja>=1.11"]


def fail(message):
    sys.exit(f"fsstream: error: {message}")


def say(message):
    print(f"fsstream: {message}", file=sys.stderr, flush=True)


def use_a_new_enough_python():
    """Go on in a newer Python when this one is too old and the machine has one."""
    if sys.version_info >= OLDEST:
        return
    for minor in range(NEWEST_NAMED, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and succeeds([newer, "-c", ""]):
            os.execv(newer, [newer, *sys.argv])
    version = "{}.{}".format(*sys.version_info)
    fail(f"Python {version} is too old: 3.11 or newer is needed; name one with `make PYTHON=...`")


# --- what is wanted ---


def project():
    """The tables of pyproject.toml that decide what is installed and how it is built."""
    import tomllib

    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [tables["build-system"], tables["project"], tables["tool"]["scikit-build"]]


def requirements(extras):
    """Everything but the package itself, one list for pip."""
    build_system, metadata, _ = project()
    wanted = build_system["requires"] + BUILD_TOOLS + metadata["dependencies"]
    for extra in extras:
        wanted += metadata["optional-dependencies"][extra]
    return [requirement for requirement in wanted if not requirement.startswith("fsstream[")]


def sources():
    """The core's files and what they hold."""
    native = ROOT / "fsstream" / "native"
    files = sorted(path for path in native.rglob("*") if path.is_file())
    return [(str(file), hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


# --- what is there ---


def read_stamp(environment):
    """What was installed when the environment was last brought up to date; nothing when it does not work."""
    with contextlib.suppress(OSError, ValueError):
        stamp = json.loads((environment.folder / "stamp.json").read_text())
        return stamp if environment.works() else {}
    return {}


def write_stamp(environment, stamp):
    (environment.folder / "stamp.json").write_text(json.dumps(stamp))


@contextlib.contextmanager
def only_one():
    """Two makes at once: the second waits, and then finds everything done."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "bootstrap.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- from the one to the other ---


def make_ready(environment):
    """The toolchain and an environment to build in, or one line that says what is missing."""
    missing = what_is_missing()
    if missing:
        fail(missing)
    if not environment.works():
        say(f"making {environment.folder.relative_to(ROOT)} (once)")
        if not environment.make():
            fail(f"{sys.executable} cannot make a virtual environment in {environment.folder}")


def install_package(environment, *settings):
    """Compile what has changed in the core, and install the checkout as an editable package."""
    if shutil.which("ccache"):
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    options = ["--no-build-isolation", "--no-deps", "--ignore-installed"]
    options += [f"--config-settings={setting}" for setting in settings]
    if not environment.install(*options, "--editable", "."):
        fail("the core could not be compiled; the reason stands above")
    # Where Python may not write its byte code while it runs, every start would compile all modules.
    succeeds([environment.python, "-m", "compileall", "-q", str(ROOT / "fsstream")])


def bring_up_to_date(environment, extras):
    """The main environment: the requirements of the extras, and the package. What is in it then."""
    stamp = read_stamp(environment)
    extras = sorted({*extras, *stamp.get("extras", [])})
    wanted = {"extras": extras, "project": digest(project()), "sources": digest(sources())}
    if stamp == wanted:
        return wanted
    make_ready(environment)
    if {**stamp, "sources": wanted["sources"]} != wanted:
        say("installing what fsstream needs")
        if not environment.put_pip_in():
            sys.exit(1)  # it has said why
        if not environment.install(*requirements(extras)):
            fail("the requirements could not be installed; the reason stands above")
    if {**stamp, "extras": extras} != wanted:
        say("compiling the core")
        install_package(environment)
    write_stamp(environment, wanted)
    return wanted


def bring_sanitized_up_to_date(sanitizers, main, built):
    """Another environment, the core in it with sanitizers, all other packages those of the main one."""
    environment = Environment(ROOT / "build" / sanitizers / "venv")
    wanted = {name: built[name] for name in ("project", "sources")}
    if read_stamp(environment) == wanted:
        return
    make_ready(environment)
    (environment.site_packages / "main.pth").write_text(f"{main.site_packages}\n")
    say(f"compiling the core for {sanitizers}")
    install_package(
        environment, f"cmake.define.FSSTREAM_SANITIZE={sanitizers}", f"build-dir=build/{sanitizers}/cmake"
    )
    write_stamp(environment, wanted)


def main():
    use_a_new_enough_python()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extra", action="append", default=[], help="an extra of pyproject.toml; repeatable")
    parser.add_argument(
        "--sanitized", choices=["asan", "tsan"], help="make a venv with these below build/ too"
    )
    options = parser.parse_args()
    with only_one():
        main_environment = Environment(ROOT / ".venv")
        built = bring_up_to_date(main_environment, options.extra)
        if options.sanitized:
            bring_sanitized_up_to_date(options.sanitized, main_environment, built)


if __name__ == "__main__":
    main()
