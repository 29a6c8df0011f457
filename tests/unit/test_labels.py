"""Labels: what they mean is decided from the first records, and kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsstream._native import Batch, LabelMap, LibsvmParser, LossMeter, canonical_label
from fsstream.task import Labels, turned


def labelled(*labels: str) -> Batch:
    """A batch whose rows have these labels and no features."""
    batch = Batch()
    LibsvmParser().parse("".join(f"{label}\n" for label in labels).encode(), batch)
    return batch


@pytest.mark.parametrize(
    ("text", "value", "spelling"),
    [
        (b"+1", 1.0, b"1"),
        (b"1.0", 1.0, b"1"),
        (b"-0", -0.0, b"0"),
        (b"0.50", 0.5, b"0.5"),
        (b"1e3", 1000.0, b"1000"),
        (b"+0018446744073709551615", 2.0**64, b"18446744073709551615"),
        (b"9007199254740993", 2.0**53, b"9007199254740993"),
        (b"-9007199254740993", -(2.0**53), b"-9007199254740993"),
        (b"1e16", 1e16, b"10000000000000000"),
        (b"10000000000000000.0", 1e16, b"10000000000000000"),
        (b"spam", math.nan, b"spam"),
    ],
)
def test_equal_labels_have_one_spelling(text: bytes, value: float, spelling: bytes) -> None:
    assert canonical_label(text, value) == spelling


def test_binary_targets() -> None:
    batch = labelled("1", "+1", "0", "1.0")
    label_map = LabelMap("binary", [b"0", b"1"])
    assert label_map.resolve(batch) is None
    assert batch.targets.tolist() == [1, 1, -1, 1]


def test_whole_numbers_that_share_a_double_are_two_labels() -> None:
    """As ids of 64 bits are. They were one, and were written as 1.2345678901234568e+18."""
    one, other = 2**63 + 1, 2**63 + 2
    assert float(one) == float(other)
    label_map = LabelMap("classes", [])
    batch = labelled(str(other), str(one), f"+0{one}", str(other), "7")
    assert label_map.resolve(batch) is None
    assert batch.targets.tolist() == [0, 1, 1, 0, 2]
    assert label_map.labels == [b"%d" % other, b"%d" % one, b"7"]
    texts = [b"%d" % other, b"%d" % one]
    assert Labels.seen(texts, map(float, texts)).ordered() == texts[::-1]


def test_a_third_label_is_a_problem_of_its_row() -> None:
    problem = LabelMap("binary", [b"0", b"1"]).resolve(labelled("1", "0", "2"))
    assert problem is not None
    assert problem[0] == 2


def test_the_second_label_may_come_late_and_turn_the_first() -> None:
    label_map = LabelMap("binary", [])
    batch = labelled("3", "3", "2")
    assert label_map.resolve(batch) is None
    assert batch.targets.tolist() == [-1, -1, 1]
    assert turned("binary", [label.decode() for label in label_map.labels])
    assert not turned("binary", ["2", "3"])
    assert turned("binary", ["10", "9"])  # numbers, not text
    assert not turned("binary", ["ham", "spam"])


def test_classes_appear_in_order_up_to_a_limit() -> None:
    label_map = LabelMap("classes", [], 2)
    batch = labelled("7", "5", "7")
    assert label_map.resolve(batch) is None
    assert batch.targets.tolist() == [0, 1, 0]
    assert label_map.labels == [b"7", b"5"]
    problem = label_map.resolve(labelled("6"))
    assert problem is not None
    assert "--max-classes" in problem[1]


def test_a_closed_map_marks_what_it_does_not_know() -> None:
    batch = labelled("1", "9")
    assert LabelMap("classes", [b"1"], growing=False).resolve(batch) is None
    assert batch.targets[0] == 0
    assert math.isnan(batch.targets[1])


def test_class_weights_multiply_the_importance() -> None:
    label_map = LabelMap("binary", [b"0", b"1"])
    label_map.set_weight(b"1", 2.5)
    batch = labelled("1", "0")
    label_map.resolve(batch)
    assert batch.importance.tolist() == [2.5, 1.0]


def test_labels_are_ordered_as_numbers_when_all_are() -> None:
    seen = Labels.seen([b"10", b"9", b"+9", b""], [10.0, 9.0, 9.0, math.nan])
    assert seen.ordered() == [b"9", b"10"]
    assert not seen.sorted_by_class
    assert Labels.seen([b"10", b"x"], [10.0, math.nan]).ordered() == [b"10", b"x"]


def rows(targets: list[float]) -> Batch:
    count = len(targets)
    return Batch.from_arrays(
        np.zeros(count + 1, np.uint64),
        np.empty(0, np.uint64),
        np.empty(0, np.float32),
        np.array(targets, np.float32),
    )


def test_the_loss_meter_does_not_see_batches() -> None:
    rng = np.random.default_rng(0)
    targets = rng.choice([-1.0, 1.0], 100).tolist()
    scores = rng.normal(size=100).astype(np.float32)
    whole = LossMeter("logistic")
    whole.add(rows(targets), scores)
    parts = LossMeter("logistic")
    for cut in np.split(np.arange(100), [1, 17, 18, 64]):
        parts.add(rows([targets[i] for i in cut]), scores[cut])
    assert (whole.mean, whole.accuracy, whole.curve) == (parts.mean, parts.accuracy, parts.curve)
    expected = np.mean(np.log1p(np.exp(-np.array(targets) * scores)))
    assert whole.mean == pytest.approx(expected, rel=1e-6)
    assert [point[0] for point in whole.curve] == [1, 2, 4, 8, 16, 32, 64]


def test_the_softmax_loss_of_a_class_without_a_score() -> None:
    meter = LossMeter("softmax")
    meter.add(rows([2.0]), np.zeros((1, 2), np.float32))
    assert meter.mean == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ("a" * 60 + "b" * 50, True),
        ("a" * 60 + "b" * 50 + "c" + "d" * 70, True),
        ("a" * 60 + "b" * 49, False),  # too few to tell
        ("a" * 500 + "b" + "a" * 500, False),  # one is rare
        ("ab" * 100, False),
        ("a" * 60 + "b" * 50 + "a" * 60 + "b" * 50, True),
        (("a" * 30 + "b" * 20) * 3, False),
    ],
)
def test_streams_that_come_class_after_class_are_told(labels, found):
    texts = [label.encode() for label in labels]
    assert Labels.seen(texts, [math.nan] * len(texts)).sorted_by_class is found
