"""The fields of the option dataclasses as click options, so that each flag is written once."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from fsstream.cli import stdout
from fsstream.config import IN, LEARN, OUT, WITH, InputOptions, SelectOptions
from fsstream.errors import FsstreamError
from fsstream.file_clashes import check_file_clashes
from fsstream.option_fields import from_mapping, suggest
from fsstream.units import parse_interval, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = Callable[..., None]

_VARIABLE = "FSSTREAM_"  # that an option's name in the environment begins with
_OTHER_VARIABLES = {"FSSTREAM_CONFIG", "FSSTREAM_DEBUG", "FSSTREAM_ISA"}  # the last is of the native core
_INPUT_IS_OPTIONAL = ("plan", "resume")
_SHORT = {"quiet": "-q", "verbose": "-v", "output": "-o"}
_METAVARS = {"integer": "N", "number": "X", "path": "FILE", "table": "FILE", "text": "NAME", "list": "TEXT"}


class _Parsed(click.ParamType[Any]):
    """A value with a unit, parsed by one of the functions of `units`."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


PATH = click.Path(readable=False)  # what cannot be read is told by what opens it, with the reason
_TYPES: dict[str, Any] = {
    "integer": int,
    "number": float,
    "text": str,
    "path": PATH,
    "table": PATH,
    "size": _Parsed("size", parse_size),
    "interval": _Parsed("time|size", parse_interval),
}


GENERAL = "General"
_HEADINGS = (IN, LEARN, WITH, OUT, GENERAL)


class GroupedOption(click.Option):
    """An option that knows the heading it stands under in --help."""

    group = GENERAL


class GroupedCommand(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, records in grouped_options(self, ctx):
            with formatter.section(heading):
                formatter.write_dl(records)


def grouped_options(found: click.Command, ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
    """Flags and what they do, under their headings."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for param in found.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None and isinstance(param, click.Option):
            groups.setdefault(getattr(param, "group", GroupedOption.group), []).append(record)
    return sorted(groups.items(), key=lambda item: _HEADINGS.index(item[0]))


def _note_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and ctx.obj is not None:
        ctx.obj.add(param.name)


# Of every command. The environment and --config may say it, too: main.run hands a set along, and looks there.
debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    envvar=_VARIABLE + "DEBUG",
    help="show tracebacks",
)


def make_command(
    kind: type[Any], *, config: bool = False, **arguments: str
) -> Callable[[Function], click.Command]:
    """Turn a function of one options object into a command with the flags of its dataclass.

    `arguments` names positional arguments, field -> metavar, that come before the inputs.
    """

    def make(function: Function) -> click.Command:
        def call(**values: Any) -> None:
            options = from_mapping(kind, values)
            options.check()
            if isinstance(options, InputOptions):  # `resume` has them in its checkpoint
                check_file_clashes(options)
            if sys.stdout is None and stdout.is_meant(getattr(options, "output", "")):
                raise FsstreamError("standard output is closed", hint="redirect it, or name a file: --output")
            wants_input = not options.inputs and function.__name__ not in _INPUT_IS_OPTIONAL
            if wants_input and sys.stdin is not None and sys.stdin.isatty():
                print("fsstream: reading from the terminal; Ctrl-D ends the input", file=sys.stderr)
            if not options.quiet:
                for variable, hint in _unknown_variables():
                    print(
                        f"fsstream: note: {variable} in the environment is no option: {hint}", file=sys.stderr
                    )
            from fsstream._native import return_freed_memory

            return_freed_memory()
            function(options)

        params: list[click.Parameter] = [
            click.Argument([name], metavar=metavar, type=PATH) for name, metavar in arguments.items()
        ]
        params.append(click.Argument(["inputs"], nargs=-1, metavar="[INPUT]...", type=PATH))
        params += [_click_option(field) for field in dataclasses.fields(kind) if "doc" in field.metadata]
        if config:
            params.append(_config_option(kind))
        return debug_option(
            GroupedCommand(function.__name__, params=params, callback=call, help=function.__doc__)
        )

    return make


def complete_backend(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The backends, for a shell."""
    from fsstream.algorithms import BACKENDS

    return [name for name in BACKENDS if name.startswith(incomplete)]


def _complete_parameter(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """`key=` of the parameters of the backend that was named before; `key=choice` behind one."""
    from fsstream.algorithms import BACKENDS, backend

    algo = ctx.params.get("algo")
    if algo not in BACKENDS:
        return []
    fields = dataclasses.fields(backend(algo).Parameters)
    found = [f"{field.name}={choice}" for field in fields for choice in field.metadata.get("choices") or [""]]
    return [item for item in found if item.startswith(incomplete)]


_COMPLETIONS = {"algo": complete_backend, "set": _complete_parameter}


def _click_option(field: dataclasses.Field[Any]) -> click.Option:
    meta = field.metadata
    kind = meta["kind"]
    flag = "--" + field.name.replace("_", "-")
    names = [field.name, f"{flag}/--no-{flag[2:]}" if kind == "flag" else flag]
    if field.name in _SHORT:
        names.append(_SHORT[field.name])
    settings: dict[str, Any] = {
        "help": meta["doc"],
        "default": field.default,
        "envvar": _VARIABLE + field.name.upper(),
        "show_default": field.default not in (None, ()) and field.default is not False and kind != "size",
    }
    if kind == "switch":
        settings["is_flag"] = True
    elif kind == "list":
        settings["multiple"] = True
    elif meta["choices"]:
        settings["type"] = click.Choice(meta["choices"])
    elif kind != "flag":
        settings["type"] = _TYPES[kind]
    if not meta["choices"]:
        settings["metavar"] = meta["metavar"] or _METAVARS.get(kind)
    if field.name in _COMPLETIONS:
        settings["shell_complete"] = _COMPLETIONS[field.name]
    option = GroupedOption(names, **settings)
    option.group = meta["group"]
    return option


def _unknown_variables() -> Iterator[tuple[str, str]]:
    """Variables that look like options and are of no command, each with a hint."""
    given = {name for name in os.environ if name.startswith(_VARIABLE)} - _OTHER_VARIABLES
    given -= {_VARIABLE + field.name.upper() for field in dataclasses.fields(SelectOptions)}
    if given:
        from fsstream.apply_options import TransformOptions
        from fsstream.resume_options import ResumeOptions

        kinds = (SelectOptions, TransformOptions, ResumeOptions)
        known = {_VARIABLE + field.name.upper() for kind in kinds for field in dataclasses.fields(kind)}
        for name in sorted(given - known):
            yield name, suggest(name, known)


def _config_option(kind: type[Any]) -> click.Option:
    def load(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
        if path is not None:
            from fsstream.cli.config_file import read_config

            ctx.default_map = read_config(path, kind)

    return GroupedOption(
        ["--config"],
        type=PATH,
        metavar=_METAVARS["path"],
        is_eager=True,
        expose_value=False,
        callback=load,
        envvar=_VARIABLE + "CONFIG",
        help="TOML file with any of these options; flags and environment win",
    )
