"""`fsstream predict`: scores of a stream."""

from __future__ import annotations

from fsstream.apply_options import ApplyOptions
from fsstream.cli import stdout
from fsstream.cli.options import make_command


def predict(options: ApplyOptions) -> None:
    """Score every example of a stream with a model, one JSON line each.

    What is not said about the input is taken to be as it was when the model was trained.
    """
    from fsstream.apply import predictions
    from fsstream.model_file import load_model
    from fsstream.publish import check_writable

    check_writable(options.output)
    model = load_model(options.model)
    stdout.deliver(options.output, predictions(model, options))


command = make_command(ApplyOptions, model="MODEL")(predict)
