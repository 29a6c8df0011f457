"""Which folder of the core may include which, and which package of the library may import which.

What lies lower knows nothing of what lies above it, so that it can be read, and tried, by itself.
"""

import ast
import re
from pathlib import Path

import fsstream

PACKAGE = Path(fsstream.__file__).parent
NATIVE = PACKAGE / "native"
BELOW = {
    "hash": set(),
    "core": {"hash"},
    "parse": {"hash", "core"},
    "sketch": {"hash", "core"},
    "learn": {"hash", "core", "sketch"},
    "solve": {"hash", "core", "sketch"},
    "write": {"hash", "core", "parse"},
    "bindings": {"hash", "core", "parse", "sketch", "learn", "solve", "write"},
}
INCLUDE = re.compile(r'^#include ["<](\w+)', re.MULTILINE)
PYTHON = {"nanobind", "Python", "numpy"}


def included(path):
    """What the includes of a file begin with: a folder of ours, or a header of others."""
    return INCLUDE.findall(path.read_text())


def sources():
    return sorted(NATIVE.rglob("*.[ch]pp"))


def test_the_core_includes_downwards():
    folders = {path.name for path in NATIVE.iterdir() if path.is_dir()}
    assert folders == set(BELOW)
    wrong = [
        f"{path.relative_to(NATIVE)}: {name}"
        for path in sources()
        for name in included(path)
        if name in folders - BELOW[path.parent.name] - {path.parent.name}
    ]
    assert wrong == []


def test_the_bindings_alone_know_python():
    knowing = {path.parent.name for path in sources() if PYTHON & set(included(path))}
    assert knowing == {"bindings"}


# Nobody in the folder imports these, were it for its types.
ABOVE = {
    "algorithms": {"cli", "run", "sources", "formats", "reading", "feeds"},
    "formats": {"cli", "run", "algorithms", "feeds"},
    "sources": {"cli", "run", "algorithms", "formats", "feeds"},
    "report": {"cli", "run", "algorithms", "formats", "sources", "feeds"},
}


def imported(path):
    """Modules of ours that a file names, by what follows `fsstream.`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("fsstream."))


def test_packages_import_downwards():
    wrong = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for folder, above in ABOVE.items()
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for name in imported(path)
        if name in above
    ]
    assert wrong == []


def test_the_command_line_is_imported_by_none():
    """But by what is run as it is: the trials of `plan` weigh all that a command brings into memory."""
    others = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "cli"]
    importing = {str(path.relative_to(PACKAGE)) for path in others if "cli" in imported(path)}
    assert importing == {"__main__.py", "planning/trial.py"}
