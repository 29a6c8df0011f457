"""`fsstream algos`: the backends and their parameters."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING, Any

import click

from fsstream.algorithms import BACKENDS, backend
from fsstream.algorithms.learner import Access
from fsstream.cli import stdout
from fsstream.cli.options import complete_backend, debug_option
from fsstream.training import find_backend

if TYPE_CHECKING:
    from fsstream.algorithms.learner import Learner


@click.command("algos")
@click.argument("name", required=False, shell_complete=complete_backend)
@debug_option
def command(name: str | None) -> None:
    """List the backends, or the parameters of one with meaning, default and range."""
    if name is None:
        width = max(map(len, BACKENDS))
        stdout.write(f"{known:<{width}}  {backend(known).summary}\n".encode() for known in BACKENDS)
        return
    stdout.write([describe(find_backend(name)).encode(), b"\n"])


_READS = {
    Access.ROWS: "rows once (with --passes more often): any stream",
    Access.ROWS_AGAIN: "rows again and again: files are read again, a stream is copied to disk first",
    Access.COLUMNS: "one feature after the other: rows are turned into columns first",
}


def describe(chosen: type[Learner]) -> str:
    """Everything there is to say about a backend."""
    lines = [f"{chosen.name}: {chosen.summary}", f"  paper      {chosen.paper}"]
    lines.append(f"  reads      {_READS[chosen.access]}")
    lines.append(f"  losses     {', '.join(chosen.losses)}")
    lines.append(f"  intercept  {'yes' if chosen.intercept_default else 'no'} by default")
    if "passes" in chosen.uses:
        lines.append(f"  passes     {chosen.default_passes or 'as many as it needs'} by default")
    used = sorted("--" + name.replace("_", "-") for name in chosen.uses)
    lines.append(f"  options    {', '.join(used)}")
    lines += _merging(chosen)
    if chosen.__doc__:
        lines += ["", *(f"  {line.strip()}".rstrip() for line in chosen.__doc__.strip().splitlines())]
    fields = dataclasses.fields(chosen.Parameters)
    if fields:
        lines += ["", "  --set KEY=VALUE, with defaults"]
        for field in fields:
            lines.append(f"    {field.name}{_default(field)}{_range(field)}")
            lines += textwrap.wrap(
                field.metadata["doc"], 100, initial_indent=" " * 8, subsequent_indent=" " * 8
            )
    return "\n".join(lines)


def _merging(chosen: type[Learner]) -> list[str]:
    """What `fsstream merge` does with its models, or why it refuses them."""
    selections, states = chosen.merge_refusal, chosen.state_refusal
    if selections == states and states is not None:
        return [f"  merge      refused: {states}"]
    of_selections = f"refused: {selections}" if selections else "weights averaged by rows"
    of_states = f"refused: {states}" if states else "weights averaged by rows, sums and counts added"
    if chosen.goes_on:
        of_states += "; --init goes on from one"
    return [f"  merge      of selections: {of_selections}", f"             of --with-state: {of_states}"]


def _default(field: dataclasses.Field[Any]) -> str:
    """None is what the other options decide: the text says how."""
    return "" if field.default is None else f"={field.default}"


def _range(field: dataclasses.Field[Any]) -> str:
    choices, low, high = (field.metadata[name] for name in ("choices", "low", "high"))
    if choices:
        return f" ({' | '.join(choices)})"
    if low is None and high is None:
        return ""
    return f" (from {low})" if high is None else f" (from {low if low is not None else '-inf'} to {high})"
