"""`fsstream man`: the manual pages, made from the same text as --help."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsstream import __version__
from fsstream.cli import stdout
from fsstream.cli.options import PATH, debug_option, grouped_options
from fsstream.errors import UsageError
from fsstream.option_fields import suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

EXITS = (
    ("0", "done"),
    ("1", "failure; a run that diverged"),
    ("2", "usage, or an extra that is not installed"),
    ("3", "bad or truncated data"),
    ("4", "a declared limit cannot be kept"),
    ("5", "corrupt model or checkpoint"),
    ("75", "another run holds the lock"),
    ("130, 143", "stopped by SIGINT, SIGTERM"),
)


def _complete_command(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from fsstream.cli.main import COMMANDS

    return [name for name in COMMANDS if name.startswith(incomplete)]


@click.command("man")
@click.argument("name", required=False, metavar="[COMMAND]", shell_complete=_complete_command)
@click.option("--output-dir", type=PATH, help="write the pages of all commands into a folder")
@debug_option
def command(name: str | None, output_dir: str | None) -> None:
    """Write the manual page of fsstream, or of one COMMAND: `fsstream man select | man -l -`."""
    from fsstream.cli.main import COMMANDS

    if name is not None and name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}", hint=suggest(name, COMMANDS))
    if output_dir is None:
        stdout.write([page(name).encode()])
        return
    from fsstream.publish import Publisher

    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    with Publisher() as publisher:
        for each in (None, *COMMANDS):
            file = folder / (f"fsstream-{each}.1" if each else "fsstream.1")
            publisher.add(str(file), page(each).encode())
        publisher.commit()


def page(name: str | None) -> str:
    """The page of a command, or of the program, as roff."""
    from fsstream.cli.main import COMMANDS, cli

    found = cli if name is None else cli.get_command(click.Context(cli), name)
    assert found is not None
    title = f"fsstream-{name}" if name else "fsstream"
    parent = click.Context(cli, info_name="fsstream", **cli.context_settings)
    context = parent if name is None else click.Context(found, parent, info_name=name)
    summary = (
        COMMANDS[name] if name else "select features from streams too wide and too long for anything else"
    )
    usage = " ".join(["fsstream", *([name] if name else []), *found.collect_usage_pieces(context)])
    lines = [
        f'.TH "{title.upper()}" 1 "" "fsstream {__version__}" "User Commands"',
        ".ad l", ".nh",
        ".SH NAME", rf"{_plain(title)} \- {_plain(summary)}",
        ".SH SYNOPSIS", _plain(usage),
        ".SH DESCRIPTION", *_paragraphs(found.help or ""),
    ]  # fmt: skip
    if name is None:
        lines.append(".SH COMMANDS")
        for known, what in COMMANDS.items():
            lines += [".TP", rf"\fBfsstream\-{_plain(known)}\fR(1)", _plain(what)]
    lines += _options(found, context)
    lines.append(".SH EXIT STATUS")
    for status, what in EXITS:
        lines += [".TP", rf"\fB{status}\fR", _plain(what)]
    lines.append(".SH SEE ALSO")
    others = [f"fsstream-{known}" for known in COMMANDS if known != name] if name is None else ["fsstream"]
    lines.append(", ".join(rf"\fB{_plain(other)}\fR(1)" for other in others))
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(cleandoc(text).replace("\b\n", "\b").split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):  # as it stands
            yield from (".nf", *map(_plain, paragraph[1:].splitlines()), ".fi")
        else:
            yield _plain(" ".join(paragraph.split()))


def _options(found: click.Command, context: click.Context) -> Iterator[str]:
    """Under the headings of --help, in its order."""
    for heading, records in grouped_options(found, context):
        yield f".SH {heading.upper()}"
        for flags, what in records:
            yield from (".TP", _flags(flags), _plain(what))


def _flags(record: str) -> str:
    """Flags in bold, what they take in italics; choices may part at their bars."""
    words = record.split(" ")
    shown = [rf"\fB{_plain(word)}\fR" if word.startswith("-") else _value(word) for word in words]
    return " ".join(shown)


def _value(word: str) -> str:
    plain = _plain(word).replace("|", r"|\:")
    return rf"\fI{plain}\fR" if word.isupper() else plain


def _plain(text: str) -> str:
    """Text without meaning to roff."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped
