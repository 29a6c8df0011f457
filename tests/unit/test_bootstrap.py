"""The checkout's own environment: what fresh machines lack, and what is said about it."""

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


environment = load("environment")
fetch_pip = load("fetch_pip")
toolchain = load("toolchain")


def test_a_python_without_venv_gets_an_environment_made_by_hand(tmp_path, monkeypatch):
    runs = environment.succeeds
    monkeypatch.setattr(environment, "succeeds", lambda command: "venv" not in command and runs(command))
    made = environment.Environment(tmp_path / "a folder")
    assert made.make()
    asked = [made.python, "-c", "import sys; print(sys.prefix, sys.path[-1], sep='\\n')"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [str(tmp_path / "a folder"), str(made.site_packages)]


def test_an_environment_that_was_moved_does_not_count(tmp_path):
    made = environment.Environment(tmp_path / "here")
    made.make_by_hand()
    assert made.works()
    (tmp_path / "here").rename(tmp_path / "there")
    assert not made.works()


@pytest.mark.parametrize("way", range(5))
def test_pip_comes_by_the_first_way_there_is(tmp_path, monkeypatch, way):
    marks = ["pip --version", "ensurepip", "pip --python", "uv pip", "fetch_pip.py"]
    tried = []

    def succeeds(command):
        tried.append(" ".join(command))
        return marks[way] in tried[-1]

    made = environment.Environment(tmp_path)
    monkeypatch.setattr(environment, "succeeds", succeeds)
    monkeypatch.setattr(made, "run", lambda *words: succeeds(words))
    assert made.put_pip_in()
    assert [mark in command for mark, command in zip(marks, tried, strict=False)] == [True] * (way + 1)


PAGE = """
<a href="../../files/pip-25.3-py3-none-any.whl#sha256={a}" data-requires-python="&gt;=3.9">pip-25.3</a>
<a href="../../files/pip-26.1-py3-none-any.whl#sha256={b}" data-requires-python="&gt;=3.10">pip-26.1</a>
<a href="../../files/pip-26.2-py3-none-any.whl#sha256={c}" data-yanked="">y</a>
<a href="../../files/pip-27.0b1-py3-none-any.whl#sha256={c}">pip-27.0b1</a>
<a href="../../files/pip-99.0-py3-none-any.whl#sha256={c}" data-requires-python="&gt;=3.99">pip-99.0</a>
<a href="../../files/pip-98.0-py3-none-any.whl">no digest</a>
<a href="../../files/pip-97.0.tar.gz#sha256={c}">pip-97.0.tar.gz</a>
"""


def test_the_newest_pip_that_runs_here_is_taken():
    page = PAGE.format(a="a" * 64, b="b" * 64, c="c" * 64)
    address, sha256 = fetch_pip.newest_wheel(page, "https://index.example/simple/pip/")
    assert address == "https://index.example/files/pip-26.1-py3-none-any.whl"
    assert sha256 == "b" * 64


def test_an_index_without_pip_is_named():
    with pytest.raises(ValueError, match="no wheel of pip"):
        fetch_pip.newest_wheel("<html></html>", "https://index.example/simple/pip/")


def test_the_index_is_pips_own(tmp_path, monkeypatch):
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://file.example/simple/%40\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    assert fetch_pip.index_url() == "https://file.example/simple/%40"
    monkeypatch.setenv("PIP_INDEX_URL", "https://environment.example/simple")
    assert fetch_pip.index_url() == "https://environment.example/simple"


def test_no_compiler_is_one_line_with_its_package(tmp_path, monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = toolchain.what_is_missing()
    assert "apt install g++" in missing
    assert "dnf install gcc-c++" in missing
    assert "\n" not in missing


def test_a_compiler_that_cannot_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "false")
    assert toolchain.what_is_missing().startswith("false cannot compile C++20")


def test_no_python_header_is_one_line_with_its_package(tmp_path, monkeypatch):
    if not toolchain.find_compiler():
        pytest.skip("there is no compiler to look for headers with")
    paths = dict.fromkeys(sysconfig.get_paths(), str(tmp_path))
    monkeypatch.setattr(toolchain.sysconfig, "get_paths", lambda: paths)
    missing = toolchain.what_is_missing()
    assert f"no Python.h in {tmp_path}" in missing
    assert "-dev; Fedora: dnf install python3" in missing
    assert "\n" not in missing


def test_an_old_python_is_told_in_one_line(tmp_path):
    code = (
        f"import runpy, sys; sys.version_info = (3, 8, 1); sys.path.insert(0, {str(SCRIPTS)!r}); "
        f"runpy.run_path({str(SCRIPTS / 'bootstrap.py')!r}, run_name='__main__')"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert answer.returncode == 1
    expected = "Python 3.8 is too old: 3.11 or newer is needed; name one with `make PYTHON=...`"
    assert answer.stderr == f"fsstream: error: {expected}\n"
