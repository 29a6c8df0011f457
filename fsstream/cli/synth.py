"""`fsstream synth`: planted problems with their truth."""

from __future__ import annotations

from typing import Any

import click

from fsstream.cli import stdout
from fsstream.cli.options import PATH, GroupedCommand, debug_option
from fsstream.errors import UsageError

# The kinds of `synthesis.KINDS`, written again so that --help loads no arrays.
KINDS = ("mission", "os", "fgm", "fgm-groups", "b-arda", "sparse-rf")


@click.command("synth", cls=GroupedCommand)
@click.argument("kind", type=click.Choice(KINDS), metavar="KIND")
@click.option("--rows", type=click.IntRange(1), help="how many rows (os: samples) to draw")
@click.option("--features", type=click.IntRange(1), help="how many features there are")
@click.option(
    "--relevant",
    type=click.IntRange(1),
    help="how many of them decide the label (fgm-groups: groups; sparse-rf: random features of three inputs)",
)
@click.option(
    "--noise",
    type=click.FloatRange(0),
    help="mission, os, sparse-rf: standard deviation of the noise in what is to be predicted",
)
@click.option(
    "--task",
    type=click.Choice(["regression", "classes"]),
    help="os: whether numbers or classes are to be predicted",
)
@click.option(
    "--attenuation",
    type=click.FloatRange(1),
    help="mission: divide the values of the planted features by this",
)
@click.option("--shift", type=float, help="fgm: distance of the boundary from the origin")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="decides what is planted")
@click.option(
    "--draw",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="decides which rows are drawn: 1 is a test set of the same truth",
)
@click.option("--output", "-o", type=PATH, help="write to a file instead of standard output")
@click.option("--truth", type=PATH, help="write the planted features (default: OUTPUT.truth)")
@click.option("--targets", type=PATH, help="os: write the labels (default: OUTPUT.targets)")
@click.option("--groups", type=PATH, help="fgm-groups: write the groups (default: OUTPUT.groups)")
@debug_option
def command(kind: str, **given: Any) -> None:
    """Write a stream whose informative features are known: the planted problem of a paper.

    KIND is mission, os, fgm, fgm-groups, b-arda or sparse-rf. The output is libsvm text (os: columns); the
    truth has the form of a selection.
    """
    from fsstream.output import selection_lines
    from fsstream.publish import Publisher, check_writable
    from fsstream.synthesis import Planted, Problem

    output = None if stdout.is_meant(given["output"]) else given["output"]
    del given["output"]
    beside: dict[str, str] = {
        name: given.pop(name) or (f"{output}.{name}" if output else "") for name in _BESIDE
    }
    _check_beside(kind, beside, output)
    planted = Planted(Problem(kind, **given))
    for path in filter(None, (output, *beside.values())):
        check_writable(path)
    with Publisher() as publisher:
        if output:
            publisher.add(output, planted.texts())
        else:
            stdout.write(planted.texts())
        if beside["truth"]:
            publisher.add(beside["truth"], selection_lines(planted.truth()))
        if kind == "os":
            publisher.add(beside["targets"], planted.targets())
        if kind == "fgm-groups":
            publisher.add(beside["groups"], planted.group_table())
        publisher.commit()


_BESIDE = ("truth", "targets", "groups")
_NEEDED = {"os": "targets", "fgm-groups": "groups"}


def _check_beside(kind: str, beside: dict[str, str], output: str | None) -> None:
    needed = _NEEDED.get(kind)
    for name in ("targets", "groups"):
        if name == needed and not beside[name]:
            raise UsageError(f"{kind} needs --{name} FILE", hint="or -o FILE, and it is written beside that")
        if name != needed:
            if beside[name] and not output:
                raise UsageError(f"--{name} has no use with {kind}")
            beside[name] = ""
