"""`fsstream evaluate`: how good a model is on a labelled stream."""

from __future__ import annotations

from fsstream.apply_options import ApplyOptions
from fsstream.cli import stdout
from fsstream.cli.options import make_command


def evaluate(options: ApplyOptions) -> None:
    """Measure a model on a labelled stream: one JSON object.

    What is not said about the input is taken to be as it was when the model was trained.
    """
    from fsstream.apply import evaluate_model
    from fsstream.model_file import load_model
    from fsstream.output import json_line
    from fsstream.publish import check_writable

    check_writable(options.output)
    stdout.deliver(options.output, [json_line(evaluate_model(load_model(options.model), options))])


command = make_command(ApplyOptions, model="MODEL")(evaluate)
