"""Every example in a docstring, and in docs/library.md, gives what it shows."""

from __future__ import annotations

import doctest
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fsstream
from tests.cli.command import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FLAGS = doctest.NORMALIZE_WHITESPACE
MODULES = [
    "fsstream", "fsstream.api", "fsstream.model", "fsstream.rows", "fsstream.selection",
    "fsstream.sklearn", "fsstream.sklearn.selectors", "fsstream.sklearn.text", "fsstream.sklearn.features",
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testmod(
        import_module(module), extraglobs={"fsstream": fsstream, "np": np}, optionflags=FLAGS
    )
    assert found.attempted > 0
    assert found.failed == 0


def test_examples_in_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs/library.md"), module_relative=False, optionflags=FLAGS)
    assert found.attempted > 30
    assert found.failed == 0
