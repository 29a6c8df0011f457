"""The experiments of the columns family: figures 1 to 4 of the paper, speed, memory.

    python scripts/reproduce_os.py SECTION... [--repetitions N] [--sizes P...] [--data DIR]

Sections: regression, quick (the default rule only), correlated, classification, scans, workers,
threshold, real, speed, memory.
Each prints one Markdown table. abess, scikit-learn and liblinear-official are peers where installed.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import zstandard
from numpy.typing import NDArray

from fsstream import _native

if TYPE_CHECKING:
    from collections.abc import Callable

S, NOISE = 100, 0.1
Array = NDArray[np.float64]


@dataclass
class Problem:
    """Planted data and the truth."""

    X: Array
    y: Array
    w: Array
    X_test: Array | None = None
    y_test: Array | None = None

    @property
    def support(self) -> set[int]:
        return set(np.flatnonzero(self.w).tolist())


def planted(
    p: int, seed: int, correlation: float = 0.0, classes: bool = False, n: int = 0, s: int = S
) -> Problem:
    """Section 5 of the paper: Gaussian columns, s Gaussian weights, noise 0.1, n = 1.2 s log2 p."""
    rng = np.random.default_rng(seed)
    n = n or int(1.2 * s * math.log2(p))
    X = rng.standard_normal((2 * n if classes else n, p))
    for j in range(1, p if correlation else 1):
        X[:, j] = correlation * X[:, j - 1] + math.sqrt(1 - correlation**2) * X[:, j]
    w = np.zeros(p)
    w[rng.choice(p, s, replace=False)] = rng.standard_normal(s)
    if classes:
        y = np.sign(X @ w)
        return Problem(X[:n], y[:n], w, X[n:], y[n:])
    return Problem(X, X @ w + NOISE * rng.standard_normal(n), w)


def as_batch(X: Array, first: int = 0) -> _native.Batch:
    """Columns of X as the rows of a batch, named by numbers from `first`."""
    n, p = X.shape
    return _native.Batch.from_arrays(
        np.arange(p + 1, dtype=np.uint64) * np.uint64(n),
        np.tile(np.arange(1, n + 1, dtype=np.uint64), p),
        np.ascontiguousarray(X.T, dtype=np.float32).ravel(),
        np.zeros(p, np.float32),
        labels=[b"%d" % j for j in range(first, first + p)],
    )


Weights = tuple[dict[int, float], float]  # by column, and the intercept


def chosen(selected: tuple[list[bytes], NDArray[np.float32], float]) -> Weights:
    names, weights, intercept = selected
    return {int(name): float(w) for name, w in zip(names, weights, strict=True)}, intercept


def pool(problem: Problem, loss: str, scans: int = 2, columns: int = 2, s: int = S) -> Weights:
    kernel = _native.ColumnPool(problem.y.astype(np.float32), s, columns)
    scan(kernel, problem, scans)
    return chosen(kernel.select(loss))


def rule(name: str) -> Callable[..., Weights]:
    def run(problem: Problem, loss: str, scans: int = 2, s: int = S) -> Weights:
        kernel = _native.Substitution(problem.y.astype(np.float32), loss, name, s)
        scan(kernel, problem, scans)
        return chosen(kernel.select())

    return run


def proj_gd(problem: Problem, loss: str, s: int = S, scans: int = 200) -> Weights:
    kernel = _native.ProjectedGradient(problem.y.astype(np.float32), loss, s)
    scan(kernel, problem, scans)
    return chosen(kernel.select())


def grafting(problem: Problem, loss: str, s: int = S, scans: int = 100) -> Weights:
    kernel = _native.Grafting(problem.y.astype(np.float32), loss, k=s)
    scan(kernel, problem, scans)
    return chosen(kernel.select())


def asy(
    problem: Problem, loss: str, workers: int, scans: int = 2, s: int = S, threads: bool = False
) -> Weights:
    kernel = _native.AsynchronousSubstitution(problem.y.astype(np.float32), loss, s, workers, threads=threads)
    scan(kernel, problem, scans)
    return chosen(kernel.select())


def scan(kernel: object, problem: Problem, scans: int) -> None:
    batch = as_batch(problem.X)
    for _ in range(scans):
        assert kernel.update(batch) is None  # type: ignore[attr-defined]
        if kernel.end_scan() is False:  # type: ignore[attr-defined]
            break


def refitted(problem: Problem, support: Array, loss: str) -> Weights:
    """A peer's support through the same last step as ours."""
    kernel = _native.ColumnPool(problem.y.astype(np.float32), len(support), 1)
    batch = as_batch(problem.X[:, support])
    kernel.update(batch)
    weights, intercept = chosen(kernel.select(loss))
    return {int(support[j]): w for j, w in weights.items()}, intercept


def l1_support(problem: Problem, loss: str, s: int) -> Array:
    """The largest |w| of the l1 path's first model with at least s features."""
    if loss == "squared":
        from sklearn.linear_model import lasso_path

        y = problem.y - problem.y.mean()
        largest = np.abs(problem.X.T @ y).max() / len(y)
        _, path, _ = lasso_path(problem.X, y, alphas=largest * np.geomspace(1, 1e-3, 60))
        enough = [w for w in path.T if np.count_nonzero(w) >= s]
        w = enough[0] if enough else path[:, -1]
    else:
        from sklearn.svm import LinearSVC

        for c in np.geomspace(1e-4, 10, 26):
            model = LinearSVC(penalty="l1", dual=False, C=c, max_iter=300, tol=1e-2).fit(problem.X, problem.y)
            w = model.coef_[0]
            if np.count_nonzero(w) >= s:
                break
    return np.argsort(-np.abs(w))[:s]


def l1(problem: Problem, loss: str, s: int = S) -> Weights:
    return refitted(problem, l1_support(problem, loss, s), loss)


def abess(problem: Problem, loss: str, s: int = S) -> Weights:
    from abess import LinearRegression, LogisticRegression

    regression = loss == "squared"
    model = (LinearRegression if regression else LogisticRegression)(support_size=[s])
    model.fit(problem.X, problem.y if regression else (problem.y > 0).astype(int))
    return refitted(problem, np.flatnonzero(model.coef_.ravel()), loss)


def liblinear(problem: Problem, loss: str, s: int = S) -> Weights:
    """l1-LIBLINEAR (-s 5: l1-regularised squared hinge), C grown until s features stay."""
    from liblinear.liblinearutil import train
    from scipy.sparse import csr_matrix

    rows = csr_matrix(problem.X)
    for c in np.geomspace(1e-4, 10, 26):
        model = train(problem.y, rows, f"-s 5 -c {c} -e 0.01 -q")
        w = np.array([model.get_decfun_coef(j + 1) for j in range(problem.X.shape[1])])
        if np.count_nonzero(w) >= s:
            break
    return refitted(problem, np.argsort(-np.abs(w))[:s], loss)


def measures(problem: Problem, found: Weights, loss: str) -> tuple[float, float]:
    """Recall, and the normalised distance to the truth or the test error."""
    weights, intercept = found
    recall = len(problem.support & weights.keys()) / len(problem.support)
    w = np.zeros(len(problem.w))
    w[list(weights)] = list(weights.values())
    if loss == "squared":
        return recall, float(np.linalg.norm(w - problem.w) / np.linalg.norm(problem.w))
    return recall, float(np.mean(np.sign(problem.X_test @ w + intercept) != problem.y_test))


def table(
    title: str, methods: dict[str, Callable[[Problem], Weights]], problems: list[Problem], loss: str
) -> None:
    """One row a method: mean recall, mean error, mean seconds of this process."""
    print(f"\n{title}\n\n| method | recall | error | CPU s |\n|---|---|---|---|")
    for name, method in methods.items():
        rows = []
        try:
            for problem in problems:
                begin = time.process_time()
                found = method(problem)
                rows.append((*measures(problem, found, loss), time.process_time() - begin))
        except ImportError as error:
            print(f"| {name} | not installed: {error.name} | | |")
            continue
        recall, wrong, seconds = np.mean(rows, axis=0)
        print(f"| {name} | {recall:.3f} | {wrong:.3f} | {seconds:.2f} |", flush=True)


def bound(method: Callable[..., Weights], loss: str, **options: int) -> Callable[[Problem], Weights]:
    return lambda problem: method(problem, loss, **options)


def ours(loss: str) -> dict[str, Callable[[Problem], Weights]]:
    return {
        "os (pool), 2 scans": bound(pool, loss),
        "os rule=paper, 2 scans": bound(rule("paper"), loss),
        "projection, 2 scans": bound(rule("projection"), loss),
        "proximal, 2 scans": bound(rule("proximal"), loss),
        "proj-gd": bound(proj_gd, loss),
        "grafting": bound(grafting, loss),
    }


def regression(given: argparse.Namespace) -> None:
    for p in given.sizes or (2000, 4000, 6000):
        problems = [planted(p, 5000 + r) for r in range(given.repetitions)]
        methods = {**ours("squared"), "lasso path": bound(l1, "squared"), "abess": bound(abess, "squared")}
        table(f"Regression, p = {p}, {given.repetitions} repetitions", methods, problems, "squared")


def quick(given: argparse.Namespace) -> None:
    """Only the default rule: recall after two scans."""
    for p in given.sizes or (2000, 4000, 6000):
        problems = [planted(p, 5000 + r) for r in range(given.repetitions)]
        table(
            f"Regression, p = {p}, {given.repetitions} repetitions",
            {"os (pool), 2 scans": bound(pool, "squared")},
            problems,
            "squared",
        )


def correlated(given: argparse.Namespace) -> None:
    problems = [planted(2000, 6000 + r, 0.8) for r in range(given.repetitions)]
    methods = {
        "os (pool), 2 scans": bound(pool, "squared"),
        "os (pool), columns=3": bound(pool, "squared", columns=3),
        "os rule=paper, 2 scans": bound(rule("paper"), "squared"),
        "proj-gd": bound(proj_gd, "squared"),
        "abess": bound(abess, "squared"),
    }
    table(f"AR(1) columns, 0.8, p = 2000, {given.repetitions} repetitions", methods, problems, "squared")


def classification(given: argparse.Namespace) -> None:
    for p in given.sizes or (1000, 3000, 5000):
        problems = [planted(p, 7000 + r, classes=True) for r in range(given.repetitions)]
        loss = "squared-hinge"
        methods = {**ours(loss), "l1-LIBLINEAR": bound(liblinear, loss), "abess": bound(abess, loss)}
        table(f"Classification, p = {p}, {given.repetitions} repetitions", methods, problems, loss)


def scans(given: argparse.Namespace) -> None:
    problems = [planted(2000, 8000 + r) for r in range(given.repetitions)]
    methods = {f"os (pool), {n} scans": bound(pool, "squared", scans=n) for n in range(1, 6)}
    methods |= {f"rule=paper, {n} scans": bound(rule("paper"), "squared", scans=n) for n in range(1, 6)}
    table(f"Scans, regression, p = 2000, {given.repetitions} repetitions", methods, problems, "squared")


def workers(given: argparse.Namespace) -> None:
    problems = [planted(2000, 9000 + r) for r in range(given.repetitions)]
    methods = {f"asy-os, {q} workers": bound(asy, "squared", workers=q) for q in (1, 2, 4, 6, 8, 10)}
    table(f"Simulated workers, p = 2000, {given.repetitions} repetitions", methods, problems, "squared")
    problems = [planted(1000, 9100 + r, classes=True) for r in range(given.repetitions)]
    loss = "squared-hinge"
    methods = {f"asy-os, {q} workers": bound(asy, loss, workers=q) for q in (1, 2, 4, 6, 8, 10)}
    table(f"The same, classification, p = 1000, {given.repetitions} repetitions", methods, problems, loss)


def threshold(given: argparse.Namespace) -> None:
    """Figure 3: wall time on native threads until the objective is under a hundredth of its start."""
    print("\nTime to 1 % of the first objective, n = 1000, p = 8192, native threads\n")
    print("| task | workers | wall s | speed-up |\n|---|---|---|---|")
    for loss, s in (("squared", 64), ("squared-hinge", 32)):
        problem = planted(8192, 1, classes=loss != "squared", n=1000, s=s)
        target = 0.01 if loss == "squared" else 0.35
        y, parts = problem.y.astype(np.float32), as_batch(problem.X)
        alone = 0.0
        for q in (1, 2, 4):
            best = min(time_to(y, parts, loss, s, q, target) for _ in range(given.repetitions))
            alone = alone or best
            print(f"| {loss}, s = {s} | {q} | {best:.2f} | {alone / best:.2f} |", flush=True)


def time_to(y: NDArray[np.float32], batch: _native.Batch, loss: str, s: int, q: int, target: float) -> float:
    kernel = _native.AsynchronousSubstitution(y, loss, s, q, threads=True)
    goal = target * kernel.objective
    begin = time.perf_counter()
    for _ in range(12):
        kernel.update(batch)
        kernel.end_scan()
        if kernel.objective <= goal:
            return time.perf_counter() - begin
    return math.inf


def load(path: Path, p: int) -> tuple[Array, Array]:
    """A libsvm file as dense rows."""
    text = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().decode()
    lines = text.splitlines()
    X, y = np.zeros((len(lines), p)), np.zeros(len(lines))
    for row, line in enumerate(lines):
        label, *entries = line.split()
        y[row] = float(label)
        for entry in entries:
            index, value = entry.split(":")
            X[row, int(index) - 1] = float(value)
    return X, np.where(y == y.max(), 1.0, -1.0)


def splits(name: str, data: Path, repetitions: int) -> list[Problem]:
    """Leukemia and colon: two thirds to train; mnist38: 1 %; dorothea: its own split."""
    p = {"leukemia_golub": 7129, "colon_alon": 2000, "dorothea": 100_000, "mnist38": 784}[name]
    if name == "dorothea":
        X, y = load(data / name / "train.libsvm.zst", p)
        return [Problem(X, y, np.zeros(p), *load(data / name / "test.libsvm.zst", p))]
    X, y = load(data / name / ("train.libsvm.zst" if name == "mnist38" else "all.libsvm.zst"), p)
    share = 0.01 if name == "mnist38" else 2 / 3
    problems = []
    for r in range(repetitions):
        order = np.random.default_rng(r).permutation(len(y))
        cut = int(share * len(y))
        train, test = order[:cut], order[cut:]
        problems.append(Problem(X[train], y[train], np.zeros(p), X[test], y[test]))
    return problems


def real(given: argparse.Namespace) -> None:
    """Figure 4's kind: test error against s, scans and workers."""
    loss = "squared-hinge"
    for name in given.sets:
        problems = splits(name, given.data, given.repetitions)
        print(f"\n{name}: balanced test error, {len(problems)} splits\n")
        print("| method | s = 10 | s = 20 | s = 50 |\n|---|---|---|---|")
        methods: dict[str, Callable[..., Weights]] = {
            "os (pool), 1 scan": lambda q, s: pool(q, loss, scans=1, s=s),
            "os (pool), 2 scans": lambda q, s: pool(q, loss, s=s),
            "os (pool), 4 scans": lambda q, s: pool(q, loss, scans=4, s=s),
            "rule=paper, 2 scans": lambda q, s: rule("paper")(q, loss, s=s),
            "asy-os, 4 workers": lambda q, s: asy(q, loss, 4, s=s),
            "proj-gd, 50 scans": lambda q, s: proj_gd(q, loss, s=s, scans=50),
            "l1-LIBLINEAR": lambda q, s: liblinear(q, loss, s=s),
        }
        for title, method in methods.items():
            cells = []
            for s in (10, 20, 50):
                cells.append(np.mean([balanced_error(q, method(q, s)) for q in problems]))
            print(f"| {title} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def balanced_error(problem: Problem, found: Weights) -> float:
    weights, intercept = found
    score = problem.X_test[:, list(weights)] @ np.array(list(weights.values())) + intercept
    wrong = np.sign(score) != problem.y_test
    return float(np.mean([wrong[problem.y_test == label].mean() for label in (-1, 1)]))


def rejected(kernel: _native.ColumnPool, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """The columns that cost O(n): rejected without a look at the pool."""
    cheap = []
    kernel.end_scan()
    for j, column in enumerate(columns):
        before = kernel.counts[1]
        kernel.update(as_batch(column[:, None], 1000 + j))
        cheap.append(kernel.counts[1] > before)
    print(f"\n{np.mean(cheap):.1%} of the arrivals are rejected in O(n); the rest are retained or looked at")
    return columns[np.array(cheap)]


def speed(given: argparse.Namespace) -> None:
    """Columns in memory: 10,000 samples, k = 100, noise after a thousand features of which 50 matter."""
    n, p = 10_000, 3000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((p, n), dtype=np.float32)
    kept = X[:1000]
    y = (kept[:50].T @ rng.standard_normal(50) + rng.standard_normal(n)).astype(np.float32)
    kernel = _native.ColumnPool(y, S)
    kernel.update(as_batch(kept.T))
    for _ in range(3):  # until nothing enters any more
        kernel.end_scan()
        kernel.update(as_batch(X[1000:].T, 1000))
    noise = as_batch(rejected(kernel, X[1000:]).T, 1_000_000)
    before = kernel.counts
    best, bare = math.inf, math.inf
    flat = noise.values
    for _ in range(max(given.repetitions, 5)):
        kernel.end_scan()
        begin = time.perf_counter()
        kernel.update(noise)
        best = min(best, time.perf_counter() - begin)
        begin = time.perf_counter()
        flat.sum(), noise.keys.max()
        bare = min(bare, time.perf_counter() - begin)
    seen, screened = (after - now for after, now in zip(kernel.counts[:2], before[:2], strict=True))
    size = 4 * n * len(noise)
    print("\nRejected arrivals\n\n| what | GB/s of values | with the batch's keys |\n|---|---|---|")
    share = f"{screened / seen:.1%} rejected in O(n)"
    print(f"| os (pool), {share} | {size / best / 1e9:.2f} | {3 * size / best / 1e9:.2f} |")
    print(f"| numpy sum of values, max of keys | {size / bare / 1e9:.2f} | {3 * size / bare / 1e9:.2f} |")
    problem = planted(2000, 3)
    batch, targets = as_batch(problem.X), problem.y.astype(np.float32)
    print("\n| asynchronous threads, two scans of p = 2000 | wall s |\n|---|---|")
    for q in (1, 2):
        times = []
        for _ in range(max(given.repetitions, 5)):
            asynchronous = _native.AsynchronousSubstitution(targets, "squared", S, q, threads=True)
            begin = time.perf_counter()
            for _ in range(2):
                asynchronous.update(batch)
                asynchronous.end_scan()
            times.append(time.perf_counter() - begin)
        print(f"| {q} | {min(times):.3f} |")


MEMORY_CHILD = """
import resource, sys, numpy as np
from fsstream import _native
n, total = 2000, int(sys.argv[1])
rng = np.random.default_rng(0)
kernel = _native.ColumnPool(rng.standard_normal(n).astype(np.float32), 50)
starts, keys = np.arange(101, dtype=np.uint64) * n, np.tile(np.arange(1, n + 1, dtype=np.uint64), 100)
for part in range(total // 100):
    kernel.update(_native.Batch.from_arrays(starts, keys, rng.standard_normal(100 * n, dtype=np.float32),
        np.zeros(100, np.float32), labels=[b"%d" % (100 * part + j) for j in range(100)]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, kernel.column_bytes)
"""


def memory(_: argparse.Namespace) -> None:
    print("\n| features of 2,000 samples, k = 50 | peak RSS MB | retained columns, bytes |\n|---|---|---|")
    for total in (1000, 10_000, 100_000):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY_CHILD, str(total)], capture_output=True, text=True, check=True
        )
        rss, kept = done.stdout.split()
        print(f"| {total:,} | {rss} | {int(kept):,} |", flush=True)


SECTIONS = {
    f.__name__: f
    for f in (regression, quick, correlated, classification, scans, workers, threshold, real, speed, memory)
}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("sections", nargs="+", choices=SECTIONS)
    arguments.add_argument("--repetitions", type=int, default=30)
    arguments.add_argument("--sizes", type=int, nargs="*")
    arguments.add_argument(
        "--sets", nargs="*", default=["leukemia_golub", "colon_alon", "dorothea", "mnist38"]
    )
    arguments.add_argument("--data", type=Path, default=Path("data"))
    given = arguments.parse_args()
    for section in given.sections:
        SECTIONS[section](given)


if __name__ == "__main__":
    main()
