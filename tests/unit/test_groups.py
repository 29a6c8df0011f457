"""The table of --groups."""

import pytest

from fsstream.errors import DataError, UsageError
from fsstream.groups import read_groups


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


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(UsageError):
        read_groups(str(tmp_path / "none"))
