"""The library selects the same from whatever holds the same rows."""

from __future__ import annotations

import copy
import io
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import fsstream
from fsstream import select
from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.errors import DataError, UsageError
from fsstream.selection import Selection
from tests.contract.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

TEXT = SAMPLES["libsvm"].text
K = 5


def arrays() -> tuple[Any, Any, Any, Any]:
    """ids, values, indptr and labels of the sample."""
    [rows] = fsstream.read(TEXT)
    return rows.ids, rows.values, rows.starts, [int(label) for label in rows.labels]


def matrix() -> tuple[csr_array[Any], list[int]]:
    ids, values, starts, y = arrays()
    return csr_array((values, ids.astype(np.int64), starts.astype(np.int64)), shape=(len(y), 41)), y


def by_rows(flat: Any, starts: Any) -> list[Any]:
    return np.split(flat, starts[1:-1].astype(int))


def given_as(kind: str, path: Path) -> tuple[Any, Any]:
    """The sample in one of the ways the library takes; and its labels, when they are beside it."""
    ids, values, starts, y = arrays()
    csr, _ = matrix()
    lines = TEXT.splitlines(keepends=True)
    path.write_bytes(TEXT)
    return {
        "path": (path, None),
        "paths": ([str(path)], None),
        "bytes": (TEXT, None),
        "pieces": ([TEXT[:7], TEXT[7:900], TEXT[900:]], None),
        "generated lines": ((line for line in lines), None),
        "file": (io.BytesIO(TEXT), None),
        "csr": (csr, y),
        "csr of the old kind": (csr_matrix(csr), np.array(y)),
        "csc": (csr.tocsc(), np.array(y, np.float64)),
        "dense": (csr.toarray(), y),
        "dense float64": (csr.toarray().astype(np.float64), [str(label) for label in y]),
        "lists": (csr.toarray().tolist(), y),
        "ids": ((ids, values, starts), y),
        "ids of rows": ((by_rows(ids, starts), by_rows(values, starts)), y),
        "rows": (list(fsstream.read(TEXT, block_size=2000)), None),
        "generated rows": (fsstream.read(TEXT, block_size=2000), None),
    }[kind]


KINDS = [
    "path", "paths", "bytes", "pieces", "generated lines", "file", "csr", "csr of the old kind", "csc",
    "dense", "dense float64", "lists", "ids",
    "ids of rows", "rows", "generated rows",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("algo", ["mission", "fgm", "os"])
def test_the_same_rows_give_the_same_selection(algo: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    source, y = given_as(kind, path)
    found = fsstream.select(source, y, algo=algo, k=K)
    assert found.to_jsonl() == fsstream.select(path, algo=algo, k=K).to_jsonl()
    assert set(SAMPLES["libsvm"].informative) <= set(found.names)


@pytest.mark.parametrize("algo", BACKENDS)
def test_every_backend_takes_arrays(algo: str) -> None:
    options = {"k": K} if "k" in backend(algo).uses else {}
    found = fsstream.select(*matrix(), algo=algo, **options).model
    assert found.to_bytes() == fsstream.select(TEXT, algo=algo, **options).model.to_bytes()


@pytest.mark.parametrize("algo", [name for name in BACKENDS if backend(name).access is Access.ROWS])
@pytest.mark.parametrize("size", [1, 37, 1000])
def test_batches_as_they_come_give_what_a_stream_gives(algo: str, size: int) -> None:
    options = {"k": K} if "k" in backend(algo).uses else {}
    X, y = matrix()
    selector = fsstream.Selector(algo=algo, **options)
    for begin in range(0, len(y), size):
        selector.update(X[begin : begin + size], y[begin : begin + size])
    assert selector.rows == len(y)
    assert selector.model.to_bytes() == fsstream.select(X, y, algo=algo, **options).model.to_bytes()


def test_rows_that_wait_for_others_of_their_step_count_in_the_model() -> None:
    X, y = matrix()
    options = {"algo": "iht", "k": K, "set": {"batch": 64}}
    selector = fsstream.Selector(**options)
    for begin in range(0, len(y), 37):
        selector.update(X[begin : begin + 37], y[begin : begin + 37])
        assert len(selector.selection) == K  # asking changes nothing of what comes
    assert selector.model.to_bytes() == fsstream.select(X, y, **options).model.to_bytes()


def test_classes_told_beforehand_change_nothing() -> None:
    X, y = matrix()
    told = fsstream.Selector(k=K, classes=[-1, 1])
    told.update(X[:3], y[:3])
    told.update(X[3:], y[3:])
    assert told.model.to_bytes() == fsstream.select(X, y, k=K).model.to_bytes()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda selector: pickle.loads(pickle.dumps(selector))])
@pytest.mark.parametrize("algo", ["mission", "b-arda", "hashing"])
def test_a_selector_goes_on_from_a_copy(algo: str, again: Any) -> None:
    X, y = matrix()
    options = {"k": K} if "k" in backend(algo).uses else {}
    half = fsstream.Selector(algo=algo, **options)
    half.update(X[:200], y[:200])
    other = again(half)
    for selector in (half, other):
        selector.update(X[200:], y[200:])
    assert half.model.to_bytes() == other.model.to_bytes()
    assert half.model.to_bytes() == fsstream.select(X, y, algo=algo, **options).model.to_bytes()


def test_names_of_columns_make_the_rows_those_of_a_pairs_file() -> None:
    X, y = matrix()
    names = [f"w{column}" for column in range(X.shape[1])]
    found = fsstream.select(X, y, names=names, k=K)
    text = SAMPLES["pairs"].text
    assert found.to_jsonl() == fsstream.select(text, format="pairs", k=K).to_jsonl()
    kept = fsstream.select(X, y, names=names, k=K, keep=["w1*"], normalize="l2")
    assert (
        kept.to_jsonl() == fsstream.select(text, format="pairs", k=K, keep=["w1*"], normalize="l2").to_jsonl()
    )
    assert all(name.startswith("w1") for name in kept.names)


def test_ids_are_64_bits_wide_and_repeated_ones_add_up() -> None:
    ids = np.array([2**64 - 1, 5, 5, 2**63], np.uint64)
    values = np.array([1.0, 1.0, 2.0, 1.0])
    rows = list(fsstream.read(b"a 18446744073709551615:1 5:3\nb 9223372036854775808:1\n"))
    found = fsstream.select((ids, values, [0, 3, 4]), ["a", "b"], k=3)
    assert found.to_jsonl() == fsstream.select(rows, k=3).to_jsonl()
    assert set(found.names) == {"18446744073709551615", "5", "9223372036854775808"}


def test_weights_of_rows_count() -> None:
    X, y = matrix()
    ones = fsstream.select(X, y, weights=np.ones(len(y)), k=K)
    assert ones.to_jsonl() == fsstream.select(X, y, k=K).to_jsonl()
    text = b"".join(b"%d 2 |n w:1\n%d 1 |n v:1\n" % (sign, -sign) for sign in [1, -1, 1] * 20)
    dense, labels = np.tile([[1, 0], [0, 1]], (60, 1)), [s * t for s in [1, -1, 1] * 20 for t in (1, -1)]
    weighted = fsstream.select(dense, labels, weights=[2, 1] * 60, names=["n^w", "n^v"], k=2)
    assert weighted.to_jsonl() == fsstream.select(text, k=2).to_jsonl()


def test_rows_are_not_changed_by_those_who_learn_them() -> None:
    [rows] = fsstream.read(TEXT)
    before = rows.weights.copy(), rows.values.copy()
    once = fsstream.select([rows], k=K, class_weight={"1": 3}, normalize="l2")
    twice = fsstream.select([rows], k=K, class_weight={"1": 3}, normalize="l2")
    assert once.to_jsonl() == twice.to_jsonl()
    np.testing.assert_array_equal(rows.weights, before[0])
    np.testing.assert_array_equal(rows.values, before[1])


def test_what_is_read_is_what_was_written() -> None:
    [rows] = fsstream.read(b"1 2.0 't1|n a:2 b |m c\n-1 |n a\n", format="vw")
    assert rows.labels == ["1", "-1"]
    assert rows.names == ["n^a", "n^b", "m^c", "n^a"]
    assert rows.values.tolist() == [2, 1, 1, 1]
    assert rows.weights.tolist() == [2, 1]
    assert rows.tags == ["t1", ""]
    assert rows.source == "<stream>"
    assert rows.to_csr(bits=8).shape == (2, 256)
    with pytest.raises(UsageError, match="beyond scipy's columns"):
        rows.to_csr()


def test_rows_that_were_read_stay_as_they_are() -> None:
    kept = list(fsstream.read(TEXT, block_size=500))
    assert len(kept) > 3
    assert [label for rows in kept for label in rows.labels] == [str(label) for label in arrays()[3]]
    assert sum(len(rows) for rows in kept) == len(arrays()[3])


def test_models_predict_from_every_source(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_bytes(TEXT)
    X, y = matrix()
    model = fsstream.select(path, k=K).model
    model.save(tmp_path / "model.fss")
    loaded = fsstream.load_model(tmp_path / "model.fss")
    assert loaded.selection.to_jsonl() == model.selection.to_jsonl()
    expected = loaded.predict(path)
    np.testing.assert_array_equal(loaded.predict(X), expected)
    np.testing.assert_array_equal(loaded.predict(X.toarray()), expected)
    assert np.mean(expected == np.array([str(label) for label in y])) > 0.9
    np.testing.assert_array_equal(loaded.scores(X) > 0, expected == "1")


def test_regression_and_classes_predict() -> None:
    X, y = matrix()
    numbers = fsstream.select(X, np.array(y) * 1.5, k=K, loss="squared").model
    assert np.corrcoef(numbers.predict(X), y)[0, 1] > 0.5
    three = ["a", "b", "c"] * (len(y) // 3) + ["a"] * (len(y) % 3)
    hot = np.eye(3)[[("abc").index(label) for label in three]]
    chosen = fsstream.select(hot, three, k=1)
    assert chosen.model.predict(hot).tolist() == three
    assert chosen.model.scores(hot).shape == (len(three), 3)
    assert {label: list(best) for label, best in chosen.to_dict().items()} == {
        "a": ["0"],
        "b": ["1"],
        "c": ["2"],
    }


def test_a_selection_is_a_dict_and_lines() -> None:
    chosen = Selection([b"a", b"\xff"], np.array([1, -2], np.float32)).ranked()
    assert chosen.names == ["\udcff", "a"]
    assert chosen.to_dict() == {"\udcff": -2.0, "a": 1.0}
    assert chosen.to_jsonl().splitlines()[0] == '{"rank":1,"feature":"\\udcff","weight":-2.0}'


BAD = [
    ("no y", lambda: select(np.eye(3), k=1), DataError, "<arrays>:1:1: expected a label"),
    ("nan", lambda: select(np.array([[1, 2], [np.nan, 3]]), [0, 1], k=1), DataError,
     "<arrays>:2: expected a finite 32-bit number for '0'"),
    ("y too short", lambda: select(np.eye(3), [1, 2], k=1), UsageError, "y has the shape"),
    ("one dimension", lambda: select(np.ones(3), [1, 2, 1], k=1), UsageError, "rows and columns"),
    ("words", lambda: select(np.array([["a"], ["b"]]), [0, 1], k=1), UsageError, "expected numbers"),
    ("rows of two lengths", lambda: select([[1, 2], [3]], [0, 1], k=1), UsageError, "not of one length"),
    ("weights of words", lambda: select(np.eye(1), [0], weights=["a"], k=1), UsageError, "not numbers"),
    ("half a letter", lambda: select(np.eye(1), [0], names=["\ud800"], k=1), UsageError, "half of a letter"),
    ("names", lambda: select(np.eye(2), [0, 1], names=["a"], k=1), UsageError, "1 names for 2 columns"),
    ("negative ids", lambda: select(([[-1]], [[1.0]]), [1], k=1), UsageError, "numbers from 0 on"),
    ("ids that are no numbers", lambda: select(([[0.5]], [[1.0]]), [1], k=1), UsageError, "whole"),
    ("rows that fall", lambda: select(([1, 2], [1.0, 1.0], [0, 2, 1]), [1, 2], k=1), UsageError, "indptr"),
    ("negative weight", lambda: select(np.eye(2), [0, 1], weights=[1, -1], k=1), DataError, "weight"),
    ("labels beside text", lambda: select(TEXT, [1], k=1), UsageError, "go with arrays"),
    ("a file of text", lambda: select(io.StringIO("1 a"), k=1), UsageError, "file of text"),
    ("nothing", lambda: select([], k=1), DataError, "nothing was given"),
    ("a number", lambda: select(3, k=1), UsageError, "int is nothing"),
    ("pieces of text", lambda: select([b"1 a\n", "1 b\n"], k=1, format="tokens"), UsageError, "bytes"),
    ("a file to write", lambda: select(TEXT, k=1, output="lines"), UsageError, "written by the command"),
    ("an unknown option", lambda: select(TEXT, k=1, lerning_rate=1), UsageError, "no option"),
    ("an option of runs", lambda: fsstream.Selector(k=1, passes=2), UsageError, "passes has no use"),
    ("a backend that reads again", lambda: fsstream.Selector(algo="fgm", k=1), UsageError, "more than once"),
    ("text to learn", lambda: fsstream.Selector(k=1).update("rows.svm"), UsageError, "update takes rows"),
    ("nothing learned", lambda: fsstream.Selector(k=1).model, DataError, "there is no data"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_what_cannot_be_read_is_said(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_what_a_person_tries_first() -> None:
    found = fsstream.select(TEXT, k=np.int64(3))
    assert len(found) == 3
    assert repr(found) == f"<3 features by mission: {', '.join(found.names)}>"
    assert repr(found.selection) == f"<3 features: {', '.join(found.names)}>"
    assert repr(found.model) == "<model of 3 features by mission: binary, logistic loss>"
    assert len(fsstream.select(TEXT, k=7)) == 7
    assert repr(fsstream.select(TEXT, k=7)).endswith(", ...>")
