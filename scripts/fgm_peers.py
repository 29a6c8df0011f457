"""Synthetic rows of section 8.2, and l1-LIBLINEAR on them: the other side of fgm_synthetic.py.

In: a Source of rows, drawn again whenever they are wanted. Out: Fitted models, judged on test rows elsewhere.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

BLOCK = 256
TEST_ROWS = 4096
RELEVANT = 300
RATIO = 1.3  # from one C of a path to the next
OPTIMAL = 1.01  # largest slope of a column left out, the weight of |w|_1 being 1


@dataclass(frozen=True)
class Source:
    """Rows that are drawn again whenever they are wanted."""

    rows: int
    width: int
    density: float = 1.0
    seed: int = 0
    shift: float = 0.0

    @property
    def weights(self):
        rng = np.random.default_rng([self.seed, 0])
        w = np.zeros(self.width)
        w[rng.choice(self.width, RELEVANT, replace=False)] = rng.random(RELEVANT)
        return w

    def blocks(self, *, test=False):
        """(first row, X, y), X in float32."""
        w = self.weights
        for first in range(0, TEST_ROWS if test else self.rows, BLOCK):
            rng = np.random.default_rng([self.seed, 2 if test else 1, first])
            X = rng.standard_normal((BLOCK, self.width), np.float32)
            if self.density < 1.0:
                X *= rng.random((BLOCK, self.width), np.float32) < self.density
            yield first, X, np.where(X @ w > self.shift, 1.0, -1.0)

    def matrix(self):
        """All rows to learn from."""
        X, y = np.empty((self.rows, self.width), np.float32), np.empty(self.rows)
        for first, part, labels in self.blocks():
            X[first : first + BLOCK], y[first : first + BLOCK] = part, labels
        return X, y


@dataclass
class Fitted:
    """A model over some columns, and what it took."""

    columns: np.ndarray
    weights: np.ndarray
    seconds: float
    intercept: float = 0.0
    right: int = 0

    @property
    def accuracy(self):
        return self.right / TEST_ROWS

    def found(self, source):
        return int(np.count_nonzero(source.weights[self.columns]))


def first_cost(X, y):
    """A little below the C that takes in the first column."""
    return 0.6 / float(np.abs(X.T @ y.astype(np.float32)).max())


def squared_hinge(X, y, C, penalty, shift):
    """Weights and intercept by LIBLINEAR."""
    model = LinearSVC(penalty=penalty, dual=False, C=C, fit_intercept=shift, max_iter=1000)
    model.fit(X, y)
    return model.coef_.ravel(), float(model.intercept_[0]) if shift else 0.0


def screened(X, y, C, active, shift):
    """The solution of l1-LIBLINEAR over all columns, by solving over the steepest ones only."""
    r = y.astype(np.float32)
    while True:
        slope = 2 * C * np.abs(X.T @ r)
        slope[active] = np.inf
        most = max(2 * len(active), 200)
        active = np.sort(np.argpartition(-slope, most)[:most])
        part = X[:, active].astype(np.float64)
        w, intercept = squared_hinge(part, y, C, "l1", shift)
        r = (y * np.maximum(0.0, 1.0 - y * (part @ w + intercept))).astype(np.float32)
        slope = 2 * C * np.abs(X.T @ r)
        slope[active] = 0.0
        active, w = active[w != 0], w[w != 0]
        if slope.max() <= OPTIMAL:
            return active, w, intercept


def l1_path(source, ks, shift=False):
    """For each k the k largest weights of the first solution with so many, plain and refitted."""
    X, y = source.matrix()
    C, active, found, todo = first_cost(X, y), np.zeros(0, int), {}, sorted(ks)
    while todo:
        active, w, intercept = screened(X, y, C, active, shift)
        C *= RATIO
        while todo and len(active) >= todo[0]:
            largest = np.sort(np.argsort(-np.abs(w), kind="stable")[: todo[0]])
            columns = active[largest]
            models = [Fitted(columns, w[largest], 0.0, intercept)]
            for cost in (20.0, 1.0):
                weights, b = squared_hinge(X[:, columns].astype(np.float64), y, cost, "l2", shift)
                models.append(Fitted(columns, weights, 0.0, b))
            found[todo.pop(0)] = models
    return found


class Liblinear:
    """LIBLINEAR's own problem: a node of 16 bytes an entry, filled block by block."""

    def __init__(self, source):
        from liblinear import liblinear as package

        self._package = package
        node = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
        size = source.width + 1
        self._nodes = np.zeros((source.rows, size), node)
        self._nodes["index"][:, :-1] = np.arange(1, size)
        self._nodes["index"][:, -1] = -1
        self._y = np.empty(source.rows)
        for first, X, y in source.blocks():
            self._nodes["value"][first : first + BLOCK, :-1] = X
            self._y[first : first + BLOCK] = y
        start, step = self._nodes.ctypes.data, self._nodes.strides[0]
        pointer = ctypes.POINTER(package.feature_node)
        self._rows = (pointer * source.rows)(
            *(ctypes.cast(start + i * step, pointer) for i in range(source.rows))
        )
        self._problem = package.problem.__new__(package.problem)
        ctypes.Structure.__init__(self._problem)
        self._problem.l, self._problem.n, self._problem.bias = source.rows, source.width, -1.0
        self._problem.y = self._y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        self._problem.x = ctypes.cast(self._rows, ctypes.POINTER(pointer))
        self.largest_slope = np.abs(sum(X.T.astype(np.float64) @ y for _, X, y in source.blocks())).max()
        self._width = source.width

    def fit(self, C):
        parameter = self._package.parameter(f"-s 5 -c {C} -q")
        began = time.process_time()
        model = self._package.liblinear.train(ctypes.byref(self._problem), ctypes.byref(parameter))
        seconds = time.process_time() - began
        w = np.ctypeslib.as_array(model.contents.w, (self._width,)).copy()
        self._package.liblinear.free_and_destroy_model(ctypes.byref(model))
        return w, seconds


def l1_logistic(source, most):
    """Solutions of l1-LIBLINEAR's logistic path, each cold, up to `most` features."""
    blocks = [(sp.csr_matrix(X, dtype=np.float64), y) for _, X, y in source.blocks()]
    X, y = sp.vstack([part for part, _ in blocks]).tocsr(), np.concatenate([labels for _, labels in blocks])
    del blocks
    C, models = 2.0 * RATIO / np.abs(X.T @ y).max(), []
    while not models or len(models[-1].columns) < most:
        peer = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=C, fit_intercept=False, max_iter=200)
        began = time.process_time()
        w = peer.fit(X, y).coef_.ravel()
        seconds = time.process_time() - began
        columns = np.flatnonzero(w)
        models.append(Fitted(columns, w[columns], seconds))
        C *= RATIO
    return models
