"""The table of --groups."""

from pathlib import Path

import pytest

import fsstream
from fsstream import run
from fsstream.checkpoint import load_checkpoint
from fsstream.config import SelectOptions
from fsstream.errors import DataError, UsageError
from fsstream.groups import read_groups
from fsstream.option_fields import from_mapping
from fsstream.resume_options import ResumeOptions
from scripts.fuzz_loaders import ROWS


def test_features_may_be_in_several_groups(tmp_path):
    path = tmp_path / "groups.tsv"
    path.write_bytes(b"a\tx\nb\tx\n\na\ty z\n")
    assert read_groups(str(path)) == {b"a": ("x", "y z"), b"b": ("x",)}


@pytest.mark.parametrize("line", [b"a", b"a x", b"\tx", b"a\t", b"a\tx\ty"])
def test_a_line_without_both_is_bad_data(tmp_path, line):
    path = tmp_path / "groups.tsv"
    path.write_bytes(b"a\tx\n" + line + b"\n")
    with pytest.raises(DataError, match=r"groups\.tsv:2:1"):
        read_groups(str(path))


@pytest.mark.parametrize("text", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_table_of_nothing_is_bad_data(tmp_path, text):
    """Each feature was a group of its own, and the run ended with 0."""
    path = tmp_path / "groups.tsv"
    path.write_bytes(text)
    with pytest.raises(DataError, match=r"groups\.tsv: no feature has a group"):
        read_groups(str(path))


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(UsageError):
        read_groups(str(tmp_path / "none"))


def test_a_table_in_python_goes_on_from_a_checkpoint(tmp_path, monkeypatch):
    """It is no file beside the input: it was taken for one."""
    monkeypatch.chdir(tmp_path)
    Path("rows").write_bytes(ROWS)
    groups = {"w1": ["a"], "w2": ["a", "b"], "s1": "b"}
    more = {"k": 2, "algo": "fgm", "format": "pairs", "checkpoint_every": 1, "checkpoint": "saved"}
    whole = fsstream.select("rows", groups=groups, **more).model.to_bytes()
    saved = load_checkpoint("saved")
    assert saved.origin.options.groups == (("w1", ("a",)), ("w2", ("a", "b")), ("s1", ("b",)))
    options = saved.resumed(ResumeOptions(checkpoint_file="saved"))
    assert run.resume(saved, options).model.to_bytes() == whole


@pytest.mark.parametrize("table", [{"a": 3}, ["ab", 1], 7])
def test_what_is_no_table_is_refused(table):
    with pytest.raises(UsageError, match="expected a file or a table"):
        from_mapping(SelectOptions, {"groups": table})


def test_names_that_are_not_in_the_data_are_told():
    """A table whose names were spelled in another way made each feature a group of its own, silently."""
    options = {"k": 1, "algo": "fgm", "format": "pairs"}
    for groups, told in (({"W1": "a", "W2": "a"}, 1), ({"w1": "a", "W2": "a"}, 0)):
        notes = fsstream.select(ROWS, groups=groups, **options).summary["notes"]
        assert sum(note.startswith("--groups: none of the 2 features it lists") for note in notes) == told


def test_k_mers_have_groups():
    """They were looked up as words, and none was found."""
    rows = b"a\tACGTACGTTT\nb\tTTTTACCCGG\na\tACGTGGGTTT\nb\tTTTTACCAAA\n"
    options = {"k": 1, "algo": "fgm", "kmer": 3, "canonical": False}
    found = fsstream.select(rows, groups={"ACG": "x", "CGT": "x"}, **options)
    assert (set(found.names), set(found.selection.groups)) == ({"ACG", "CGT"}, {"x"})
    with pytest.raises(UsageError, match="--groups lists 'ACGT', and the stream holds 3-mers"):
        fsstream.select(rows, groups={"ACGT": "x"}, **options)


def test_groups_from_two_places_or_from_none_are_refused():
    with pytest.raises(UsageError, match="--groups has no use with it"):
        fsstream.select(ROWS, k=1, algo="fgm", groups={"w1": "a"}, set={"groups": "namespace"})
    with pytest.raises(UsageError, match="groups=tree needs --groups"):
        fsstream.select(ROWS, k=1, algo="fgm", set={"groups": "tree"})
