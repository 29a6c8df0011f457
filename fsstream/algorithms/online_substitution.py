"""Online Substitution: k features kept while all others pass by, one after the other.

Objective  min L(X w, y) with at most k non-zero weights; L is 1/(2n) |Xw - y|^2, the mean of
           max(0, 1 - y u)^2 / 2, or of log(1 + e^-yu); features are seen one at a time.
Paper      Yang, Fujimaki, Kusumura, Liu: "Online Feature Selection: A Limited-Memory Substitution
           Algorithm and Its Asynchronous Parallel Variation", KDD 2016.
rule=pool  Ours, the default: least squares on a pool of at most K = columns * k columns, kept in 16
           bits a value (K = 3k take three quarters of the bytes of k double columns). An arrival
           that would lower the residual more than the weakest member replaces it; then members of
           the pool are exchanged with those of the model while that is significant. No step, no
           Lipschitz constant; with two classes the pool works on -1/+1 and only the last refit
           minimises the loss. Classes get a ridge of k/n (shrink=yes): if k weights of equal variance
           explain half of the variance of -1/+1, that is the ridge of their posterior mean. Numbers
           get none: how much noise they hold is not known beforehand.
rule=paper Algorithm 1 to the letter: a gradient step, the smallest of k + 1 weights goes, and the
           descent check. Ours in it: eta = 0.5 / L_F with L_F estimated by power iteration on the
           retained columns and raised whenever the curvature along a step exceeds it; the
           intercept as one more retained coordinate; columns centred and scaled.
rule=projection, rule=proximal  The paper's naive baselines, coordinate steps that never look back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fsstream import _native
from fsstream.algorithms.column_learner import (
    NAME,
    ColumnLearner,
    at_most,
    check_step,
    refit_parameter,
    sample_targets,
    samples_of,
    scale_parameter,
)
from fsstream.algorithms.learner import Common, Task, parameter, required_k
from fsstream.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

CODE, FLOAT = 2, 4  # bytes of a kept value


@dataclass(frozen=True)
class SubstitutionParameters:
    """What `--set` can change."""

    rule: str | None = parameter(
        None,
        "how a new feature takes the place of a kept one: pool: by least squares on a pool of columns "
        "(ours); paper: Algorithm 1 to the letter; projection, proximal: the paper's naive baselines. pool "
        "unless --learning-rate, m or descent asks for the paper's steps",
        choices=("pool", "paper", "projection", "proximal"),
    )
    columns: int = parameter(
        3, "with rule=pool: how many columns are kept while learning, as a multiple of k", low=1, high=16
    )
    m: float = parameter(
        1.0,
        "with rule=paper: features that are kept take steps this many times smaller than a new one",
        low=1,
    )
    descent: float = parameter(
        0.5,
        "with rule=paper: c of the descent check: the larger, the more a new feature must lower the loss",
        low=0,
        high=1,
    )
    refit: str = refit_parameter()
    shrink: str = parameter(
        "yes",
        "with rule=pool and classes: a ridge of k over the number of samples, unless --l2 is above 0",
        choices=("yes", "no"),
    )
    scale: str = scale_parameter("; with an intercept they are centred either way")


class OnlineSubstitution(ColumnLearner):
    """From the paper: rule=paper, its Algorithm 1; rule=projection and rule=proximal, its naive baselines.
    Ours: rule=pool, the default, least squares on a pool of columns kept in 16 bits a value; for classes
    with a ridge of k over the number of samples. In the paper's rules too: columns centred and scaled,
    the intercept as one more retained coordinate, two scans unless --passes says otherwise, and eta =
    0.5 / L_F, with L_F from a power iteration on the retained columns and raised whenever the curvature
    along a step exceeds it.
    """

    name: ClassVar[str] = "os"
    summary: ClassVar[str] = "features arrive one by one and replace the weakest of those kept; memory n x k"
    paper: ClassVar[str] = "Online Feature Selection: A Limited-Memory Substitution Algorithm, Algorithm 1"
    uses: ClassVar[frozenset[str]] = frozenset({"k", "l1", "l2", "passes", "intercept", "learning_rate"})
    default_passes: ClassVar[int] = 2  # the first scan judges early features by what is not there yet
    Parameters: ClassVar[type] = SubstitutionParameters
    kernel: _native.ColumnPool | _native.Substitution

    def __init__(self, common: Common, parameters: SubstitutionParameters, task: Task) -> None:
        check_rule(common, parameters)
        self.loss = task.loss
        self.refit = parameters.refit == "yes"
        super().__init__(make_kernel(common, parameters, task), common.passes)

    def chosen(self) -> tuple[list[bytes], NDArray[np.float32], float]:
        """The k best, refitted unless that is not wanted."""
        if isinstance(self.kernel, _native.ColumnPool):
            return self.kernel.select(self.loss, self.refit)
        return self.kernel.select(self.refit)

    def facts(self) -> Mapping[str, Any]:
        """Arrivals by what became of them; the model's noise, or Theorem 1's sums."""
        kernel = self.kernel
        if isinstance(kernel, _native.ColumnPool):
            seen, screened, entered, collisions = kernel.counts
            own: dict[str, Any] = {
                "screened": screened,
                "model_size": kernel.model_size,
                "noise_variance": kernel.noise,
            }
        else:
            seen, entered, refused, collisions = kernel.counts
            own = {"refused_by_descent_check": refused, **kernel.progress}
        return {
            "scans": self.scans,
            "features_seen": seen,
            "entered": entered,
            "name_collisions": collisions,
            "column_bytes": kernel.column_bytes,
            **own,
        }

    @classmethod
    def plan(cls, common: Common, parameters: Any, task: Task) -> dict[str, int]:
        """Retained columns, and for the pool two matrices of products."""
        k, samples = required_k(common.k), samples_of(task)
        pool = rule_of(common, parameters) == "pool"
        kept = at_most(parameters.columns * k if pool else k + 1, task)
        return {
            "columns": (CODE if pool else FLOAT) * samples * kept,
            "products": 16 * (kept + 1) ** 2 if pool else 0,
            "vectors": 48 * samples,
            "names": NAME * kept,
        }


def rule_of(common: Common, parameters: SubstitutionParameters) -> str:
    """The rule asked for, be it by an option of its steps."""
    if parameters.rule is not None:
        return parameters.rule
    steps = common.learning_rate is not None or any(is_set(parameters, name) for name in ("m", "descent"))
    return "paper" if steps else "pool"


def is_set(parameters: SubstitutionParameters, name: str) -> bool:
    """Whether a parameter is another than it is by default."""
    return bool(getattr(parameters, name) != getattr(SubstitutionParameters(), name))


def check_rule(common: Common, parameters: SubstitutionParameters) -> None:
    """Options that the chosen rule has no use for."""
    rule = rule_of(common, parameters)
    if common.l1 is not None and rule != "proximal":
        raise UsageError(f"--l1 means nothing to rule={rule}", hint="--set rule=proximal uses it")
    if common.learning_rate is not None and rule == "pool":
        raise UsageError(
            "rule=pool has no step: --learning-rate means nothing to it", hint="--set rule=paper"
        )
    of_rules = (("columns", "pool"), ("shrink", "pool"), ("m", "paper"), ("descent", "paper"))
    for name, owner in of_rules:
        if is_set(parameters, name) and rule != owner:
            raise UsageError(f"--set {name} means something with rule={owner} only")


def shrinkage(k: int, samples: int, loss: str) -> float:
    """The ridge without --l2, on weights of columns of mean square 1."""
    return 0.0 if loss == "squared" else k / max(samples, 1)


def make_kernel(
    common: Common, parameters: SubstitutionParameters, task: Task
) -> _native.ColumnPool | _native.Substitution:
    """The native solver of the rule."""
    targets, k = sample_targets(task), required_k(common.k)
    unit = parameters.scale == "unit"
    rule = rule_of(common, parameters)
    if rule == "pool":
        own = shrinkage(k, len(targets), task.loss) if unit and parameters.shrink == "yes" else 0.0
        return _native.ColumnPool(
            targets,
            k=k,
            columns=parameters.columns,
            intercept=common.intercept,
            ridge=common.l2 or own,
            unit_scale=unit,
            memory=common.memory,
        )
    return _native.Substitution(
        targets,
        task.loss,
        rule,
        k=k,
        step=check_step(common),
        retained_divisor=parameters.m,
        descent=parameters.descent,
        l1=common.l1 or 0.0,
        intercept=common.intercept,
        ridge=common.l2,
        unit_scale=unit,
    )
