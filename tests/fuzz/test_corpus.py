"""Every input that fuzzing kept, read by the native parser and by its slow twin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.oracle.parse_twin import FORMS, assert_equal_to_twin

KEPT = Path(__file__).parent / "corpus"
FOLDERS = [KEPT, *(Path(found) for found in [os.environ.get("FSSTREAM_FUZZ_CORPUS")] if found)]


@pytest.mark.parametrize("form", FORMS)
def test_the_twin_reads_the_corpus_alike(form: str) -> None:
    inputs = [path for folder in FOLDERS for path in sorted((folder / form).iterdir())]
    assert inputs
    for path in inputs:
        text = path.read_bytes()[2:]  # two bytes draw the cut
        assert_equal_to_twin(form, text, ngrams=2)
