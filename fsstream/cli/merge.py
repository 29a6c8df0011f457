"""`fsstream merge`: models trained on shards -> one."""

from __future__ import annotations

import click

from fsstream.cli import stdout
from fsstream.cli.options import PATH, GroupedCommand, debug_option
from fsstream.errors import UsageError


@click.command("merge", cls=GroupedCommand)
@click.argument("models", nargs=-1, metavar="MODEL...", type=PATH)
@click.option("--output", "-o", type=PATH, required=True, help="write the model to a file")
@debug_option
def command(models: tuple[str, ...], output: str) -> None:
    """Make one model of models that were trained on shards of a stream.

    Those of `select --with-state` become one learner: weights and sketches are averaged by the rows that each
    has seen, sums and counts added, and what is selected is found anew; the result can be merged again, and
    `--init` goes on from it. Of others the selections are averaged.

    All must have been trained by one backend with equal options. Backends whose weights mean nothing
    outside their run refuse, and say why: `fsstream algos NAME`.
    """
    from fsstream.file_clashes import check_not_read
    from fsstream.merging import merge
    from fsstream.model_file import load_model
    from fsstream.publish import check_writable

    if len(models) < 2:
        raise UsageError("there is nothing to merge", hint="name at least two models")
    check_not_read(output, models)
    check_writable(output)
    merged = merge([load_model(path) for path in models], models)
    stdout.deliver(output, [merged.to_bytes()])
