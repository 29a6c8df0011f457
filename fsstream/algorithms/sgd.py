"""What the backends around the native Sgd share: passes, convergence, state.

In: batches. Out: scores before learning; the kernel's arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fsstream._native import ClassDescent, Newton, SoftmaxLearner, class_lanes
from fsstream.algorithms.learner import Common, Learner, Task, in_32_bits, parameter
from fsstream.errors import CorruptError, UsageError
from fsstream.numerics import np
from fsstream.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsstream._native import Batch, Bear, Sgd
    from fsstream.model import Model
    from fsstream.numerics import Floats
    from fsstream.state import StateSink

    Kernel = Sgd | Newton | SoftmaxLearner | ClassDescent | Bear

DEFAULT_RATE = 0.5
SEAT = 64  # bytes of a weight with its key, its place among the weights and in the table, and a name


def pass_tolerance() -> Any:
    """The parameter of all backends that may stop between two passes."""
    return parameter(
        1e-3,
        "with several passes: stop when a pass lowers the mean loss by less than this share of it",
        low=0,
    )


class SgdLearner(Learner):
    """Drives one native kernel; subclasses say what is stored and what is selected."""

    state_refusal: ClassVar[str | None] = None

    def __init__(self, kernel: Kernel, passes: int, tolerance: float) -> None:
        self.kernel = kernel
        self.passes = passes
        self.tolerance = tolerance
        self.pass_losses: list[float] = []

    def update(self, batch: Batch) -> Floats:
        """Learn the rows; return what they would have been given before."""
        return self.kernel.update(batch)

    def end_pass(self) -> bool:
        """Another scan, unless all passes are done or the last one hardly helped."""
        for kernel in self.kernels():
            if not isinstance(kernel, Newton | SoftmaxLearner):
                kernel.end_pass()
        loss, weight = self.kernel.take_progress()
        self.pass_losses.append(loss / weight if weight > 0 else 0.0)
        again = len(self.pass_losses) < self.passes and not self.converged()
        for kernel in self.kernels():
            if again and isinstance(kernel, Newton):
                kernel.repeat_rows()
        return again

    @property
    def rows_learned(self) -> int:
        """Over all passes."""
        return self.kernel.rows

    def kernels(self) -> list[Kernel]:
        """All that learn, the one that selects first."""
        return [self.kernel]

    def converged(self) -> bool:
        """The mean progressive loss of the last pass is hardly below that of the one before."""
        if len(self.pass_losses) < 2:
            return False
        before, now = self.pass_losses[-2:]
        return before - now < self.tolerance * abs(before)

    def start_from(self, model: Model) -> None:
        """Warm start: begin with the features of an earlier model."""
        for kernel in self.kernels():
            start_kernel_from(model, kernel)

    def selection(self) -> Selection:
        """The k best, of each class when there are several."""
        return Selection(*self.kernel.top())

    def intercepts(self) -> Floats:
        """The one intercept, or one a class."""
        if isinstance(self.kernel, SoftmaxLearner | ClassDescent):
            return in_32_bits(self.kernel.intercepts)
        return in_32_bits([self.kernel.intercept])

    @property
    def memory_used(self) -> int:
        """Sketch or table, active set and names."""
        return self.kernel.memory_used

    def allow(self, memory: int) -> None:
        """Those that see all classes at once have no share."""
        if not isinstance(self.kernel, SoftmaxLearner | ClassDescent):
            self.kernel.allow(memory)

    def facts(self) -> Mapping[str, Any]:
        """Mean progressive loss of each finished pass."""
        return {"rows": self.kernel.rows, "pass_losses": list(self.pass_losses)}

    def save(self, out: StateSink) -> None:
        """Sketch or table, active set, intercept and the losses of finished passes."""
        self.kernel.save(out)
        out.put("pass_losses", np.array(self.pass_losses, dtype=np.float64))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `save` gave."""
        try:
            self.kernel.restore(state)
            self.pass_losses = np.asarray(state["pass_losses"], dtype=np.float64).tolist()
        except (KeyError, RuntimeError) as error:
            raise CorruptError(f"the saved state does not fit these options: {error}") from error

    def start_again(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The state, without the losses of the passes before."""
        self.restore({**state, "pass_losses": np.empty(0)})
        self.kernel.take_progress()


def start_kernel_from(model: Model, kernel: Kernel) -> None:
    """Give a new kernel the features and intercepts of a model (not to be mixed up with --seed)."""
    chosen = model.selection
    features = zip(chosen.raw_names, model.keys().tolist(), chosen.weights.tolist(), strict=True)
    if isinstance(kernel, SoftmaxLearner | ClassDescent):
        numbers = model.class_numbers()
        classes = [] if numbers is None else numbers.tolist()
        for (name, key, weight), c in zip(features, classes, strict=True):
            kernel.seed(name, key, c, weight)
        for c, intercept in enumerate(model.intercepts.tolist()):
            kernel.set_intercept(c, intercept)
        return
    for name, key, weight in features:
        kernel.seed(name, key, weight)
    kernel.intercept = float(model.intercepts[0])


def rate_of(common: Common) -> float:
    """The step, 0.5 unless given."""
    return DEFAULT_RATE if common.learning_rate is None else common.learning_rate


def bounded(kernel: Sgd, common: Common) -> Sgd:
    """With steps that no row is too long for, unless their size is given."""
    if common.learning_rate is None:
        kernel.bound_steps()
    return kernel


def checked_l2(common: Common) -> float:
    """Ridge weight: a step must not turn weights around."""
    if rate_of(common) * common.l2 >= 1:
        raise UsageError(
            f"--l2 {common.l2:g} with --learning-rate {rate_of(common):g} takes whole weights",
            hint="their product must be below 1",
        )
    return common.l2


def lanes_for(task: Task) -> int:
    """Floats in a cell of weights: one, or with softmax one a class in whole registers."""
    return class_lanes(max(2, len(task.labels))) if task.loss == "softmax" else 1


def softmax_kernel(common: Common, task: Task, **shape: Any) -> SoftmaxLearner:
    """The kernel of several classes; `shape` is what the backends differ in."""
    return SoftmaxLearner(
        classes=len(task.labels),
        learning_rate=rate_of(common),
        l2=checked_l2(common),
        intercept=common.intercept,
        seed=common.seed,
        memory=common.memory,
        **shape,
    )
