"""Long work is left at a signal, and what was saved of it goes on."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsstream import run
from fsstream._native import FeatureScores, PairScores, ProximalOptions, solve_reduced
from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.fgm.reduced import ReducedProblem
from fsstream.algorithms.learner import Access
from fsstream.algorithms.random_features.machine import Machine
from fsstream.checkpoint import load_checkpoint
from fsstream.config import SelectOptions
from fsstream.errors import Interrupted
from fsstream.resume_options import ResumeOptions
from fsstream.signals import StopSignals, held
from fsstream.training import Training
from tests.oracle.online_data import batch_of
from tests.oracle.test_fgm_solver import columns_of
from tests.oracle.test_fgm_solver import problem as reduced_problem
from tests.oracle.test_random_features import problem_data, solver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fsstream._native import Batch
    from fsstream.model import Model

OFTEN = 0.002  # seconds
WITHIN_A_CALL = 3  # handlers run once behind a call that asks for none


class Left(Exception):
    """By a signal."""


@pytest.fixture
def alarms() -> Iterator[Callable[[], object]]:
    """Begins signals; what their handler raises at the third of them is `Left`."""
    handled = []

    def leave(number: int, frame: object) -> None:
        handled.append(number)
        if len(handled) == WITHIN_A_CALL:
            raise Left

    before = signal.signal(signal.SIGALRM, leave)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, OFTEN, OFTEN)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def newton_steps() -> Callable[[], Any]:
    X, y = problem_data(1, 6000, 4, "logistic")
    problem, _ = solver(X, y, "logistic", 300)
    return lambda: problem.solve(1e-7, 0.0, 0.0, 100)


def conjugate_gradients() -> Callable[[], Any]:
    X, y = problem_data(1, 6000, 4, "logistic")
    problem, _ = solver(X, y, "logistic", 300)
    return lambda: problem.solve(0.0, 1e-12, 0.0, 2000)


def proximal_steps() -> Callable[[], Any]:
    reduced = reduced_problem(1, rows=20_000, sizes=(60,))
    columns, weights = columns_of(reduced.X), np.zeros(60)
    starts, members = np.array([0, 60], np.uint64), np.arange(60, dtype=np.uint32)
    options = ProximalOptions(tolerance=-1.0, iterations=2000, restart=False)
    return lambda: solve_reduced(
        columns, "squared-hinge", reduced.y, reduced.costs, starts, members, weights, 0.0, 0.0, options
    )


def sums_of_products() -> Callable[[], Any]:
    rng = np.random.default_rng(1)
    rows = FeatureScores(1 << 28, 1 << 28, False)
    rows.load(batch_of(rng.normal(size=(20_000, 200)), np.ones(20_000)))
    rows.finish_load(1.0, 0.0)
    pairs = PairScores(rows, np.ones(20_000), 1.0, 1.0, 1 << 28)
    pairs.bound_kept()
    pairs.start_sums(200)
    return pairs.sum_kept


@pytest.mark.parametrize(
    "made", [newton_steps, conjugate_gradients, proximal_steps, sums_of_products], ids=lambda m: m.__name__
)
def test_a_solver_is_left_within_a_call(
    made: Callable[[], Callable[[], Any]], alarms: Callable[[], object]
) -> None:
    work = made()
    with pytest.raises(Left):
        alarms()
        work()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    x = np.random.default_rng(3).normal(size=(300, 5))
    path = tmp_path / "rows"
    with path.open("w") as out:
        for values in x.tolist():
            label = int(values[0] * values[1] + values[2] > 0)
            out.write(f"{label} " + " ".join(f"w{j}:{value:.3f}" for j, value in enumerate(values)) + "\n")
    return path


MORE = {
    "sparse-rf": ("draw=30", "rounds=4"),
    "rf": (),
    "boosting": (),
    "fgm": ("B=1",),
}
SOLVERS = [(ReducedProblem if name == "fgm" else Machine, name) for name in MORE]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("solver", "name"), SOLVERS, ids=MORE)
def test_a_first_signal_is_heard_and_the_run_goes_on(
    solver: type, name: str, number: int, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at every solve in turn, each time in the run that went on from the one before."""
    options = SelectOptions(inputs=(str(rows),), algo=name, k=4, set=MORE[name], format="pairs")
    whole = run.select(options).model.to_bytes()
    saved = tmp_path / "saved"
    solve = solver.solve
    calls, last = 0, 1

    def solve_and_stop(self: Any, *given: Any, **more: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == last:
            os.kill(os.getpid(), number)
        return solve(self, *given, **more)

    monkeypatch.setattr(solver, "solve", solve_and_stop)
    with pytest.raises(Interrupted) as stopped:
        run.select(replace(options, checkpoint=str(saved)))
    assert (stopped.value.exit_code, "goes on" in stopped.value.message) == (128 + number, True)
    outcome = None
    while outcome is None:
        calls, last = 0, last + 1
        checkpoint = load_checkpoint(str(saved))
        with suppress(Interrupted):
            outcome = run.resume(checkpoint, checkpoint.resumed(ResumeOptions(checkpoint_file=str(saved))))
    assert outcome.model.to_bytes() == whole


@pytest.mark.parametrize("name", [name for name in BACKENDS if backend(name).access is Access.COLUMNS])
def test_a_signal_is_heard_between_columns(
    name: str, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are long, a batch of them is work of minutes."""
    options = SelectOptions(inputs=(str(rows),), algo=name, k=2, format="pairs")
    whole = run.select(options).model.to_bytes()
    monkeypatch.setattr(run, "_COLUMN_NUMBERS", 2 * 300)
    saved, update = tmp_path / "saved", backend(name).update
    taken: list[int] = []

    def update_and_stop(self: Any, batch: Batch) -> None:
        taken.append(batch.rows)
        if len(taken) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        update(self, batch)

    monkeypatch.setattr(backend(name), "update", update_and_stop)
    with pytest.raises(Interrupted):
        run.select(replace(options, checkpoint=str(saved)))
    assert taken == [2, 2]
    checkpoint = load_checkpoint(str(saved))
    outcome = run.resume(checkpoint, checkpoint.resumed(ResumeOptions(checkpoint_file=str(saved))))
    assert taken[2] == 1, "the fifth"
    assert outcome.model.to_bytes() == whole


@pytest.mark.parametrize("name", ["mission", "os", "fgm"])
def test_a_signal_is_heard_while_the_model_is_made(
    name: str, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved while learning is still there."""
    saved = tmp_path / "saved"
    options = SelectOptions(inputs=(str(rows),), algo=name, k=2, format="pairs", block_size=6000)
    whole = run.select(options).model.to_bytes()
    left: list[bytes] = []
    make = Training.model

    def make_and_stop(self: Training) -> Model:
        if not left:
            left.append(saved.read_bytes())
            os.kill(os.getpid(), signal.SIGINT)
        return make(self)

    monkeypatch.setattr(Training, "model", make_and_stop)
    with pytest.raises(Interrupted):
        run.select(replace(options, checkpoint=str(saved), checkpoint_every=1))
    assert saved.read_bytes() == left[0]
    checkpoint = load_checkpoint(str(saved))
    outcome = run.resume(checkpoint, checkpoint.resumed(ResumeOptions(checkpoint_file=str(saved))))
    assert outcome.model.to_bytes() == whole


@pytest.mark.parametrize("name", ["mission", "fgm", "sparse-rf"])
def test_a_run_that_is_over_frees_its_memory(name: str, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the garbage collector, which does not know how much the core holds."""
    alive: list[Any] = []
    begin = run._Run.__init__

    def noted(self: Any, *given: Any, **more: Any) -> None:
        alive.append(weakref.ref(self))
        begin(self, *given, **more)

    monkeypatch.setattr(run._Run, "__init__", noted)
    gc.disable()
    try:
        run.select(SelectOptions(inputs=(str(rows),), algo=name, k=2, set=MORE.get(name, ()), format="pairs"))
        assert [ref() for ref in alive] == [None]
    finally:
        gc.enable()


def test_what_is_held_together_is_done_before_a_signal_comes() -> None:
    done = []
    with StopSignals() as signals, pytest.raises(Interrupted), signals.waiting(), held():
        os.kill(os.getpid(), signal.SIGTERM)
        done = [number for number in range(1_000) if number]
    assert len(done) == 999
    with held():
        pass  # nothing to hold


def test_threads_that_a_signal_met_at_their_start_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that raised amid `Thread.start` ended in a KeyError of the threading module."""
    start, before, begun = threading.Thread.start, set(threading.enumerate()), []

    def met(thread: threading.Thread) -> None:
        start(thread)
        begun.append(thread)
        if len(begun) == 1:  # a second signal would end the program
            os.kill(os.getpid(), signal.SIGTERM)

    (tmp_path / "rows").write_bytes(b"1 a\n-1 b\n" * 50)
    monkeypatch.setattr(threading.Thread, "start", met)
    with pytest.raises(Interrupted):
        run.select(
            SelectOptions(inputs=(str(tmp_path / "rows"),), k=1, format="tokens", threads=4, block_size=8)
        )
    assert len(begun) == 3
    assert set(threading.enumerate()) == before
