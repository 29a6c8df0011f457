"""The name of a product of two features: `a*b`, the same in every backend.

The smaller name in byte order stands first, `a*a` is a square; a `*` or `\\` inside a name is
escaped with `\\`, in single features beside products as well, so that none is taken for a product.
"""

from __future__ import annotations


def pair_name(a: bytes, b: bytes) -> bytes:
    """The names of two features as the name of their product."""
    return b"*".join(single_name(name) for name in sorted((a, b)))


def split_pair(name: bytes) -> tuple[bytes, ...]:
    """The factors a name stands for; a single one when it is no product."""
    factors = [bytearray()]
    letters = iter(name)
    for letter in letters:
        if letter == ord("\\"):
            factors[-1].append(next(letters, letter))
        elif letter == ord("*"):
            factors.append(bytearray())
        else:
            factors[-1].append(letter)
    return tuple(bytes(factor) for factor in factors)


def is_spelled(name: bytes) -> bool:
    """Whether a name is as they are written where products are possible; it may be another's all the same."""
    factors = split_pair(name)
    return len(factors) <= 2 and name == (pair_name(*factors) if len(factors) == 2 else single_name(*factors))


def single_name(name: bytes) -> bytes:
    """The name of a feature that is listed beside products."""
    return name.replace(b"\\", b"\\\\").replace(b"*", b"\\*")
