"""`fsstream plan`: what a run will need, before it runs."""

from __future__ import annotations

import sys

from fsstream.cli import stdout
from fsstream.cli.options import make_command
from fsstream.config import SelectOptions


def plan(options: SelectOptions) -> None:
    """Say what `select` with these options will need: memory, passes, disk and time, as one JSON object.

    The beginning of the INPUT is tried, up to 64 MB of it; of standard input nothing is read.
    """
    from fsstream.output import json_line
    from fsstream.planning.estimate import plan_run
    from fsstream.summary import show_plan

    found = plan_run(options)
    stdout.write([json_line(found)])
    if options.verbose:
        print(show_plan(found), file=sys.stderr)


command = make_command(SelectOptions, config=True)(plan)
