"""Numbers at the edges: weights are finite, or the run ends with an error that says what was wrong."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import pytest

from fsstream import run
from fsstream.algorithms import BACKENDS, backend
from fsstream.config import SelectOptions
from fsstream.errors import FsstreamError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {
    "denormals and minus zero": b"".join(b"%d 1:1e-42 2:%d 3:-0.0\n" % (i % 2, i % 2) for i in range(60)),
    "the largest": b"".join(
        b"%d 1:%s 2:1 3:0.5\n" % (i % 2, b"1e38" if i % 2 else b"-1e38") for i in range(60)
    ),
    "beyond the largest": b"".join(b"%d 1:1e308 2:1\n" % (i % 2) for i in range(60)),
    "of all sizes": b"".join(b"%d 1:1e30 2:%d 3:1e-30\n" % (i % 2, 1 + i % 2) for i in range(60)),
    "a constant feature": b"1 1:1\n0 1:1\n" * 30,
    "skewed classes": b"".join(b"%d 1:1 2:%d\n" % (i == 500, 1 + (i == 500)) for i in range(1000)),
    "two examples": b"1 1:1\n0 2:1\n",
    "denormals alone": b"1 1:1e-45 2:-1e-45\n0 1:-1e-45 2:1e-45\n" * 20,
    "no features": b"1\n0\n" * 20,
}
REFUSED = {
    "the largest": {1},
    "beyond the largest": {3},
    "of all sizes": {1},
    "denormals alone": {1},
}
# Backends with a step; the pool of os has none.
STEPPING = [name for name in BACKENDS if "learning_rate" in backend(name).uses and name != "os"]
DATA_ERRORS = {b"": "no data", b"1 1:1\n": "nothing to tell apart"}


def options_for(name: str, path: Path, k: int) -> SelectOptions:
    more = {"k": k} if "k" in backend(name).uses else {}
    return SelectOptions(
        inputs=(str(path),), algo=name, format="libsvm", quiet=True, threads=1, memory=1 << 28, **more
    )


@pytest.mark.parametrize("name", BACKENDS)
def test_weights_are_finite_or_the_run_says_why_not(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    for case, rows in ROWS.items():
        path.write_bytes(rows)
        try:
            model = run.select(options_for(name, path, 100)).model
        except FsstreamError as error:
            codes = REFUSED.get(case, set())
            assert error.exit_code in codes, f"{case}: {error.message}"  # noqa: PT017
            continue
        numbers = [*map(float, model.selection.weights), *map(float, model.intercepts)]
        assert all(map(math.isfinite, numbers)), case
        assert len(model.selection) <= 100


@pytest.mark.parametrize("rate", [1e3, 1e30])
@pytest.mark.parametrize("name", STEPPING)
def test_a_step_that_is_too_large_is_named(name: str, rate: float, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"".join(b"%d 1:%d 2:7 3:-9\n" % (i % 2, i % 5) for i in range(300)))
    options = dataclasses.replace(options_for(name, path, 3), learning_rate=rate)
    try:
        model = run.select(options).model
    except FsstreamError as error:
        assert error.exit_code == 1, error.message  # noqa: PT017
        assert error.hint is not None  # noqa: PT017
        return
    assert all(map(math.isfinite, [*model.selection.weights, *model.intercepts]))


@pytest.mark.parametrize("name", BACKENDS)
def test_too_little_data_is_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows"
    for rows, message in DATA_ERRORS.items():
        path.write_bytes(rows)
        with pytest.raises(FsstreamError, match=message) as raised:
            run.select(options_for(name, path, 2))
        assert raised.value.exit_code == 3
