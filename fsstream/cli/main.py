"""The command `fsstream`: finds the subcommand, and turns what goes wrong into an exit status."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import unicodedata
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from fsstream import __version__
from fsstream.cli import streams
from fsstream.errors import FsstreamError, Interrupted, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

# Imported only when called, so that --help stays fast.
COMMANDS = {
    "select": "stream -> selected features as JSON Lines",
    "resume": "go on with a run from its checkpoint",
    "predict": "one JSON line per example: score, probability, class",
    "evaluate": "one JSON object: accuracy, auc, rmse ... as they apply",
    "transform": "the same stream, reduced to the selected features",
    "inspect": "what is in a model, checkpoint or spool; verifies its digest",
    "merge": "models trained on shards -> one",
    "report": "one self-contained page with plots",
    "plan": "the memory, passes, disk and time a run will need",
    "synth": "planted problems of the papers, with their truth",
    "algos": "the backends, or one backend's parameters",
    "completion": "completion for bash, zsh or fish",
    "man": "the manual pages",
}


COMPLETION_VARIABLE = "_FSSTREAM_COMPLETE"  # what the scripts of `fsstream completion` set


class _Terminated(BaseException):
    """SIGTERM where no run hears it (see signals.py): what was begun is removed on the way out."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            raise UsageError(f"there is no command {cmd_name!r}", hint=_suggest_command(cmd_name))
        command = import_module(f"fsstream.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        command.short_help = COMMANDS[cmd_name]  # what a shell shows beside it
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Select features from streams too wide and too long for anything else.

    Reads files or standard input, learns in one pass and in fixed memory, writes exactly k named
    features. `fsstream COMMAND --help` tells more.
    """


def main() -> NoReturn:
    """The entry point of the console script."""
    streams.prepare()
    ours = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminate)
    # numpy's library would start threads for products that are never taken here, and let them spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = run(sys.argv[1:])
    if ours:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _leave(status)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the program on the spot
    raise _Terminated


def _leave(status: int) -> NoReturn:
    """End here: taking the interpreter apart would take longer than the output of a small run.

    It would also wait for a reader that is stuck in a pipe that says nothing, or pull its floor away.
    """
    atexit._run_exitfuncs()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        status = status or FsstreamError.exit_code
    os._exit(status)


def run(arguments: list[str]) -> int:
    """Run one command line; the exit status."""
    if COMPLETION_VARIABLE in os.environ:
        import_module("fsstream.cli.shells")  # which click asks for what to say
    said: set[str] = set()  # "debug", by a flag, the environment or --config
    try:
        cli.main(arguments, prog_name="fsstream", standalone_mode=False, obj=said)
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        return UsageError.exit_code
    except click.ClickException as error:
        return _complain(_usage_error(error, arguments))
    except Interrupted as stop:
        _say(f"fsstream: {stop.message}")
        return stop.exit_code
    except _Terminated:
        _say("fsstream: stopped by SIGTERM")
        return 128 + signal.SIGTERM
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Exception as error:
        if "debug" in said or "--debug" in arguments:  # before it is parsed, too
            import traceback

            traceback.print_exception(error)
        explained = _explained(error)
        if isinstance(explained, UsageError):
            _name_variable(explained, arguments)
        return _complain(explained)
    return 0


def _explained(error: Exception) -> FsstreamError:
    """What is said of an exception that is not, or not yet, one of ours."""
    if isinstance(error, FsstreamError):
        return error
    if isinstance(error, MemoryError):
        return FsstreamError("out of memory", hint="lower --memory, --k or sketch_width")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return FsstreamError(f"{where}{error.strerror or error}")
    what = f"internal error: {type(error).__name__}: {error}"
    return FsstreamError(what, hint="please report it, with what --debug adds")


def _suggest_command(name: str) -> str:
    from fsstream.option_fields import suggest

    return suggest(name, COMMANDS)


def _usage_error(error: click.ClickException, arguments: list[str]) -> UsageError:
    """What click says, in one line, with the nearest of what there is."""
    from fsstream.option_fields import suggest

    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "fsstream"
    hint = f"`{path} --help` lists what there is"
    message = error.format_message()
    parameter = getattr(error, "param", None)
    if isinstance(parameter, click.Option) and context is not None:
        hint = _where_it_stands(parameter.opts, str(parameter.envvar), arguments) or hint
    if parameter is not None and isinstance(parameter.type, click.Choice):
        choices = [str(choice) for choice in parameter.type.choices]
        message = message.partition(" is not one of ")[0].partition(" Choose from:")[0]
        if isinstance(error, click.MissingParameter):
            return UsageError(message, hint=f"one of {', '.join(choices)}")
        value = message.rpartition(": ")[2].strip("'")
        close = suggest(value, choices)
        if close.startswith("did"):
            hint = close
        return UsageError(f"{message} is not one of {', '.join(choices)}", hint=hint)
    return UsageError(message, hint=hint)


def _where_it_stands(flags: Sequence[str], variable: str, arguments: list[str]) -> str | None:
    """A hint for a wrong value that is not on the command line."""
    if {argument.partition("=")[0] for argument in arguments} & set(flags):
        return None
    return f"{variable} in the environment says so" if variable in os.environ else None


def _name_variable(error: UsageError, arguments: list[str]) -> None:
    """What is wrong with a flag that the message begins with may be told by the environment."""
    flag = error.message.partition(" ")[0].rstrip(":")
    if flag.startswith("--"):
        variable = f"FSSTREAM_{flag[2:].replace('-', '_').upper()}"
        where = _where_it_stands([flag], variable, arguments)
        error.hint = "; ".join(filter(None, (error.hint, where))) or None


def _complain(error: FsstreamError) -> int:
    _say(_on_one_line(f"fsstream: error: {error.message}"))
    if error.hint:
        _say(_on_one_line(f"hint: {error.hint}"))
    return error.exit_code


def _on_one_line(text: str) -> str:
    """With escapes for what would break the line, or tell a terminal to do something: names of files may."""
    return "".join(repr(letter)[1:-1] if unicodedata.category(letter) == "Cc" else letter for letter in text)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.buffer.write(line.encode("utf-8", "backslashreplace") + b"\n")
        sys.stderr.flush()
