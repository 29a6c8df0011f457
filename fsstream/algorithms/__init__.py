"""The one table of backends: name -> class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner

# Imported on first use, so that `fsstream --help` stays fast.
BACKENDS = {
    "mission": "fsstream.algorithms.mission:Mission",
    "fgm": "fsstream.algorithms.fgm:Fgm",
    "iht": "fsstream.algorithms.iht:Iht",
    "batch-iht": "fsstream.algorithms.batch_iht:BatchIht",
    "awm": "fsstream.algorithms.awm:Awm",
    "bear": "fsstream.algorithms.bear:Bear",
    "hashing": "fsstream.algorithms.hashing:Hashing",
    "os": "fsstream.algorithms.online_substitution:OnlineSubstitution",
    "asy-os": "fsstream.algorithms.asynchronous_substitution:AsynchronousSubstitution",
    "b-arda": "fsstream.algorithms.b_arda:BArda",
    "b-amd": "fsstream.algorithms.b_amd:BAmd",
    "ofs": "fsstream.algorithms.ofs:Ofs",
    "sofs": "fsstream.algorithms.sofs:Sofs",
    "l1-arda": "fsstream.algorithms.l1_arda:L1Arda",
    "ada-fobos": "fsstream.algorithms.ada_fobos:AdaFobos",
    "proj-gd": "fsstream.algorithms.proj_gd:ProjGd",
    "sparse-rf": "fsstream.algorithms.sparse_rf:SparseRf",
    "rf": "fsstream.algorithms.rf:Rf",
    "boosting": "fsstream.algorithms.boosting:Boosting",
    "grafting": "fsstream.algorithms.grafting:Grafting",
}


def backend(name: str) -> type[Learner]:
    """The class behind `--algo NAME`; KeyError when there is none."""
    module, _, attribute = BACKENDS[name].partition(":")
    found: type[Learner] = getattr(import_module(module), attribute)
    return found
