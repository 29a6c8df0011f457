"""Exact kernels over the inputs that random features see: matrices, machines, the paper's bound."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

SECOND = 2.0  # derivative of max(0, 1 - m)^2 where it is not 0
LARGEST_SQUARE = {"gaussian": 2.0, "laplacian": 2.0, "perceptron": 1.0}  # of a feature


def seen(basis, X):
    """The inputs as the kernel sees them."""
    inputs = basis.inputs
    values = X[:, inputs.keys.astype(np.int64)].astype(np.float64)
    values = np.sign(values) * np.log1p(np.abs(values)) if inputs.logarithms else values
    return (values - inputs.centres) * inputs.inverses


def kernel_matrix(basis, A, B):
    """What the products of the basis's features come to in the mean."""
    from scipy.spatial.distance import cdist

    if basis.kernel == "gaussian":
        return np.exp(-cdist(A, B, "sqeuclidean") / (2 * basis.width**2))
    if basis.kernel == "laplacian":
        return np.exp(-cdist(A, B, "cityblock") / basis.width)
    d = A.shape[1]
    mean = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)
    return 1.0 - mean / basis.reach * cdist(A, B)


def fit_exact(basis, train, loss):
    """scikit-learn's machine with lambda_N = 1, KernelRidge or SVC: scores, size, seconds, megabytes."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC

    started = time.process_time()
    A = seen(basis, train.X)
    K = kernel_matrix(basis, A, A)
    if loss == "squared":
        offset = float(train.y.mean())
        model = KernelRidge(alpha=1.0, kernel="precomputed").fit(K, train.y - offset)
        predict = lambda X: model.predict(kernel_matrix(basis, seen(basis, X), A)) + offset  # noqa: E731
        size = len(train)
    else:
        model = SVC(C=1.0, kernel="precomputed").fit(K, train.y)
        places, weights = model.support_, model.dual_coef_[0]
        size = len(places)
        predict = lambda X: (  # noqa: E731
            kernel_matrix(basis, seen(basis, X), A[places]) @ weights + model.intercept_[0]
        )
    return predict, size, time.process_time() - started, K.nbytes / 1e6


@dataclass(frozen=True)
class Bound:
    """The right side of (22): `value` + excess / (D - c) bounds the objective after D features."""

    value: float
    excess: float
    c: float
    scores: object  # of rows, by the kernel machine


def squared_hinge_machine(K, y, ridge):
    """Newton's method for ridge/2 |f|^2 + mean max(0, 1 - y f)^2 with an intercept: weights of rows, b."""
    n = len(y)
    among = np.ones(n, bool)
    for _ in range(50):
        places = np.flatnonzero(among)
        system = np.ones((len(places) + 1,) * 2)
        system[:-1, :-1] = K[np.ix_(places, places)] + 0.5 * n * ridge * np.eye(len(places))
        system[-1, -1] = 0.0
        solved = np.linalg.solve(system, np.append(y[places], 0.0))
        weights = np.zeros(n)
        weights[places] = solved[:-1]
        margins = y * (K @ weights + solved[-1])
        if np.array_equal(margins < 1, among):
            break
        among = margins < 1
    return weights, solved[-1]


def find_bound(basis, train, l1):
    """The smallest over the ridges of the kernel machine, squared hinge loss."""
    A = seen(basis, train.X)
    K = kernel_matrix(basis, A, A)
    y = train.y.astype(np.float64)
    rate = 2 * y.mean()
    best = None
    for ridge in l1 * 10.0 ** np.arange(-2.0, 2.1, 0.5):
        weights, b = squared_hinge_machine(K, y, ridge)
        norm = math.sqrt(max(weights @ K @ weights, 0.0))
        loss = float(np.mean(np.maximum(0, 1 - y * (K @ weights + b)) ** 2))
        if best is None or l1 * norm + loss < best[0]:
            best = (l1 * norm + loss, norm, weights, b)
    value, norm, weights, b = best
    strength = SECOND * LARGEST_SQUARE[basis.kernel] * norm**2
    start = 1 - (rate / 2) ** 2  # the loss of the best constant
    scores = lambda X: kernel_matrix(basis, seen(basis, X), A) @ weights + b  # noqa: E731
    return Bound(value, 2 * strength, 2 * (start - value) / strength, scores)
