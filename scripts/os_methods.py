"""The columns family and its peers as functions: a problem in, weights by column and an intercept out."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from os_problems import Array, Problem, S, as_batch

from fsstream import _native
from fsstream.algorithms.online_substitution import shrinkage

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Weights = tuple[dict[int, float], float]  # by column, and the intercept
PEERS = ("abess", "liblinear.liblinearutil", "sklearn.linear_model", "sklearn.svm", "scipy.sparse")


def load_peers() -> None:
    """Imports what is installed, so that no method's time holds an import."""
    for module in PEERS:
        with suppress(ImportError):
            import_module(module)


def chosen(selected: tuple[list[bytes], NDArray[np.float32], float]) -> Weights:
    names, weights, intercept = selected
    return {int(name): float(w) for name, w in zip(names, weights, strict=True)}, intercept


def pool_of(problem: Problem, loss: str, s: int, columns: int = 3, shrink: bool = True) -> _native.ColumnPool:
    """As the backend makes it: with a ridge of s / n where classes are told apart."""
    ridge = shrinkage(s, len(problem.y), loss) if shrink else 0.0
    return _native.ColumnPool(problem.y.astype(np.float32), s, columns, ridge=ridge)


def pool(
    problem: Problem, loss: str, scans: int = 2, columns: int = 3, s: int = S, shrink: bool = True
) -> Weights:
    kernel = pool_of(problem, loss, s, columns, shrink)
    scan(kernel, problem, scans)
    return chosen(kernel.select(loss))


def rule(name: str) -> Callable[..., Weights]:
    def run(problem: Problem, loss: str, scans: int = 2, s: int = S) -> Weights:
        kernel = _native.Substitution(problem.y.astype(np.float32), loss, name, s)
        scan(kernel, problem, scans)
        return chosen(kernel.select())

    return run


class ScanByScan:
    """What `os` selects after one scan, two, ...: asked in that order, a problem is scanned once for all."""

    def __init__(self, name: str, loss: str) -> None:
        self.name, self.loss = name, loss
        self.problem: Problem | None = None
        self.done = 0

    def after(self, scans: int, problem: Problem) -> Weights:
        if problem is not self.problem or scans < self.done:
            self.problem, self.done = problem, 0
            self.kernel: _native.ColumnPool | _native.Substitution = (
                pool_of(problem, self.loss, S)
                if self.name == "pool"
                else _native.Substitution(problem.y.astype(np.float32), self.loss, self.name, S)
            )
        scan(self.kernel, problem, scans - self.done)
        self.done = scans
        if isinstance(self.kernel, _native.ColumnPool):
            return chosen(self.kernel.select(self.loss))
        return chosen(self.kernel.select())


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
    batch = as_batch(problem.X) if problem.batch is None else problem.batch
    for _ in range(scans):
        assert kernel.update(batch) is None  # type: ignore[attr-defined]
        if kernel.end_scan() is False:  # type: ignore[attr-defined]
            break


def refitted(problem: Problem, support: Array, loss: str, shrink: bool = False) -> Weights:
    """A peer's support through the same last step as ours, with our ridge or without."""
    kernel = pool_of(problem, loss, len(support), 1, shrink)
    batch = as_batch(problem.X[:, support])
    kernel.update(batch)
    weights, intercept = chosen(kernel.select(loss))
    return {int(support[j]): w for j, w in weights.items()}, intercept


def l1_support(problem: Problem, loss: str, s: int) -> Array:
    """The largest |w| of the l1 path's first model with at least s features."""
    if loss == "squared":
        from sklearn.linear_model import lasso_path

        X, y = np.asfortranarray(problem.X), problem.y - problem.y.mean()
        largest = np.abs(X.T @ y).max() / len(y)
        w = np.zeros(X.shape[1])
        for alpha in largest * np.geomspace(1, 1e-3, 60):
            w = lasso_path(X, y, alphas=[alpha], coef_init=w)[1][:, 0]
            if np.count_nonzero(w) >= s:
                break
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
    varied = np.flatnonzero(np.ptp(problem.X, axis=0))  # abess divides by the deviation of each column
    model.fit(problem.X[:, varied], problem.y if regression else (problem.y > 0).astype(int))
    return refitted(problem, varied[np.flatnonzero(model.coef_.ravel())], loss)


def liblinear(problem: Problem, loss: str, s: int = S, bias: int = -1, shrink: bool = False) -> Weights:
    """l1-LIBLINEAR (-s 5: l1-regularised squared hinge), C grown until s features stay; bias=1 gives it an
    intercept, which real classes need."""
    from liblinear.liblinearutil import train
    from scipy.sparse import csr_matrix

    rows = csr_matrix(problem.X)
    for c in np.geomspace(1e-4, 10, 26):
        model = train(problem.y, rows, f"-s 5 -c {c} -e 0.01 -B {bias} -q")
        w = np.array([model.get_decfun_coef(j + 1) for j in range(problem.X.shape[1])])
        if np.count_nonzero(w) >= s:
            break
    return refitted(problem, np.argsort(-np.abs(w))[:s], loss, shrink)


def bound(method: Callable[..., Weights], loss: str, **options: int) -> Callable[[Problem], Weights]:
    return lambda problem: method(problem, loss, **options)
