"""Mission: which of its kernels are merged, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsstream._native import BlockSketch, CountSketch, SoftmaxLearner
from fsstream.algorithms.merging.classes import Shape, softmax
from fsstream.algorithms.merging.newton import newton
from fsstream.algorithms.merging.sketched import descent, sketched
from fsstream.algorithms.mission_parameters import numbers_of_part
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsstream.algorithms.merging.shards import Shards
    from fsstream.algorithms.mission import Mission


def merged(learner: Mission, shards: Shards) -> dict[str, NDArray[Any]]:
    """The state of a kernel like the learner's that has seen the rows of all shards."""
    if isinstance(learner.kernel, SoftmaxLearner):
        shape = Shape(learner.k, learner.depth, learner.seed, learner.exact, learner.adaptive)
        return softmax(shards, learner.kernel.state(), shape)
    if learner.identity or learner.parameters.batch != 1:
        what = "--set sketch=identity" if learner.identity else "--set batch"
        raise UsageError(f"learners with {what} cannot be merged", hint="merge their models")
    kind = BlockSketch if learner.exact else CountSketch
    sketch = kind(learner.depth, learner.width, learner.seed)
    if isinstance(sketch, BlockSketch) and learner.adaptive:
        return newton(shards, learner.k, sketch, numbers_of_part(learner.depth), learner.room)
    return descent(shards, sketched(learner.k, sketch, exact=learner.exact))
