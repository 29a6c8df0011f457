"""`fsstream completion`: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import click

from fsstream.cli import shells, stdout
from fsstream.cli.options import debug_option


@click.command("completion")
@click.argument("shell", type=click.Choice(shells.SHELLS), metavar="SHELL")
@debug_option
def command(shell: str) -> None:
    """Write the completion script of a SHELL: bash, zsh or fish.

    \b
    bash   fsstream completion bash > ~/.local/share/bash-completion/completions/fsstream
    zsh    fsstream completion zsh > ~/.zfunc/_fsstream    (a folder of fpath)
    fish   fsstream completion fish > ~/.config/fish/completions/fsstream.fish
    """
    from click.shell_completion import get_completion_class

    from fsstream.cli.main import COMPLETION_VARIABLE, cli

    found = get_completion_class(shell)
    assert found is not None
    stdout.write([found(cli, {}, "fsstream", COMPLETION_VARIABLE).source().encode(), b"\n"])
