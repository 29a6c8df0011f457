"""`fsstream report`: one page about runs."""

from __future__ import annotations

import click

from fsstream.cli import stdout
from fsstream.cli.options import PATH, GroupedCommand, debug_option
from fsstream.errors import UsageError


@click.command("report", cls=GroupedCommand)
@click.argument("files", nargs=-1, metavar="SUMMARY...", type=PATH)
@click.option("--output", "-o", type=PATH, help="write the page to a file")
@click.option("--title", default="Feature selection", show_default=True, help="heading of the page")
@debug_option
def command(files: tuple[str, ...], output: str | None, title: str) -> None:
    """Make one self-contained HTML page of what `select --summary` wrote; several runs side by side.

    Models and selections are shown too, as far as they tell.
    """
    from fsstream.file_clashes import check_not_read
    from fsstream.publish import check_writable
    from fsstream.report.page import make_page
    from fsstream.report.runs import load_runs

    if not files:
        raise UsageError(
            "there is nothing to report", hint="name a summary: `fsstream select --summary FILE`"
        )
    check_not_read(output, files)
    check_writable(output)
    page = make_page(load_runs(list(files)), title).encode("utf-8", "backslashreplace")
    stdout.deliver(output, [page])
