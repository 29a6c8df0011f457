"""A virtual environment with pip in it, whatever the Python at hand was stripped of.

Enters: a folder, and the Python that runs this, perhaps without venv, ensurepip or pip, perhaps marked as
externally managed (which a virtual environment is not). Leaves: FOLDER/bin/python with a working `-m pip`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = "{}.{}.{}".format(*sys.version_info)
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def succeeds(command):
    """Run quietly; True when the command exists and ends well."""
    try:
        return subprocess.call(command, **QUIET) == 0
    except OSError:
        return False


class Environment:
    """One virtual environment of this Python."""

    def __init__(self, folder):
        self.folder = folder
        self.python = str(folder / "bin" / "python")
        self.site_packages = folder / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"

    def works(self):
        """Whether it is where it believes to be, and made of this very Python."""
        believed = f"import sys; assert (sys.prefix, sys.version) == ({str(self.folder)!r}, {sys.version!r})"
        return succeeds([self.python, "-c", believed])

    def make(self):
        """By the venv module, or by hand where that was left out; without pip. True when it works."""
        shutil.rmtree(str(self.folder), ignore_errors=True)
        if not succeeds([sys.executable, "-m", "venv", "--without-pip", str(self.folder)]):
            shutil.rmtree(str(self.folder), ignore_errors=True)
            self.make_by_hand()
        return self.works()

    def make_by_hand(self):
        """All that a virtual environment is: a link to the interpreter, site-packages, and pyvenv.cfg."""
        base = Path(sys._base_executable)
        self.site_packages.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        for name in ("python", "python3"):
            (self.folder / "bin" / name).symlink_to(base)
        (self.folder / "pyvenv.cfg").write_text(
            f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {VERSION}\n"
        )

    def put_pip_in(self):
        """By ensurepip, this Python's pip or uv, at last as a wheel from the index. True when it worked."""
        ways = [
            [self.python, "-m", "pip", "--version"],
            [self.python, "-m", "ensurepip"],
            [sys.executable, "-m", "pip", "--python", self.python, "install", "pip"],
            ["uv", "pip", "install", "--python", self.python, "pip"],
        ]
        return any(succeeds(way) for way in ways) or self.run(str(HERE / "fetch_pip.py"))

    def install(self, *what):
        """True when pip could; what it has to say goes to the terminal."""
        return self.run("-m", "pip", "install", "-qq", "--disable-pip-version-check", *what)

    def run(self, *words):
        return subprocess.call([self.python, *words], cwd=str(HERE.parent), stdin=subprocess.DEVNULL) == 0
