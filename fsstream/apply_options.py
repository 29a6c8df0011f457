"""What the commands that apply a model to a stream are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fsstream.config import FORMATS, IN, OUT, InputOptions
from fsstream.errors import UsageError
from fsstream.option_fields import option


@dataclass(frozen=True, kw_only=True)
class ApplyOptions(InputOptions):
    """Of the commands that apply a model to a stream; what is not given is as it was in training."""

    applied: ClassVar[str] = "model"
    needs_labels: ClassVar[bool] = False
    model: str = ""
    output: str | None = option(None, "write to a file instead of standard output", kind="path", group=OUT)

    def check(self) -> None:
        super().check()
        if self.model == "-" and (not self.inputs or "-" in self.inputs):
            raise UsageError(
                f"standard input cannot be the {self.applied} and the data",
                hint="give one of them as a file",
            )


@dataclass(frozen=True, kw_only=True)
class TransformOptions(ApplyOptions):
    """Of `transform`. `model` may be a selection as well."""

    applied: ClassVar[str] = "selection"
    to: str = option("same", "format of the output", choices=("same", *FORMATS[1:-1]), group=OUT)
    names: str | None = option(
        None,
        "number the features from 1, and write their names to a file, one a line",
        kind="path",
        group=OUT,
    )
    products: bool | None = option(
        None,
        "whether a*b in a selection is a product of two features, or a name like others; a model says which",
        kind="flag",
        group=IN,
    )
