"""What compiling the core takes, checked before anything is built: a compiler, its C++20 library, Python.h.

Enters: CXX and PATH, and the Python that runs this. Leaves: nothing when all is there, else one sentence that
names the package to install, where a build would print a page.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

CPP20 = "#include <bit>\n#include <charconv>\n#include <span>\nstd::span<int> numbers;\n"


def what_is_missing():
    """One sentence for the person at the keyboard; empty when the core can be compiled."""
    compiler = find_compiler()
    if not compiler:
        return "no C++ compiler: install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)"
    if not compiles(compiler, CPP20):
        return f"{compiler[0]} cannot compile C++20: g++ 11 or clang 14 is the oldest that can; set CXX"
    paths = sysconfig.get_paths()
    folders = [paths["include"], paths["platinclude"]]
    if not compiles(compiler, "#include <Python.h>\n", *("-I" + folder for folder in folders)):
        debian, fedora = header_packages()
        return (
            f"no Python.h in {folders[0]}: install {debian} "
            f"(Debian, Ubuntu: apt install {debian}; Fedora: dnf install {fedora})"
        )
    return ""


def find_compiler():
    """The compiler that CMake would take, as a list of words; empty when there is none."""
    if os.environ.get("CXX"):
        words = os.environ["CXX"].split()
        return words if shutil.which(words[0]) else []
    return next(([name] for name in ("c++", "g++", "clang++") if shutil.which(name)), [])


def compiles(compiler, source, *flags):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "probe.cpp")
        file.write_text(source)
        command = [*compiler, "-std=c++20", "-fsyntax-only", *flags, str(file)]
        return (
            subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True).returncode
            == 0
        )


def header_packages():
    """The packages with Python.h, as Debian and as Fedora call them."""
    version = "{}.{}".format(*sys.version_info)
    system = Path("/usr/bin/python3").resolve().name
    number = "3" if system == "python" + version else version
    return f"python{number}-dev", f"python{number}-devel"
