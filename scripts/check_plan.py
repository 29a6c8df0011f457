"""How far `fsstream plan` is from what runs take: every backend, on files given or made.

    scripts/check_plan.py [FILE...] [--k 100] [--algo NAME]... [--limit 120] [--shapes DIR]

Prints a line a run: predicted and measured peak of memory, their ratio, predicted and measured seconds.
`--shapes DIR` makes streams that differ in what memory may grow with (rows, features, names, classes), some
of them longer than what `plan` looks at, and checks those too. The last lines sum up, backend by file.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fsstream.algorithms import BACKENDS, backend
from fsstream.planning.beginning import LARGEST
from fsstream.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOWED = 0.10
DENSE = 50  # columns a random feature can be drawn over
TABLE = ("--format=csv", "--label-column=label")  # what a made .csv needs


PROGRAM = """
import sys
import fsstream.planning.beginning
from fsstream.cli.main import main
fsstream.planning.beginning.LARGEST = int(sys.argv.pop(1))
main()
"""


def run(*arguments: str, limit: float, look: int = LARGEST) -> subprocess.CompletedProcess[bytes] | None:
    """None when it works for longer; a busy machine may take its time."""
    command = [sys.executable, "-c", PROGRAM, str(look), *arguments]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))

    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=limited)
    return None if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--k", default="100")
    parser.add_argument("--algo", action="append", choices=BACKENDS)
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds of work; a run that takes longer is left out"
    )
    parser.add_argument(
        "--look", type=parse_size, default=LARGEST, help="what a plan looks at; less for small streams"
    )
    parser.add_argument("--shapes", type=Path, help="folder for the streams that are made")
    parser.add_argument(
        "--more", action="append", default=[], help="an option of select, as --more=--passes=2"
    )
    arguments = parser.parse_args()
    files = list(arguments.files)
    if arguments.shapes is not None:
        files += map(str, make_shapes(arguments.shapes))
    ratios: dict[str, dict[str, str]] = {}
    for path in files:
        for name in arguments.algo or BACKENDS:
            found = check(name, path, arguments)
            ratios.setdefault(name, {})[path] = found
    print("| backend | " + " | ".join(Path(path).name for path in files) + " |")
    print("|---" * (len(files) + 1) + "|")
    for name, by_file in ratios.items():
        print(f"| `{name}` | " + " | ".join(by_file[path] for path in files) + " |")


def check(name: str, path: str, asked: argparse.Namespace) -> str:
    """One backend on one file; the ratio, or why there is none."""
    limit = asked.limit
    options = ["--algo", name, "--quiet", *asked.more, *(TABLE if path.endswith(".csv") else ()), path]
    if "k" in backend(name).uses:
        options += ["--k", asked.k]
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary"
        done = run("select", *options, "--summary", str(summary), limit=limit)
        if done is None:
            print(f"{name:10} {Path(path).name}: longer than {limit:.0f} s", flush=True)
            return "slow"
        planned = run("plan", *options, limit=2 * limit, look=asked.look)
        if planned is None or planned.returncode or done.returncode:
            said = (planned.stderr if planned else b"plan took too long") or done.stderr
            print(f"{name:10} {Path(path).name}: {said.decode().splitlines()[:1]}", flush=True)
            return "refused" if done.returncode else "failed"
        measured = json.loads(summary.read_bytes())
    plan = json.loads(planned.stdout)
    ratio = plan["memory"] / measured["peak_memory"]
    print(
        f"{name:10} {Path(path).name:20} memory {plan['memory'] / 1e6:7.1f} of "
        f"{measured['peak_memory'] / 1e6:7.1f} MB {ratio:5.2f}   time {plan['seconds']:6.2f} of "
        f"{measured['seconds']:6.2f} s   passes {plan['passes']} of {measured['passes']}"
        f"   timed on {plan['timed_on']}",
        flush=True,
    )
    return f"{ratio:.2f}" if abs(ratio - 1) <= ALLOWED else f"**{ratio:.2f}**"


def make_shapes(folder: Path) -> Iterator[Path]:
    """Streams of known shapes; what is there already is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    shapes = {
        "short-rows.svm": lambda rng: sparse_rows(rng, rows=1_500_000, entries=6, features=5_000),
        "wide.svm": lambda rng: sparse_rows(rng, rows=60_000, entries=100, features=20_000_000),
        "names.txt": lambda rng: named_rows(rng, rows=150_000, entries=60, features=3_000_000),
        "dense.svm": lambda rng: dense_rows(rng, rows=120_000, columns=DENSE),
        "dense.csv": lambda rng: dense_table(rng, rows=300_000, columns=DENSE),
        "mixed.parquet": lambda rng: mixed_table(rng, rows=500_000, columns=24),
        "classes.svm": lambda rng: sparse_rows(rng, rows=60_000, entries=40, features=50_000, classes=8),
    }
    for name, make in shapes.items():
        path = folder / name
        if not path.exists():
            path.write_bytes(b"".join(make(np.random.default_rng(7))))
        yield path


def zipf(rng: np.random.Generator, shape: tuple[int, int], features: int) -> np.ndarray:
    """Features whose frequencies fall like 1 / rank, under numbers that tell nothing of the rank."""
    rank = np.exp(rng.random(shape) * np.log(features)).astype(np.int64)
    return rank * 2_654_435_761 % 4_294_967_291 + 1


def sparse_rows(
    rng: np.random.Generator, rows: int, entries: int, features: int, classes: int = 2
) -> Iterator[bytes]:
    for _ in range(rows // 1000):
        ids = np.sort(zipf(rng, (1000, entries), features), axis=1)
        labels = (ids % 97 < 48).sum(axis=1) * classes // (entries + 1)
        values = rng.integers(1, 10, ids.shape)
        for label, row, counts in zip(labels.tolist(), ids.tolist(), values.tolist(), strict=True):
            text = " ".join(f"{i}:{v}" for i, v in zip(row, counts, strict=True))
            yield f"{label if classes == 2 else f'c{label}'} {text}\n".encode()


def named_rows(rng: np.random.Generator, rows: int, entries: int, features: int) -> Iterator[bytes]:
    for _ in range(rows // 1000):
        ids = zipf(rng, (1000, entries), features)
        labels = (ids % 97 < 48).mean(axis=1) > 48 / 97
        for label, row in zip(labels.tolist(), ids.tolist(), strict=True):
            yield f"{'spam' if label else 'ham'} {' '.join(f'word{i:x}' for i in row)}\n".encode()


def dense_rows(rng: np.random.Generator, rows: int, columns: int) -> Iterator[bytes]:
    for label, row in _labelled(rng, rows, columns):
        yield f"{label} {' '.join(f'{i}:{v}' for i, v in enumerate(row, 1))}\n".encode()


def dense_table(rng: np.random.Generator, rows: int, columns: int) -> Iterator[bytes]:
    yield f"label,{','.join(f'x{i}' for i in range(columns))}\n".encode()
    for label, row in _labelled(rng, rows, columns):
        yield f"{label},{','.join(map(str, row))}\n".encode()


def mixed_table(rng: np.random.Generator, rows: int, columns: int) -> Iterator[bytes]:
    """Numbers, a column of words and one of lists, in row groups of 10,000."""
    import pyarrow as pa
    from pyarrow import parquet

    sink, writer = io.BytesIO(), None
    for _ in range(rows // 10_000):
        values = rng.normal(size=(10_000, columns)).round(4)
        label = np.where(values[:, :3].sum(axis=1) + values[:, 3] * values[:, 4] > 0, 1, -1)
        words = np.exp(rng.random(10_000) * np.log(200_000)).astype(int)
        tags = np.exp(rng.random((10_000, 5)) * np.log(1_000_000)).astype(int)
        numbers = {f"x{at}": values[:, at].astype(np.float32) for at in range(columns)}
        lists = [[f"t{tag}" for tag in row] for row in tags.tolist()]
        table = pa.table({"label": label, **numbers, "word": [f"w{word}" for word in words], "tags": lists})
        writer = writer or parquet.ParquetWriter(sink, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    yield sink.getvalue()


def _labelled(rng: np.random.Generator, rows: int, columns: int) -> Iterator[tuple[int, list[float]]]:
    for _ in range(rows // 1000):
        values = rng.normal(size=(1000, columns)).round(4)
        labels = np.where(values[:, :3].sum(axis=1) + values[:, 3] * values[:, 4] > 0, 1, -1)
        yield from zip(labels.tolist(), values.tolist(), strict=True)


if __name__ == "__main__":
    main()
