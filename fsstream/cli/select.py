"""`fsstream select`: the main job."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from fsstream.cli import stdout
from fsstream.cli.options import make_command
from fsstream.config import SelectOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsstream.run import Outcome


def select(options: SelectOptions) -> None:
    """Select features from a stream and write them as JSON Lines, largest |weight| first.

    INPUT is any number of files, or standard input; compression is recognised by content.
    """
    from fsstream import run

    run_and_publish(options, lambda: run.select(options))


def run_and_publish(options: SelectOptions, go: Callable[[], Outcome]) -> None:
    """Run, and have all that was asked for appear together: whole, or not at all."""
    from fsstream.errors import UsageError
    from fsstream.lock import held
    from fsstream.output import check_form, json_text, selection_file
    from fsstream.publish import Publisher, check_writable

    if options.with_state and options.model is None:
        raise UsageError("--with-state puts the state into --model, which is not given")
    for path in (options.output, options.model, options.summary, options.bad_lines, options.checkpoint):
        check_writable(path)
    check_form(options.output)
    with held(options.lock), Publisher() as publisher:
        outcome = go()
        results = []
        if options.model:
            results.append((options.model, outcome.model.to_bytes()))
        if options.summary:
            results.append((options.summary, json_text(outcome.summary)))
        output = options.output or "-"
        results.append((output, selection_file(outcome.model.selection, output)))
        for path, data in results:
            if not stdout.is_meant(path):
                publisher.add(path, data)
        # Standard output first: where it is full the files stay. That its reader has gone is no failure.
        with suppress(click.exceptions.Exit):
            stdout.write([data for path, data in results if stdout.is_meant(path)])
        publisher.commit()
    if options.verbose:
        from fsstream.summary import show_summary

        print(show_summary(outcome.summary), file=sys.stderr)


command = make_command(SelectOptions, config=True)(select)
