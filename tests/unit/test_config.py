"""Options: what is refused before any file is opened, and how parameters are read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from fsstream.algorithms.learner import Common, parameter
from fsstream.algorithms.mission_parameters import MissionParameters, sketch_width
from fsstream.cli.config_file import config_of
from fsstream.config import SelectOptions, split_class_weight
from fsstream.errors import UsageError
from fsstream.option_fields import from_mapping
from fsstream.parameters import parse_parameters


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"k": 0}, "--k"),
        ({"k": 2.5}, "--k"),
        ({"k": True}, "--k"),
        ({"k": 5, "format": "svm"}, "libsvm"),
        ({"k": 5, "format": "seq"}, "--kmer"),
        ({"k": 5, "format": "seq", "kmer": 12}, "--canonical"),
        ({"k": 5, "format": "seq", "kmer": 33, "canonical": True}, "33"),
        ({"k": 5, "format": "libsvm", "ngrams": 2}, "--ngrams"),
        ({"k": 5, "format": "columns"}, "--targets"),
        ({"k": 5, "format": "columns", "targets": "y", "normalize": "l2"}, "--normalize"),
        ({"k": 5, "max_bad": 3}, "--on-bad-line skip"),
        ({"k": 5, "inputs": ("-", "-")}, "once"),
        ({"k": 5, "patience": 2}, "--valid"),
        ({"k": 5, "class_weight": ("spam=2", "ham=1", "spam=3")}, "'spam' has two weights"),
        ({"k": 5, "class_weight": ("+1=2", "1=3")}, "has two weights"),
        ({"k": 5, "valid": "-"}, "--valid needs a file"),
        ({"k": 5, "inputs": ("",)}, "input is empty"),
        ({"k": 5, "inputs": ("rows", 3)}, "inputs: expected a list of paths"),
        ({"k": 5, "keep": ("a", "")}, "--keep: the pattern is empty"),
        ({"k": 5, "model": ""}, "--model: the name of the file is empty"),
        ({"k": 5, "l2": math.inf}, "--l2: expected a finite number"),
        ({"k": 5, "block_size": 0}, "--block-size"),
        ({"k": 5, "block_size": 2**31}, "--block-size"),
        ({"k": 5, "memory": 10**20}, "--memory"),
        ({"k": 5, "class_weight": ("spam",)}, "LABEL=W"),
        ({"k": 5, "class_weight": ("spam=-1",)}, "LABEL=W"),
        ({"k": 5, "class_weight": ("spam=nan",)}, "LABEL=W"),
        ({"learning_rate": float("nan"), "k": 5}, "--learning-rate"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        SelectOptions(**options).check()  # type: ignore[arg-type]


def test_plain_options_pass() -> None:
    SelectOptions(k=5, inputs=("a.svm",), format="tokens", ngrams=2).check()


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="learning_rat") as caught:
        from_mapping(SelectOptions, {"learning_rat": 1})
    assert caught.value.hint == "did you mean 'learning_rate'?"


def test_a_mapping_may_use_dashes_units_and_tables() -> None:
    options = from_mapping(
        SelectOptions,
        {
            "learning-rate": 1,
            "memory": "64MB",
            "set": {"width": "2^4"},
            "class_weight": {"a": 2},
            "keep": "x*",
        },
    )
    assert (options.learning_rate, options.memory, options.keep) == (1.0, 64_000_000, ("x*",))
    assert (options.set, options.class_weight) == (("width=2^4",), ("a=2",))


@dataclass(frozen=True)
class Parameters:
    width: int | None = parameter(None, "cells", low=2)
    rate: float = parameter(0.5, "step", low=0, high=1)
    free: float = parameter(1.0, "anything", low=0)
    rule: str = parameter("paper", "which", choices=("paper", "ours"))


def test_parameters_are_parsed_by_their_type() -> None:
    assert parse_parameters(Parameters, ["width=2^18", "rate=0.25", "rule=ours"], "x") == Parameters(
        1 << 18, 0.25, rule="ours"
    )
    assert parse_parameters(Parameters, [], "x") == Parameters()


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("width", "KEY=VALUE"),
        ("widht=4", "no parameter"),
        ("width=1.5", "whole number"),
        ("width=1", "from 2"),
        ("rate=2", "from 0 to 1"),
        ("rate=nan", "from 0 to 1"),
        ("free=inf", "a finite number from 0 on"),
        ("free=1e400", "a finite number from 0 on"),
        ("rate=x", "a number"),
        ("rule=theirs", "paper or ours"),
        ("width=2^64", "whole number"),
        ("width=2^63", "below 2"),
        ("width=" + "9" * 30, "below 2"),
    ],
)
def test_parameters_out_of_range_are_refused(setting: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_parameters(Parameters, [setting], "x")


def test_whole_numbers_that_share_a_double_have_weights_of_their_own() -> None:
    options = SelectOptions(k=5, class_weight=("9007199254740993=2", "9007199254740992=3"))
    options.check()
    weights = dict(map(split_class_weight, options.class_weight))
    assert weights == {"9007199254740993": 2, "9007199254740992": 3}


def test_class_weights_split_at_the_last_equals_sign() -> None:
    assert split_class_weight("a=b=2.5") == ("a=b", 2.5)


@pytest.mark.parametrize("value", [[], {}, "many", [[1]]])
@pytest.mark.parametrize("name", ["l1", "learning_rate"])
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(UsageError, match="expected a number"):
        from_mapping(SelectOptions, {name: value}).check()


@pytest.mark.parametrize("value", [[], {}, 5])
def test_what_is_no_path_is_refused(value):
    with pytest.raises(UsageError, match="expected the name of a file"):
        from_mapping(SelectOptions, {"output": value}).check()


def test_none_is_not_given():
    assert from_mapping(SelectOptions, {"block_size": None, "k": None, "seed": None}) == SelectOptions()


def test_a_number_of_any_size_is_one():
    assert from_mapping(SelectOptions, {"l1": 10**400}).l1 == float("inf")


@pytest.mark.parametrize("inputs", [5, 0.5, True, [3], [["rows"]]])
def test_inputs_are_a_list_of_paths(inputs):
    with pytest.raises(UsageError, match="expected a list of paths"):
        from_mapping(SelectOptions, {"inputs": inputs}).check()


@pytest.mark.parametrize("options", [{"inputs": ["a\0b"]}, {"labels": "a\0b"}, {"model": "\0"}])
def test_a_name_with_a_nul_is_refused(options):
    """No command line can hold one, but a file of TOML and a program can."""
    with pytest.raises(UsageError, match="holds a NUL"):
        from_mapping(SelectOptions, options).check()


@pytest.mark.parametrize("text", ["inputs = [3]", "inputs = [[1]]", 'inputs = ["\\u0000"]'])
def test_inputs_of_a_config_are_checked_before_they_are_used(text):
    with pytest.raises(UsageError, match="--config nightly: inputs: "):
        config_of(text.encode(), "nightly", SelectOptions)


@pytest.mark.parametrize(
    "text",
    ['groups = {a = "b"}', "k = 3.5", "k = true", 'k = "3"', "passes = 0", 'progress = "yes"', "keep = [1]"],
)
def test_a_config_says_what_it_means(text):
    with pytest.raises(UsageError, match="--config nightly: --"):
        config_of(text.encode(), "nightly", SelectOptions)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"gamma_doubling": 6.0}, "gamma_doubling has no use without gamma"),
        ({"pairs_per_row": 5}, "pairs_per_row has no use without interactions=2"),
        ({"sketch": "identity", "sketch_width": 1024}, "sketch_width has no use with sketch=identity"),
        ({"sketch": "identity", "sketch_depth": 3}, "sketch_depth has no use with sketch=identity"),
        ({"sketch": "identity", "active": "exact"}, "active has no use with sketch=identity"),
        ({"rule": "paper", "active": "exact"}, "active=exact has no use with rule=paper"),
    ],
)
def test_settings_that_others_leave_idle_are_refused(settings, complaint):
    with pytest.raises(UsageError, match=complaint):
        MissionParameters(**settings)
    MissionParameters(gamma=0.9, gamma_doubling=6.0, interactions=2, pairs_per_row=5)
    MissionParameters(rule="paper", active="estimated", sketch_width=1024)


def test_a_sketch_of_one_cell_is_refused_with_what_would_do():
    with pytest.raises(UsageError, match="sketch_width=1 tells nothing apart") as caught:
        sketch_width(Common(k=3), MissionParameters(sketch_width=1))
    assert "from 2 on" in caught.value.hint
