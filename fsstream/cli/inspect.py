"""`fsstream inspect`: what is in a model."""

from __future__ import annotations

import click

from fsstream.cli import stdout
from fsstream.text import to_text


@click.command("inspect")
@click.argument("model", type=click.Path())
@click.option("--debug", is_flag=True, help="show tracebacks")
def command(model: str, debug: bool) -> None:
    """Say what is in a model as one JSON object, after checking its digest."""
    from fsstream.model import load_model
    from fsstream.output import json_text

    found = load_model(model)
    facts = {
        "kind": found.kind,
        "loss": found.loss,
        "labels": found.labels,
        "rows": found.rows,
        "features": len(found.selection),
        "intercepts": [float(value) for value in found.intercepts],
        "options": found.options,
        "reading": found.reading,
    }
    if found.basis is not None:
        kernel = {"kernel": found.basis.kernel, "width": found.basis.width, "seed": found.basis.seed}
        inputs = {to_text(name): effect for name, effect in found.basis.ranked_inputs()}
        facts |= {"basis": kernel, "inputs": inputs}
    stdout.write([json_text(facts)])
