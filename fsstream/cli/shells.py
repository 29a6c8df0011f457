"""Completion in bash, zsh and fish.

The script of a shell hands over what stands before the cursor in COMP_LINE, and reads a line for each
completion: its kind (plain, file or dir), the whole word, what it means; tabs between them. Behind
`--option=` and `key=` a value is completed as well; a word that ends with `=` is followed by no space.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from click.shell_completion import ShellComplete, add_completion_class, split_arg_string

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Readline takes `=` for the end of a word, so that only what follows it may be answered.
_BASH = r"""%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT} before= kind value help
    local word=${line##*[[:space:]]}
    [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && before=${word%%=*}=
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            plain) COMPREPLY+=("${value#"$before"}") ;;
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
        esac
        [[ $value == *= ]] && compopt -o nospace
    done < <(COMP_LINE=$line %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = r"""#compdef %(prog_name)s
%(complete_func)s() {
    local -a plain described open files
    local kind value help line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            dir) files=(-/) ;;
            file) files=(-f) ;;
            *) if [[ $value == *= ]]; then
                   open+=("$value")
               elif [[ -n $help ]]; then
                   described+=("${value//:/\\:}:$help")
               else
                   plain+=("$value")
               fi ;;
        esac
    done < <(COMP_LINE=$line %(complete_var)s=zsh_complete $words[1])
    (( $#described )) && _describe -V fsstream described
    (( $#plain )) && compadd -V fsstream -a plain
    (( $#open )) && compadd -V fsstream -S '' -a open
    if (( $#files )); then
        compset -P '--*='
        _path_files $files
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = r"""function %(complete_func)s
    set -l line (commandline -cp | string collect)
    set -l word (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $word)
    set -l path (string replace -r -- '^--[^=]*=' '' $word)
    for completion in (env COMP_LINE=$line %(complete_var)s=fish_complete %(prog_name)s)
        set -l parts (string split \t -- $completion)
        switch $parts[1]
            case plain
                printf '%%s\t%%s\n' $parts[2] $parts[3]
            case dir
                printf '%%s\n' "$option"(__fish_complete_directories "$path")
            case file
                printf '%%s\n' "$option"(__fish_complete_path "$path")
        end
    end
end
complete --no-files --command %(prog_name)s --arguments '(%(complete_func)s)'
"""


class _Shell(ShellComplete):
    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)
        unfinished = words.pop() if words and not line[-1:].isspace() else ""
        return words[1:], unfinished

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        found = super().get_completions(args, incomplete)
        option, equals, _ = incomplete.partition("=")
        if equals and option.startswith("--"):
            for item in found:
                item.value = f"{option}={item.value}"
        return found

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return f"{item.type}\t{item.value}\t{' '.join((item.help or '').split())}"


@add_completion_class
class Bash(_Shell):
    """bash, which sources the script."""

    name = "bash"
    source_template = _BASH


@add_completion_class
class Zsh(_Shell):
    """zsh, which sources the script or finds it in fpath."""

    name = "zsh"
    source_template = _ZSH


@add_completion_class
class Fish(_Shell):
    """fish, which sources the script."""

    name = "fish"
    source_template = _FISH


SHELLS = (Bash.name, Zsh.name, Fish.name)
