"""What `--set` knows about fgm."""

from __future__ import annotations

from dataclasses import dataclass

from fsstream.algorithms.learner import parameter


@dataclass(frozen=True)
class FgmParameters:
    """Zero means: found by the rule in schedule.py."""

    rule: str = parameter(
        "trim",
        "trim: more features than k are generated, then trimmed to k with refits; "
        "paper: the literal method, C = 10, features may come again in later rounds",
        choices=("trim", "paper"),
    )
    B: int = parameter(0, "features (or groups) a round brings; 0: from k", low=0)
    C: float = parameter(0.0, "weight of the losses; 0: from the data (paper: 10)", low=0.0, high=1e30)
    rounds: int = parameter(0, "rounds; 0: as many as k needs", low=0)
    tolerance: float = parameter(
        0.0,
        "inner iterations stop when the objective falls by less than this share; 0: 1e-4 (paper: 1e-3)",
        low=0.0,
        high=1.0,
    )
    stop: float = parameter(
        0.0,
        "rounds stop when the objective falls by less than this share of what it is without features, "
        "never below k",
        low=0.0,
        high=1.0,
    )
    gap: float = parameter(
        0.0,
        "rounds stop when the bounds of Lemma 1 are closer than this share of the objective, never below k",
        low=0.0,
    )
    trim: float = parameter(
        0.0, "features generated as a multiple of k; 0: by rule; 1: no trimming", low=0, high=1000
    )
    degree: int = parameter(1, "2: products and squares of features are features too", low=1, high=2)
    gamma: float = parameter(4.0, "gamma of the degree-2 map (paper: 4 or 8)", low=0.0)
    expand: str = parameter(
        "none",
        "additive kernels, each feature a group and k counting features: histogram (intersection): 100 "
        "features a group, of the value's size relative to the largest; gaussian: 11 a group",
        choices=("none", "histogram", "gaussian"),
    )
    exponent: float = parameter(
        1.0, "a of the histogram intersection kernel, sum of min(|x|^a, |z|^a)", low=0.0
    )
    width: float = parameter(
        0.25, "of the additive Gaussian kernel, as a share of the range of a feature's values", low=0.0
    )
    groups: str = parameter(
        "none",
        "namespace: features are grouped by what stands before ^ in their name; "
        "tree: as in --groups, and a group a/b/c lies in a/b, which lies in a",
        choices=("none", "namespace", "tree"),
    )
