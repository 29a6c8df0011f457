"""The estimators are scikit-learn's in every way it can check, and select what the library selects."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fsstream
from fsstream.sklearn import (
    BudgetedSelector,
    FGMSelector,
    HashedTextSelector,
    MissionSelector,
    SparseRandomFeatures,
    SubstitutionSelector,
)
from tests.cli.command import ROOT

COLUMNS = [
    *(family(algo=algo) for family in (MissionSelector, BudgetedSelector, SubstitutionSelector)
      for algo in family._algos),
    FGMSelector(),
]  # fmt: skip
CHECKED = [
    *COLUMNS,
    FGMSelector(settings={"C": 1}),
    SparseRandomFeatures(k=3, settings={"draw": 20, "rounds": 2}),
    SparseRandomFeatures(k=3, algo="rf"),
    SparseRandomFeatures(k=3, algo="boosting"),
]
WEIGHT_CHECKS = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]
STEPS = "a weight scales the step of a row, a repeated row makes another step, as in SGDClassifier"
SCALE = "columns are scaled, and the width found, by all rows alike"
RULE = "C is found from the number of rows, see FGMSelector(settings={'C': 1})"


def expected_failures(estimator: Any) -> dict[str, str]:
    """The checks that are not met, each with its reason."""
    if isinstance(estimator, FGMSelector):
        return {} if estimator.settings else dict.fromkeys(WEIGHT_CHECKS, RULE)
    if isinstance(estimator, SparseRandomFeatures):
        return dict.fromkeys(WEIGHT_CHECKS, SCALE)
    if isinstance(estimator, MissionSelector | BudgetedSelector):
        return dict.fromkeys(WEIGHT_CHECKS, STEPS)
    return {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_nothing_wrong(estimator: Any, check: Any) -> None:
    with np.errstate(all="ignore"):
        assert check(estimator) is None


def planted(classes: int = 2) -> tuple[Any, Any]:
    """The first three columns of 40 say what the class is."""
    X = np.random.default_rng(0).normal(size=(400, 40))
    score = X[:, :3] @ [2.0, -2.0, 1.5]
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


@pytest.mark.parametrize("estimator", COLUMNS, ids=str)
def test_it_is_the_library_with_another_face(estimator: Any) -> None:
    X, y = planted()
    selector = clone(estimator).set_params(k=3).fit(X, y)
    found = fsstream.select(X, y, algo=selector._algo, k=3, **({"set": estimator.settings or {}}))
    assert selector.get_support(indices=True).tolist() == sorted(map(int, found.names))
    assert selector.model_.selection.to_jsonl() == found.to_jsonl()
    place = {int(name): weight for name, weight in found.to_dict().items()}
    assert selector.weights_[0].tolist() == [place[column] for column in selector.selected_.tolist()]


@pytest.mark.parametrize("estimator", COLUMNS, ids=str)
@pytest.mark.parametrize("form", [csr_matrix, csr_array, np.asarray])
def test_sparse_and_dense_strings_and_classes(estimator: Any, form: Any) -> None:
    X, y = planted(classes=3)
    X = np.where(np.abs(X) > 0.3, X, 0)
    labels = np.array(["none", "some", "all"])[y]
    selector = clone(estimator).set_params(k=2).fit(form(X), labels)
    assert selector.classes_.tolist() == ["all", "none", "some"]
    assert set(selector.model_.selection.classes) == set(selector.classes_)
    assert selector.weights_.shape == (3, len(selector.selected_))
    reduced = selector.transform(form(X))
    assert isinstance(reduced, type(form(X)))
    assert reduced.shape == (400, selector.get_support().sum())
    dense = np.asarray(reduced if form is np.asarray else reduced.todense())
    np.testing.assert_array_equal(dense, X[:, selector.get_support()])
    back = selector.inverse_transform(reduced)
    back = np.asarray(back if form is np.asarray else back.todense())
    np.testing.assert_array_equal(back, np.where(selector.get_support(), X, 0))
    names = [f"x{column}" for column in np.flatnonzero(selector.get_support())]
    assert selector.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("estimator", [MissionSelector(k=3), BudgetedSelector(k=3)], ids=str)
def test_batches_give_what_all_rows_give(estimator: Any) -> None:
    X, y = planted()
    whole = clone(estimator).fit(X, y)
    parts = clone(estimator)
    for begin in range(0, 400, 90):
        parts.partial_fit(X[begin : begin + 90], y[begin : begin + 90], classes=[0, 1])
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.model_.selection.to_jsonl() == whole.model_.selection.to_jsonl()
    np.testing.assert_array_equal(parts.transform(X), whole.transform(X))
    with pytest.raises(ValueError, match="not among the classes"):
        parts.partial_fit(X[:2], [7, 1])


def test_those_that_need_all_rows_have_no_partial_fit() -> None:
    assert hasattr(MissionSelector(), "partial_fit")
    for estimator in (BudgetedSelector(algo="l1-arda"), FGMSelector(), SubstitutionSelector()):
        assert not hasattr(estimator, "partial_fit")


def test_columns_may_be_counted_by_int64() -> None:
    X, y = planted()
    columns = np.arange(40, dtype=np.int64) * (2**62 // 40)
    starts = np.arange(0, 40 * 401, 40, dtype=np.int64)
    wide = csr_array((X.ravel(), np.tile(columns, 400), starts), shape=(400, 2**62))
    selector = MissionSelector(k=3).fit(wide, y)
    narrow = MissionSelector(k=3).fit(X, y)
    assert narrow.get_support(indices=True).tolist() == [0, 1, 2]
    assert selector.get_support(indices=True).tolist() == columns[:3].tolist()
    np.testing.assert_array_equal(selector.transform(wide).todense(), X[:, :3])
    assert selector.inverse_transform(selector.transform(wide)).shape == (400, 2**62)
    assert selector.get_feature_names_out().tolist() == [f"x{column}" for column in columns[:3].tolist()]


def test_pipelines_grids_and_frames() -> None:
    import pandas as pd

    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"gene{column}" for column in range(40)])
    pipeline = make_pipeline(StandardScaler(), MissionSelector(), LogisticRegression())
    search = GridSearchCV(pipeline, {"missionselector__k": [1, 3], "missionselector__passes": [1, 2]}, cv=3)

    search.fit(frame, y)
    assert search.best_params_["missionselector__k"] == 3
    assert search.best_score_ > 0.9
    selector = MissionSelector(k=3).set_output(transform="pandas").fit(frame, y)
    assert list(selector.transform(frame).columns) == ["gene0", "gene1", "gene2"]


@pytest.mark.parametrize("algo", SparseRandomFeatures._algos)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", ["standard", "log"])
def test_random_features_are_those_of_the_model(algo: str, classes: int, scale: str) -> None:
    X, y = planted(classes)
    settings = {"scale": scale, **({"draw": 20, "rounds": 2} if algo == "sparse-rf" else {})}
    made = SparseRandomFeatures(k=5, algo=algo, settings=settings).fit(csr_array(X), y)
    values = made.transform(X)
    np.testing.assert_allclose(values, made.transform(csr_matrix(X)), atol=1e-6)
    names = made.get_feature_names_out().tolist()
    assert values.shape == (400, len(set(names)))
    model = made.model_
    chosen = model.selection
    labels = chosen.classes or [""] * len(chosen)
    for number, label in enumerate(model.labels if classes == 3 else [""]):
        weights = np.zeros(len(names))
        for name, weight, its_label in zip(chosen.names, chosen.weights, labels, strict=True):
            if its_label == label:
                weights[names.index(name if name in names else f"{label}:{name}")] = weight
        scores = model.scores(X).reshape(400, -1)[:, number]
        np.testing.assert_allclose(values @ weights + model.intercepts[number], scores, rtol=1e-3, atol=1e-3)


def test_numbers_are_a_regression() -> None:
    X, _ = planted()
    y = 2 * X[:, 5] - X[:, 7] + 0.5
    for selector in (MissionSelector(k=2), SubstitutionSelector(k=2), FGMSelector(k=2)):
        assert selector.fit(X, y).get_support(indices=True).tolist() == [5, 7]
        assert selector.classes_ is None
        assert selector.model_.kind == "numbers"
    counts = np.rint(10 * y).astype(int)
    assert MissionSelector(k=2, loss="squared").fit(X, counts).model_.kind == "numbers"


def mails() -> tuple[list[str], list[str]]:
    import gzip

    lines = gzip.decompress((ROOT / "data/spam_sample.tsv.gz").read_bytes()).decode().splitlines()
    labels, texts = zip(*(line.split(maxsplit=1) for line in lines), strict=True)
    return list(texts), list(labels)


def test_documents_in_named_words_out() -> None:
    texts, labels = mails()
    words = HashedTextSelector(k=8, token_pattern=None, lowercase=False).fit(texts, labels)
    found = fsstream.select(ROOT / "data/spam_sample.tsv.gz", k=8, format="tokens")
    assert words.model_.selection.to_jsonl() == found.to_jsonl()
    assert sorted(words.get_feature_names_out()) == sorted(found.names)
    counts = words.transform(texts[:100]).toarray()
    names = words.get_feature_names_out()
    expected = [[text.split().count(name) for name in names] for text in texts[:100]]
    assert counts.tolist() == expected
    assert set(words.inverse_transform(counts[:1])[0]) == set(names[counts[0] > 0])


def test_a_selector_of_words_can_be_cloned_and_pickled() -> None:
    words = HashedTextSelector(k=3, ngrams=2, random_state=4)
    assert clone(words).get_params() == words.get_params()
    words.fit(["free money", "see you"], [1, 0])
    again = pickle.loads(pickle.dumps(words))
    counts = [one.transform(["see money"]).toarray().tolist() for one in (words, again)]
    assert counts[0] == counts[1]
    assert not hasattr(clone(words), "model_")


def test_documents_batch_by_batch_in_a_pipeline() -> None:
    texts, labels = mails()
    whole = HashedTextSelector(k=50, ngrams=2).fit(texts, labels)
    parts = HashedTextSelector(k=50, ngrams=2)
    for begin in range(0, len(texts), 400):
        parts.partial_fit(texts[begin : begin + 400], labels[begin : begin + 400], classes=["ham", "spam"])
    assert parts.model_.selection.to_jsonl() == whole.model_.selection.to_jsonl()
    assert any(" " in name for name in whole.get_feature_names_out())
    pipeline = make_pipeline(HashedTextSelector(k=200), LogisticRegression(max_iter=1000))
    assert pipeline.fit(texts[:1000], labels[:1000]).score(texts[1000:], labels[1000:]) > 0.9


BAD = [
    (MissionSelector(algo="fgm"), [0, 1], "MissionSelector has mission"),
    (MissionSelector(k=0), [0, 1], "--k"),
    (MissionSelector(settings={"sketch_dept": 3}), [0, 1], "did you mean"),
    (FGMSelector(learning_rate=1.0), [0, 1], "no use"),
    (BudgetedSelector(algo="ofs"), [0.5, 1.5], "cannot minimise the squared loss"),
    (MissionSelector(), [1, 1], "one class"),
]


@pytest.mark.parametrize(("estimator", "y", "message"), BAD, ids=[str(bad[0]) for bad in BAD])
def test_what_cannot_be_done_is_a_value_error(estimator: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimator.fit(np.eye(2), y)


def test_words_that_are_no_documents() -> None:
    for documents, message in (("free money", "string object"), ([1, 2], "documents are str")):
        with pytest.raises(ValueError, match=message):
            HashedTextSelector().fit(documents, ["a", "b"])
    with pytest.raises(ValueError, match="1 labels for 2"):
        HashedTextSelector().fit(["a b", "c d"], ["x", "y"][:1])


PRODUCTS = [
    FGMSelector(k=3, settings={"degree": 2}),
    MissionSelector(k=3, passes=5, settings={"interactions": 2}),
]


@pytest.mark.parametrize("estimator", PRODUCTS, ids=str)
@pytest.mark.parametrize("form", [csr_matrix, csr_array, np.asarray])
def test_selected_products_of_columns_are_columns(estimator: Any, form: Any) -> None:
    X = np.random.default_rng(0).normal(size=(400, 12))
    y = X[:, 3] * X[:, 5] + X[:, 10] * X[:, 9] - X[:, 1] > 0
    selector = clone(estimator).fit(form(X), y)
    assert selector.features_ == [(1,), (3, 5), (9, 10)]
    assert selector.get_support(indices=True).tolist() == [1, 3, 5, 9, 10]
    assert selector.get_feature_names_out().tolist() == ["x1", "x3*x5", "x10*x9"]
    assert selector.get_feature_names_out([f"{c:02}*" for c in range(12)])[1] == r"03\**05\*"
    made = selector.transform(form(X))
    assert isinstance(made, type(form(X)))
    made = np.asarray(made if form is np.asarray else made.todense())
    expected = np.stack([X[:, 1], X[:, 3] * X[:, 5], X[:, 9] * X[:, 10]], axis=1)
    np.testing.assert_allclose(made, expected)
    scores = made @ selector.weights_[0] + selector.model_.intercepts[0]
    np.testing.assert_allclose(scores, selector.model_.scores(X), atol=1e-4)
    with pytest.raises(ValueError, match="cannot be taken apart"):
        selector.inverse_transform(made)


def test_products_of_words_are_counted() -> None:
    mails = ["free money now", "free lunch", "money back", "see me now"] * 5
    words = HashedTextSelector(k=3, algo="fgm", settings={"degree": 2}).fit(
        mails, ["spam", "ham", "ham", "ham"] * 5
    )
    names = words.get_feature_names_out().tolist()
    assert any("*" in name for name in names)
    documents = ["free money free money now now", "see me now", "lunch"]
    expected = [
        [np.prod([text.split().count(word) for word in name.split("*")]) for name in names]
        for text in documents
    ]
    assert words.transform(documents).toarray().tolist() == expected
    assert sum(map(sum, expected)) > 0


@pytest.mark.parametrize("classes", [2, 3])
def test_groups_of_columns(classes: int) -> None:
    X, y = planted(classes)
    y = np.array(["none", "some", "all"])[y]
    labels = ["first" if column < 3 else f"rest{column % 5}" for column in range(40)]
    selector = FGMSelector(k=1, groups=labels).fit(X, y)
    support = selector.get_support(indices=True).tolist()
    assert set(selector.groups_) == {labels[column] for column in support}
    assert set(support) >= {0, 1, 2}
    assert classes == 3 or selector.groups_ == ["first"]
    overlapping = {"first": [0, 1, 2], "second": [2, 8], 7: [20, 21]}
    selector = FGMSelector(k=1, groups=overlapping).fit(csr_array(X), y)
    assert "first" in selector.groups_
    assert clone(selector).get_params()["groups"] == overlapping
    table = {
        str(column): [g for g, columns in overlapping.items() if column in columns] for column in range(40)
    }
    table = {column: [str(group) for group in groups] for column, groups in table.items() if groups}
    found = fsstream.select(X, y, algo="fgm", k=1, groups=table)
    assert selector.model_.selection.to_jsonl() == found.to_jsonl()


@pytest.mark.parametrize(
    ("groups", "message"),
    [(["a"] * 39, "39 labels, and X has 40 columns"), ({"a": [0, 40]}, "'a' has column 40, and X has 40")],
)
def test_groups_that_do_not_fit_the_columns(groups: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FGMSelector(k=1, groups=groups).fit(*planted())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["histogram", "gaussian"])
@pytest.mark.parametrize("form", [csr_matrix, csr_array, np.asarray])
def test_what_a_kernel_makes_of_columns(kernel: str, classes: int, form: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((600, 8)) * (rng.random((600, 8)) > 0.1)
    curve = np.sin(5 * X[:, 2]) + np.sin(5 * X[:, 5])
    y = np.searchsorted(np.quantile(curve, np.arange(1, classes) / classes), curve)
    selector = FGMSelector(k=2, settings={"expand": kernel}).fit(form(X), y)
    support = selector.get_support(indices=True).tolist()
    assert set(support) >= {2, 5}
    names = selector.get_feature_names_out().tolist()
    expected = {f"x{name}" for name in selector.model_.selection.names}
    assert set(names) == expected
    assert [int(name[1:].partition("#")[0]) for name in names] == [column for (column,) in selector.features_]
    assert selector.get_feature_names_out(list("abcdefgh"))[0].startswith("abcdefgh"[support[0]] + "#")
    made = selector.transform(form(X))
    assert isinstance(made, type(form(X)))
    made = np.asarray(made if form is np.asarray else made.todense())
    assert made.shape == (600, len(names))
    scores = made @ selector.weights_.T + selector.model_.intercepts
    np.testing.assert_allclose(
        scores.reshape(-1), selector.model_.scores(X).reshape(-1), rtol=1e-4, atol=1e-4
    )
    whole = selector.transform(form(np.rint(9 * X).astype(int)))
    assert whole.dtype == np.float64
    with pytest.raises(ValueError, match="cannot be undone"):
        selector.inverse_transform(made)


def test_a_kernel_in_a_pipeline_sees_curves() -> None:
    X = np.random.default_rng(0).random((600, 6))
    y = np.abs(X[:, 4] - 0.5) > 0.25
    curves = FGMSelector(k=1, settings={"expand": "gaussian"})
    pipeline = make_pipeline(curves, LogisticRegression(C=100))
    search = GridSearchCV(pipeline, {"fgmselector__settings": [{}, {"expand": "gaussian"}]}, cv=3)
    search.fit(X[:400], y[:400])
    assert search.best_params_["fgmselector__settings"] == {"expand": "gaussian"}
    assert search.score(X[400:], y[400:]) > 0.95


def test_a_kernel_of_counts_of_words() -> None:
    documents = ["a b", "a a b c", "a a a b", "b c c", "b", "a a b d d"] * 10
    labels = ["odd" if text.count("a") % 2 else "even" for text in documents]
    words = HashedTextSelector(k=1, token_pattern=None, algo="fgm", settings={"expand": "histogram"}).fit(
        documents, labels
    )
    made = words.transform(documents[:6]).toarray()
    names = words.get_feature_names_out().tolist()
    assert len({name.partition("#")[0] for name in names}) == 1
    assert made.any()
    chosen = words.model_.selection.to_dict()
    scores = made @ [chosen[name] for name in names] + words.model_.intercepts
    lines = [f"? {text}\n".encode() for text in documents[:6]]
    np.testing.assert_allclose(scores, words.model_.scores(lines), atol=1e-5)
