"""The rule of fgm that turns k into B and rounds."""

import pytest

from fsstream.algorithms.fgm.parameters import FgmParameters
from fsstream.algorithms.fgm.schedule import MOST_ROUNDS, Seen, schedule

TEXT = Seen(rows=200_000, entries=10_000_000, features=1_000_000, mean_square=1.0)
DENSE = Seen(rows=200_000, entries=20_000_000, features=100, mean_square=50.0)


@pytest.mark.parametrize(
    ("k", "B", "target"),
    [(1, 2, 2), (10, 2, 20), (50, 5, 100), (200, 10, 400), (300, 10, 600), (16_384, 547, 32_768)],
)
def test_k_becomes_rounds(k, B, target):
    plan = schedule(k, FgmParameters(), TEXT)
    assert (plan.B, plan.target) == (B, target)
    assert -(-plan.target // plan.B) <= MOST_ROUNDS


def test_dense_rows_and_few_rows_generate_less():
    assert schedule(200, FgmParameters(), DENSE).target == 300
    few = Seen(rows=1000, entries=80_000, features=47_000, mean_square=1.0)
    assert schedule(84, FgmParameters(), few).target == 84
    assert schedule(83, FgmParameters(), few).target == 166


def test_few_rows_for_the_features_of_k_groups_generate_no_more_than_k():
    grouped = Seen(rows=2048, entries=16_000_000, features=8000, mean_square=8000.0, groups=800)
    assert schedule(17, FgmParameters(), grouped).target == 26
    assert schedule(18, FgmParameters(), grouped).target == 18


def test_the_paper_takes_ten_rounds_and_its_c():
    plan = schedule(200, FgmParameters(rule="paper"), TEXT)
    assert (plan.B, plan.target, plan.C) == (20, 200, 10.0)


def test_c_follows_the_scale_of_the_rows():
    few = Seen(rows=500, entries=5000, features=100, mean_square=1.0)
    found = [schedule(50, FgmParameters(), seen).C for seen in (TEXT, DENSE, few)]
    assert found == pytest.approx([100.0, 2.0, 10.0])


def test_c_of_groups_in_dense_rows_follows_the_length_of_k():
    wide = Seen(rows=2000, entries=16_000_000, features=8000, mean_square=8000.0, groups=800)
    assert pytest.approx(20 / 400) == schedule(40, FgmParameters(), wide).C
    assert pytest.approx(20 / 8000) == schedule(900, FgmParameters(), wide).C
    sparse = Seen(rows=2000, entries=100_000, features=8000, mean_square=1.0, groups=8000)
    assert pytest.approx(20) == schedule(40, FgmParameters(), sparse).C


def test_what_is_given_wins():
    plan = schedule(50, FgmParameters(B=7, C=3.0, trim=1.2), TEXT)
    assert (plan.B, plan.C, plan.target) == (7, 3.0, 60)
    assert schedule(50, FgmParameters(rounds=4, trim=1.0), TEXT).B == 13
