"""`fsstream transform`: a stream reduced to the selected features."""

from __future__ import annotations

from fsstream.apply_options import TransformOptions
from fsstream.cli import stdout
from fsstream.cli.options import make_command


def transform(options: TransformOptions) -> None:
    """Reduce a stream to the selected features, in the same format or another.

    Labels, tags and weights of rows stay; with a MODEL, what is not said about the input is taken to be
    as it was in training. A sequence becomes its selected k-mers, parted by N.
    """
    from fsstream.publish import Publisher, check_writable
    from fsstream.transform import Transform

    for path in (options.output, options.names):
        check_writable(path)
    reduced = Transform(options)
    with Publisher() as publisher:
        if options.names:
            publisher.add(options.names, reduced.names_file())
        if options.output is None or stdout.is_meant(options.output):
            stdout.write(reduced.texts())
        else:
            publisher.add(options.output, reduced.texts())
        publisher.commit()


command = make_command(TransformOptions, model="SELECTION|MODEL")(transform)
