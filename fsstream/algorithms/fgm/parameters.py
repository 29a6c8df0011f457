"""What `--set` knows about fgm."""

from __future__ import annotations

from dataclasses import dataclass

from fsstream.algorithms.learner import parameter


@dataclass(frozen=True)
class FgmParameters:
    """Zero means: found by the rule in schedule.py."""

    rule: str = parameter(
        "trim",
        "trim: select more features than k, then drop the weakest and fit again until k are left; "
        "paper: the method as its paper has it, with C = 10; features may come again in later rounds",
        choices=("trim", "paper"),
    )
    B: int = parameter(0, "how many features (or groups) each round adds; 0: follows from k", low=0)
    C: float = parameter(
        0.0,
        "weight of the losses against the size of the weights: larger fits the rows more closely; 0: found "
        "from the data (paper: 10)",
        low=0.0,
        high=1e30,
    )
    rounds: int = parameter(0, "how many rounds; 0: as many as k needs", low=0)
    tolerance: float = parameter(
        0.0,
        "the fit of a round ends when an iteration lowers the objective by less than this share; 0: 1e-4 "
        "(paper: 1e-3)",
        low=0.0,
        high=1.0,
    )
    stop: float = parameter(
        0.0,
        "no more rounds when one lowers the objective by less than this share of what it is without "
        "features, but never before there are k features; 0: rounds go on",
        low=0.0,
        high=1.0,
    )
    gap: float = parameter(
        0.0,
        "no more rounds when the lower and the upper bound of the paper's Lemma 1 are closer than this "
        "share of the objective, but never before there are k features; 0: rounds go on",
        low=0.0,
    )
    trim: float = parameter(
        0.0,
        "how many features are selected before trimming, as a multiple of k; 0: 1 to 2, from the data; 1: "
        "no trimming",
        low=0,
        high=1000,
    )
    degree: int = parameter(1, "2: products of two features, and squares, are features, too", low=1, high=2)
    gamma: float = parameter(
        4.0, "with degree=2: how much products count against single features (gamma; paper: 4 or 8)", low=0.0
    )
    expand: str = parameter(
        "none",
        "replace each feature by a group of features that together make a curve of it (an additive "
        "kernel); k counts the original features: histogram: 100 a group, by the value's size relative to "
        "the largest; gaussian: 11 a group",
        choices=("none", "histogram", "gaussian"),
    )
    exponent: float = parameter(
        1.0, "with expand=histogram: a of the kernel, the sum of min(|x|^a, |z|^a)", low=0.0
    )
    width: float = parameter(
        0.25,
        "with expand=gaussian: how wide the kernel is, as a share of the range of a feature's values",
        low=0.0,
    )
    groups: str = parameter(
        "none",
        "namespace: what stands before ^ in a feature's name is its group, and --k counts groups; "
        "tree: groups are those of --groups, and a group a/b/c lies in a/b, which lies in a",
        choices=("none", "namespace", "tree"),
    )
