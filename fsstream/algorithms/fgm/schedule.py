"""How many features a round brings, how many rounds there are, and which C fits the data.

In: k, the parameters, and what the first scan saw. Out: a Schedule; nothing in it needs tuning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsstream.algorithms.fgm.parameters import FgmParameters

MOST_ROUNDS = 60  # a larger k gets a larger B instead of more scans
PAPER_ROUNDS = 10
ROWS_A_FEATURE = 12  # chosen on validation rows: below, features generated in excess cost accuracy
WIDE = 4  # times k: features of which most are never chosen
SPARSE = 0.1  # share of entries below which rows count as sparse
PAPER_C = 10.0


@dataclass(frozen=True)
class Seen:
    """The first scan in numbers."""

    rows: int
    entries: int
    features: int
    mean_square: float  # of |x_i|, over rows
    groups: int = 0  # that k counts; 0: it counts features


@dataclass(frozen=True)
class Schedule:
    """`B` new features a round, until there are `target` of them; `k` stay."""

    k: int
    B: int
    target: int
    C: float
    rounds: int  # 0: no limit but the target
    guessed: bool = False  # C may be far too small: rows that are held out will say


def schedule(k: int, parameters: FgmParameters, seen: Seen) -> Schedule:
    """The rule that turns k into rounds.

    trim:  generate 1.5 k features (2 k when rows are sparse; k when rows are fewer than 12 a
           feature, k groups counting as the features of k mean ones),
           B = k / 10 of them a round but at least 2 and at most 10, or as many more as keep the
           rounds at 60.
    paper: generate k features in ten rounds.
    """
    literal = parameters.rule == "paper"
    target = math.ceil(k * (parameters.trim or (1.0 if literal else over_generation(k, seen))))
    target = max(k, target)
    rounds = parameters.rounds
    if parameters.B:
        B = parameters.B
    elif rounds:
        B = math.ceil(target / rounds)
    elif literal:
        B = math.ceil(k / PAPER_ROUNDS)
    else:
        B = max(2, min(10, k // 10), math.ceil(target / MOST_ROUNDS))
    C = parameters.C or (PAPER_C if literal else cost(k, seen))
    guessed = not (literal or parameters.C) and is_guess(k, seen)
    return Schedule(k=k, B=B, target=target, C=C, rounds=rounds, guessed=guessed)


def is_guess(k: int, seen: Seen) -> bool:
    """Whether the length of rows says little of the k columns that will be chosen, and there are rows
    enough for some of them to be held out."""
    return not is_sparse(seen) and seen.features > WIDE * k and seen.rows >= ROWS_A_FEATURE * k


def over_generation(k: int, seen: Seen) -> float:
    """Trimming needs rows enough to tell features apart; sparse ones have more near-copies to drop."""
    columns = k * (seen.features / seen.groups if seen.groups else 1.0)
    if seen.rows < ROWS_A_FEATURE * columns:
        return 1.0
    return 2.0 if is_sparse(seen) else 1.5


def is_sparse(seen: Seen) -> bool:
    """Whether most features are absent from most rows."""
    return seen.entries < SPARSE * seen.rows * seen.features


def cost(k: int, seen: Seen) -> float:
    """C for rows of any length: what C = 100 is for rows of unit length, less when rows are few.

    Of groups in dense rows the length of k counts: |x_i|^2 grows with all that are never chosen.
    """
    share = 1.0 if is_sparse(seen) or not seen.groups else min(1.0, k / seen.groups)
    return min(100.0, max(10.0, seen.rows / 100)) / (share * seen.mean_square or 1.0)
