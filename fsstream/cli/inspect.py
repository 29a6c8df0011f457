"""`fsstream inspect`: what is in a model, a checkpoint or a spool."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsstream.cli import stdout
from fsstream.cli.options import PATH, debug_option

if TYPE_CHECKING:
    from fsstream.checkpoint import Checkpoint
    from fsstream.model import Model


@click.command("inspect")
@click.argument("model", type=PATH)
@debug_option
def command(model: str) -> None:
    """Say what is in a model, a checkpoint or a spool, as one JSON object, after checking its digest."""
    from fsstream import checkpoint
    from fsstream.archive import load
    from fsstream.model_file import model_of
    from fsstream.output import json_text
    from fsstream.sources.spool import inspect_spool, is_spool

    if model != "-" and is_spool(Path(model)):
        stdout.write([json_text({"spool": inspect_spool(Path(model))})])
        return
    meta, members = load(Path(model))
    if meta.get("format") == checkpoint.FORMAT:
        facts = _of_checkpoint(checkpoint.checkpoint_of(meta, members, model))
    else:
        facts = _of_model(model_of(meta, members, model))
    stdout.write([json_text(facts)])


def _of_model(found: Model) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": found.kind,
        "loss": found.loss,
        "labels": found.labels,
        "rows": found.rows,
        "features": len(found.selection),
        "intercepts": [float(value) for value in found.intercepts],
        "options": found.options,
        "reading": found.reading,
        "state_bytes": None if found.state is None else sum(array.nbytes for array in found.state.values()),
    }
    if found.basis is not None:
        facts |= found.basis.described()
    return facts


def _of_checkpoint(found: Checkpoint) -> dict[str, Any]:
    origin, snapshot = found.origin, found.snapshot
    facts: dict[str, Any] = {
        "checkpoint_of": origin.options.algo,
        "inputs": origin.inputs,
        "folder": origin.folder,
        "resumes": origin.resumes,
        "options": dataclasses.asdict(origin.options),
    }
    if snapshot is None:  # written before anything was learned
        return {**facts, "passes": 0, "rows": 0}
    place = snapshot.feed.place
    return {
        **facts,
        "kind": snapshot.feed.kind,
        "loss": snapshot.feed.loss,
        "labels": snapshot.feed.labels,
        "passes": snapshot.passes,
        "rows": snapshot.feed.rows,
        "position": dataclasses.asdict(place.position) if place.position else None,
        "state_bytes": sum(array.nbytes for array in snapshot.members.values()),
    }
