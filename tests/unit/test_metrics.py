"""Measures against their definitions, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from fsstream._native import Batch
from fsstream.metrics import BinaryMetrics, ClassMetrics, NumberMetrics, RankedScores

RNG = np.random.default_rng(5)


def rows(targets: np.ndarray, weights: np.ndarray | None = None) -> Batch:
    count = len(targets)
    empty = np.zeros(count + 1, np.uint64), np.empty(0, np.uint64), np.empty(0, np.float32)
    return Batch.from_arrays(*empty, targets.astype(np.float32), weights)


def brute_auc(scores: np.ndarray, positive: np.ndarray) -> float:
    pairs = scores[positive][:, None] - scores[~positive][None, :]
    return float(np.where(pairs > 0, 1.0, np.where(pairs == 0, 0.5, 0.0)).mean())


def brute_average_precision(scores: np.ndarray, positive: np.ndarray) -> float:
    total, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = scores >= threshold
        recall = (chosen & positive).sum() / positive.sum()
        total += (recall - before) * (chosen & positive).sum() / chosen.sum()
        before = recall
    return float(total)


@pytest.mark.parametrize("exact_rows", [1 << 20, 50])
def test_ranking_measures_with_ties(exact_rows: int) -> None:
    scores = RNG.integers(-3, 4, 300).astype(np.float32)
    positive = RNG.random(300) < 0.3
    ranked = RankedScores(exact_rows)
    for cut in np.split(np.arange(300), [10, 100, 200]):
        ranked.add(scores[cut], positive[cut])
    measures = ranked.measures()
    assert measures["auc"] == pytest.approx(brute_auc(scores, positive), abs=1e-12)
    assert measures["average_precision"] == pytest.approx(
        brute_average_precision(scores, positive), abs=1e-12
    )


def test_one_class_has_no_ranking() -> None:
    ranked = RankedScores()
    ranked.add(np.ones(3, np.float32), np.ones(3, bool))
    assert ranked.measures() == {"auc": None, "average_precision": None}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_binary_measures_equal_scikit_learn(weighted: bool, tied: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    targets = np.where(RNG.random(500) < 0.4, 1.0, -1.0)
    scores = (RNG.normal(size=500) + targets).astype(np.float32)
    scores = np.rint(scores) if tied else scores
    weights = RNG.choice([0.0, 0.5, 1.0, 3.0], 500).astype(np.float32) if weighted else None
    ours = BinaryMetrics("logistic", ("ham", "spam"))
    for cut in np.split(np.arange(500), [3, 200]):
        ours.add(rows(targets[cut], None if weights is None else weights[cut]), scores[cut][:, None])
    result = ours.result()
    chance = 1 / (1 + np.exp(-scores.astype(np.float64)))
    expected = {
        "rows": 500,
        "accuracy": metrics.accuracy_score(targets > 0, scores > 0, sample_weight=weights),
        "auc": metrics.roc_auc_score(targets, scores, sample_weight=weights),
        "average_precision": metrics.average_precision_score(
            targets, scores, pos_label=1, sample_weight=weights
        ),
        "log_loss": metrics.log_loss(targets, chance, sample_weight=weights),
        "f1": metrics.f1_score(targets > 0, scores > 0, sample_weight=weights),
    }
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    per_class = metrics.f1_score(targets > 0, scores > 0, average=None, sample_weight=weights)
    assert result["f1_per_class"] == pytest.approx({"ham": per_class[0], "spam": per_class[1]})


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_of_classes_and_numbers_equal_scikit_learn(weighted: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    special = pytest.importorskip("scipy.special")
    weights = RNG.choice([0.0, 0.5, 1.0, 3.0], 400).astype(np.float32) if weighted else None
    truth = RNG.integers(0, 4, 400)
    scores = RNG.normal(size=(400, 4)).astype(np.float32) + 2 * np.eye(4, dtype=np.float32)[truth]
    ours = ClassMetrics("softmax", ("a", "b", "c", "d"))
    ours.add(rows(truth, weights), scores)
    result, guess = ours.result(), scores.argmax(axis=1)
    f1 = metrics.f1_score(truth, guess, average=None, sample_weight=weights)
    assert list(result["f1"].values()) == pytest.approx(f1.tolist())
    expected = {
        "accuracy": metrics.accuracy_score(truth, guess, sample_weight=weights),
        "log_loss": metrics.log_loss(
            truth, special.softmax(scores.astype(float), axis=1), sample_weight=weights
        ),
        "f1_macro": metrics.f1_score(truth, guess, average="macro", sample_weight=weights),
    }
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-5)

    targets = RNG.normal(100, 1, 400).astype(np.float32)
    numbers = NumberMetrics()
    for cut in np.split(np.arange(400), [1, 90]):
        numbers.add(rows(targets[cut], None if weights is None else weights[cut]), (scores[cut, :1] + 100))
    guess = scores[:, 0] + 100
    expected = {
        "rmse": metrics.root_mean_squared_error(targets, guess, sample_weight=weights),
        "mae": metrics.mean_absolute_error(targets, guess, sample_weight=weights),
        "r2": metrics.r2_score(targets, guess, sample_weight=weights),
    }
    result = numbers.result()
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def test_class_measures() -> None:
    truth = np.array([0, 0, 1, 2, 2, np.nan])
    guess = np.array([0, 1, 1, 2, 0, 1])
    scores = np.eye(3, dtype=np.float32)[guess]
    ours = ClassMetrics("softmax", ("a", "b", "c"))
    ours.add(rows(truth), scores)
    result = ours.result()
    assert result["accuracy"] == pytest.approx(3 / 6)
    assert result["rows_of_unknown_classes"] == 1
    assert result["f1"] == pytest.approx({"a": 2 / 4, "b": 2 / 4, "c": 2 / 3})


def test_number_measures_do_not_depend_on_the_cut() -> None:
    targets = RNG.normal(1e6, 1, 1000)
    scores = (targets + RNG.normal(size=1000)).astype(np.float32)
    targets = targets.astype(np.float32).astype(np.float64)
    ours = NumberMetrics()
    for cut in np.split(np.arange(1000), [1, 400]):
        ours.add(rows(targets[cut]), scores[cut][:, None])
    result = ours.result()
    error = targets - scores
    assert result["rmse"] == pytest.approx(float(np.sqrt((error**2).mean())))
    assert result["mae"] == pytest.approx(float(np.abs(error).mean()))
    assert result["r2"] == pytest.approx(
        1 - float((error**2).sum() / ((targets - targets.mean()) ** 2).sum())
    )
