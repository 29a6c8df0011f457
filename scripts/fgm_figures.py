"""More of the FGM experiments: expansions and groups beside a group lasso, products beside brute force.

In: the Splits and the `fgm` of reproduce_fgm.py, which runs these by name. Out: Markdown tables.
The group lasso is celer's (squared loss on the labels) over the expansion written out; its warm path
lowers the penalty by 0.8 until k groups are left, the k largest are refitted by logistic regression.
"""

from __future__ import annotations

import time
from itertools import combinations_with_replacement

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from fsstream import _native
from fsstream.pairs import pair_name


def expanded(split, kernel, shape):
    """Train and test rows with every value written out, and the group of each column."""
    native = _native.AdditiveMap(kernel, shape)
    parts, test_parts, groups = [], [], []
    for j in range(split.X.shape[1]):
        x, x_test = (Z[:, [j]].toarray().ravel().astype(np.float32) for Z in (split.X, split.X_test))
        held = x[x != 0]
        if len(held) == 0:
            continue
        low, high = float(held.min()), float(held.max())
        parts.append(native.expand(x, low, high))
        test_parts.append(native.expand(x_test, low, high))
        groups += [j] * native.features
    return np.hstack(parts), np.hstack(test_parts), np.array(groups)


def group_lasso(phi, y, phi_test, y_test, groups, k):
    """Accuracy plain and of the refit over the first k groups of the path, fits and seconds."""
    from celer import GroupLasso

    phi = np.asfortranarray(phi, dtype=np.float64)
    labels = np.unique(groups)
    members = [np.flatnonzero(groups == label).tolist() for label in labels]
    pull = max(np.linalg.norm(phi[:, m].T @ y) for m in members) / len(y)
    fits, began = 0, time.process_time()
    lasso = GroupLasso(members, fit_intercept=False, warm_start=True, tol=1e-3)
    while True:
        fits += 1
        lasso.alpha = pull * 0.8**fits
        w = lasso.fit(phi, y).coef_
        norms = np.array([np.linalg.norm(w[m]) for m in members])
        if np.count_nonzero(norms) >= min(k, len(members)) or fits == 40:
            break
    spent = time.process_time() - began
    best = np.argsort(-norms, kind="stable")[:k]
    columns = np.concatenate([members[g] for g in best])
    refit = LogisticRegression(C=10.0, max_iter=2000, fit_intercept=False).fit(phi[:, columns], y)
    plain = float(np.mean(np.where(phi_test @ w > 0, 1, -1) == y_test))
    return plain, refit.score(phi_test[:, columns], y_test), fits, spent, labels[best]


def score_by_model(found, split):
    """Accuracy of the model of an expansion on the test rows."""
    from reproduce_fgm import batch_of

    from fsstream.model import Model

    told = {"kind": "binary", "loss": "logistic", "labels": ("-1", "1"), "options": {"algo": "fgm"}}
    model = Model(found.selection(), found.intercepts(), basis=found.basis(), **told)
    scores = model.predictor().predict(batch_of(split.X_test, split.y_test))[:, 0]
    return float(np.mean(np.where(scores > 0, 1, -1) == split.y_test))


def expansions(options):
    """Section 8.6.2: groups made by additive kernels, beside the group lasso over the same groups."""
    from reproduce_fgm import batch_of, fgm, split_of

    from fsstream.algorithms.fgm import Fgm
    from fsstream.algorithms.learner import Common, Task

    print(
        "| set | k | kernel | linear fgm | fgm | s | group lasso | refitted | fits, s |\n" + "|---" * 9 + "|"
    )
    for name in options.sets:
        split = split_of(name, 0, options.data, options.rows)
        for kernel in options.kernels:
            shape = {"histogram": 1.0, "gaussian": 0.25}[kernel]
            written = expanded(split, kernel, shape) if options.peer else None
            for k in options.k:
                linear = fgm(split, k, loss="logistic").accuracy
                learner = Fgm(
                    Common(k=k, memory=4 << 30, intercept=False),
                    Fgm.Parameters(expand=kernel),
                    Task("logistic", ("-1", "1")),
                )
                began = time.process_time()
                learner.update(batch_of(split.X, split.y))
                learner.end_pass()
                spent = time.process_time() - began
                right = score_by_model(learner, split)
                line = f"| {name} | {k} | {kernel} | {linear:.4f} | {right:.4f} | {spent:.1f}"
                if written is not None:
                    phi, phi_test, groups = written
                    plain, refit, fits, seconds, _ = group_lasso(
                        phi, split.y, phi_test, split.y_test, groups, k
                    )
                    line += f" | {plain:.4f} | {refit:.4f} | {fits}, {seconds:.1f}"
                print(line + " |", flush=True)


def brute_force(options):
    """Section 6.2: the first round, against every product of a cut written down."""
    from reproduce_fgm import Split, fgm, split_of

    print("| set | rows | features | products | first 8 | features summed, at most |\n" + "|---" * 6 + "|")
    for name in options.sets:
        split = split_of(name, 0, options.data)
        X, y = split.X[:400], split.y[:400]
        X = X[:, np.argsort(-np.asarray(abs(X).sum(0)).ravel(), kind="stable")[:1500]].tocsr()
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(1)).ravel())
        X = (sp.diags(1 / np.maximum(lengths, 1e-12)) @ X).astype(np.float32).tocsr()
        dense = X.toarray().astype(np.float64)
        names = [b"%d" % j for j in range(X.shape[1])]
        gamma = 8.0
        found = fgm(Split(X, y, X, y), 8, degree=2, gamma=gamma, B=8, C=1.0, trim=1.0, rounds=1)
        c = {name.decode(): np.sqrt(2 * gamma) * abs(v) for name, v in zip(names, dense.T @ y, strict=True)}
        sums = (dense * y[:, None]).T @ dense
        for i, j in combinations_with_replacement(range(len(names)), 2):
            c[pair_name(names[i], names[j]).decode()] = (
                gamma * abs(sums[i, j]) * (1 if i == j else np.sqrt(2))
            )
        best = sorted(c, key=lambda each: -c[each])[:8]
        alike = "the same" if set(found.features) == set(best) else "NOT the same"
        widest = max(found.facts["products_summed_of"])
        print(f"| {name} | {len(y)} | {len(names)} | {len(c)} | {alike} | {widest} |", flush=True)
