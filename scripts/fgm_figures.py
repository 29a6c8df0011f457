"""More of the FGM experiments: expansions and groups beside a group lasso, products beside brute force,
what B, C and the stopping rule change, and how many features to generate.

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


def sensitivity(options):
    """Figures 10 and 12: C, and B for a fixed number of features."""
    from reproduce_fgm import fgm, split_of

    print("| set | k | parameter | accuracy | rounds | s |\n|---|---|---|---|---|---|")
    for name in options.sets:
        split = split_of(name, 0, options.data)
        for k in options.k:
            for parameters in (
                *({"rule": "paper", "C": C} for C in (0.5, 5.0, 50.0, 500.0)),
                *({"C": C} for C in (0.5, 5.0, 50.0, 500.0)),
                *({"rule": "paper", "B": B} for B in (2, 5, 10, 20, 40, 100, 200, 400) if k >= B),
                *({"B": B} for B in (2, 5, 10, 20, 40, 100, 200, 400) if k >= B),
            ):
                found = fgm(split, k, **parameters)
                told = ", ".join(f"{key}={value}" for key, value in parameters.items())
                course = f"{found.facts['rounds']} | {found.seconds:.2f}"
                print(f"| {name} | {k} | {told} | {found.accuracy:.4f} | {course} |", flush=True)


def stopping(options):
    """Figure 11: the literal method, stopped by (37) or after ten rounds.

    Rounds do not depend on how many follow, so the round at which (37) holds is read off one long course.
    """
    from reproduce_fgm import fgm, split_of

    most = 400
    print("| set | B | rule | features | rounds | accuracy | s |\n|---|---|---|---|---|---|---|")
    for name in options.sets:
        split = split_of(name, 0, options.data)
        for B in (2, 5, 10, 20, 40):
            course = fgm(split, most, rule="paper", B=B).facts["objective"]
            falls = -np.diff([5.0 * len(split.y), *course]) / (
                5.0 * len(split.y)
            )  # C = 10: F is 5 n at first
            for rule, rounds in (
                *((f"{share}", _first(falls <= share)) for share in (0.005, 0.001)),
                ("ten rounds", 10),
            ):
                k = min(B * rounds, most)
                found = fgm(split, k, rule="paper", B=B)
                facts = f"{k} | {found.facts['rounds']} | {found.accuracy:.4f} | {found.seconds:.2f}"
                print(f"| {name} | {B} | {rule} | {facts} |", flush=True)


def _first(holds):
    """The number of the first round for which it holds, else of the last."""
    return int(np.argmax(holds)) + 1 if holds.any() else len(holds)


def generation(options):
    """Accuracy on validation rows when more than k features are generated, by rows for each of k."""
    from reproduce_fgm import Split, fgm, split_of

    draws, most_rows = 8, 1500
    print("| set | rows / k | k | generated: k | 1.5 k | 2 k | 2 k ahead | its s.e. |\n" + "|---" * 8 + "|")
    for name in options.sets:
        given = split_of(name, 0, options.data)
        rows = min(len(given.y), most_rows)
        for ratio in (8, 10, 12, 16, 24, 32):
            k = 4 * rows // 5 // ratio
            right = []
            for draw in range(draws):
                order = np.random.default_rng(draw).permutation(len(given.y))
                train, valid = order[: 4 * rows // 5], order[4 * rows // 5 :][:most_rows]
                split = Split(given.X[train], given.y[train], given.X[valid], given.y[valid])
                right.append([fgm(split, k, trim=trim).accuracy for trim in (1.0, 1.5, 2.0)])
            mean, gains = np.mean(right, axis=0), np.subtract(*np.transpose(right)[[2, 0]])
            error = gains.std(ddof=1) / draws**0.5
            told = " | ".join(f"{value:.4f}" for value in mean)
            print(f"| {name} | {ratio} | {k} | {told} | {gains.mean():+.4f} | {error:.4f} |", flush=True)
