"""One small planted problem in every format: three of forty features decide the label."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

ROWS = 400
_TRUE = {3: 2.0, 17: -2.0, 29: 1.5}


@dataclass(frozen=True)
class Sample:
    """The text of a stream and the options it is read with."""

    text: bytes
    options: dict[str, object] = field(default_factory=dict)
    informative: frozenset[str] = frozenset()


def _rows() -> list[tuple[int, dict[int, int]]]:
    rng = random.Random(7)
    rows = []
    for _ in range(ROWS):
        counts = {feature: rng.randint(1, 3) for feature in sorted(rng.sample(range(1, 41), 12))}
        score = sum(_TRUE.get(feature, 0.0) * count for feature, count in counts.items())
        rows.append((1 if score + rng.gauss(0, 0.3) > 0.3 else -1, counts))
    return rows


def _lines(record: object) -> bytes:
    return "".join(record(label, counts) for label, counts in _rows()).encode()  # type: ignore[operator]


def _kmer_word(feature: int) -> str:
    return "".join("ACGT"[feature >> shift & 3] for shift in (6, 4, 2, 0))


def _sequence(counts: dict[int, int]) -> str:
    return "N".join(_kmer_word(feature) for feature in counts)


def _libsvm(label: int, counts: dict[int, int]) -> str:
    return f"{label} " + " ".join(f"{f}:{c}" for f, c in counts.items()) + "\n"


def _named(label: int, counts: dict[int, int]) -> str:
    return f"{label} " + " ".join(f"w{f}:{c}" for f, c in counts.items()) + "\n"


def _tokens(label: int, counts: dict[int, int]) -> str:
    return f"{label}\t" + " ".join(" ".join([f"w{f}"] * c) for f, c in counts.items()) + "\n"


def _vw(label: int, counts: dict[int, int]) -> str:
    return f"{label} |n " + " ".join(f"w{f}:{c}" for f, c in counts.items()) + "\n"


def _csv(label: int, counts: dict[int, int]) -> str:
    return ",".join([str(label), *(str(counts.get(f, "")) for f in range(1, 41))]) + "\n"


def _jsonl(label: int, counts: dict[int, int]) -> str:
    inside = ",".join(f'"w{f}":{c}' for f, c in counts.items())
    return f'{{"label":{label},{inside}}}\n'


_HEADER = ",".join(["y", *(f"w{f}" for f in range(1, 41))]) + "\n"
_WORDS = frozenset({"w3", "w17", "w29"})
_KMERS = frozenset(_kmer_word(feature) for feature in _TRUE)
_KMER = {"kmer": 4, "canonical": False}

SAMPLES = {
    "libsvm": Sample(_lines(_libsvm), {}, frozenset({"3", "17", "29"})),
    "pairs": Sample(_lines(_named), {}, _WORDS),
    "tokens": Sample(_lines(_tokens), {}, _WORDS),
    "vw": Sample(_lines(_vw), {}, frozenset({"n^w3", "n^w17", "n^w29"})),
    "csv": Sample(_HEADER.encode() + _lines(_csv), {"label_column": "y"}, _WORDS),
    "tsv": Sample((_HEADER.encode() + _lines(_csv)).replace(b",", b"\t"), {"label_column": "y"}, _WORDS),
    "jsonl": Sample(_lines(_jsonl), {}, _WORDS),
    "seq": Sample(_lines(lambda label, counts: f"{label}\t{_sequence(counts)}\n"), _KMER, _KMERS),
    "fasta": Sample(_lines(lambda label, counts: f">r label={label}\n{_sequence(counts)}\n"), _KMER, _KMERS),
    "fastq": Sample(
        _lines(
            lambda label, counts: (
                f"@r label={label}\n{_sequence(counts)}\n+\n{'I' * len(_sequence(counts))}\n"
            )
        ),
        _KMER,
        _KMERS,
    ),
}

# Three classes named by words, by which of three of the features weighs most; the last one comes late.
CLASSES = ("fish", "bird", "cat")


def _class_of(counts: dict[int, int]) -> str:
    best = max(_TRUE, key=lambda feature: (counts.get(feature, 0), feature))
    return CLASSES[sorted(_TRUE).index(best)]


_CLASS_LINES = [
    f"{_class_of(counts)}\t" + " ".join(f"w{f}:{c}" for f, c in counts.items()) + "\n"
    for _, counts in sorted(_rows() * 3, key=lambda row: _class_of(row[1]) == CLASSES[-1])
]
CLASS_SAMPLE = Sample("".join(_CLASS_LINES[::2] + _CLASS_LINES[1::2]).encode(), {}, _WORDS)
