"""`fsstream resume`: go on with a run that was stopped, or that the machine stopped."""

from __future__ import annotations

from fsstream.cli.options import make_command
from fsstream.cli.select import run_and_publish
from fsstream.resume_options import ResumeOptions


def resume(options: ResumeOptions) -> None:
    """Go on with a run where CHECKPOINT stands: the output is that of a run that was never stopped.

    Every option is as it was, and so is the input; a run on standard input is fed the same stream again.
    INPUT names the data anew, where it has moved.
    """
    from fsstream import run
    from fsstream.checkpoint import load_checkpoint

    checkpoint = load_checkpoint(options.checkpoint_file)
    resumed = checkpoint.resumed(options)
    run_and_publish(resumed, lambda: run.resume(checkpoint, resumed))


command = make_command(ResumeOptions, checkpoint_file="CHECKPOINT")(resume)
