"""Rows of k-mers that were read before: what they were read as goes with them."""

import pickle

import numpy as np
import pytest

import fsstream
from fsstream.errors import DataError, UsageError

READS = b"a\tACGTACGTTT\nb\tTTTTACCCGG\na\tACGTGGGTTT\nb\tTTTTACCAAA\n" * 20


def rows_of(kmer=3, canonical=False):
    return list(fsstream.read(READS, kmer=kmer, canonical=canonical))


def test_a_model_of_them_knows_its_features_again():
    """It took their names for words, met none of them, and told every row its intercept."""
    wanted = fsstream.select(READS, k=3, kmer=3, canonical=False)
    expected = wanted.model.scores(READS)
    assert len(np.unique(expected)) > 1
    found = fsstream.select(rows_of(), k=3)
    selector = fsstream.Selector(k=3)
    for rows in rows_of():
        selector.update(rows)
    for model in (found.model, selector.model):
        assert model.selection.names == wanted.names
        np.testing.assert_array_equal(model.scores(rows_of()), expected)
        np.testing.assert_array_equal(model.scores(READS), expected)
        np.testing.assert_array_equal(wanted.model.scores([rows.copy() for rows in rows_of()]), expected)


def test_others_are_refused():
    model = fsstream.select(rows_of(), k=3).model
    for others in (rows_of(4), rows_of(canonical=True), np.eye(3)):
        with pytest.raises(UsageError, match="the model does not fit: its features are 3-mers"):
            model.scores(others)
    with pytest.raises(UsageError, match="some rows are 4-mers, and those of others 3-mers"):
        fsstream.select(rows_of() + rows_of(4), k=3)
    selector = fsstream.Selector(k=3)
    selector.update(rows_of()[0])
    with pytest.raises(UsageError, match="these rows are 4-mers, and those of the rows before 3-mers"):
        selector.update(rows_of(4)[0])


def test_groups_of_them_are_found():
    found = fsstream.select(rows_of(), k=1, algo="fgm", groups={"ACG": "x", "CGT": "x"})
    assert set(found.names) == {"ACG", "CGT"}


def test_a_selector_told_its_classes_starts_from_a_model(tmp_path):
    """Before its first rows it does not know how they are read: that was an internal error."""
    fsstream.select(rows_of(), k=3).model.save(tmp_path / "model")
    selector = fsstream.Selector(k=3, classes=["a", "b"], init=str(tmp_path / "model"))
    with pytest.raises(DataError, match="no data"):
        _ = selector.model
    selector = pickle.loads(pickle.dumps(selector))
    for rows in rows_of():
        selector.update(rows)
    again = fsstream.select(rows_of(), k=3, init=str(tmp_path / "model"))
    assert selector.model.to_bytes() == again.model.to_bytes()
    other = fsstream.Selector(k=3, classes=["a", "b"], init=str(tmp_path / "model"))
    with pytest.raises(UsageError, match="--init: its features are 3-mers"):
        other.update(rows_of(4)[0])
