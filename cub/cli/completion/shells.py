"""Hold the scripts that make shells ask cub, and translate each shell's question and answer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_BASH = r"""_cub_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$(printf '%q' "$line")")
    done < <(IFS=$'\n'; env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" \
        _CUB_COMPLETE=complete_bash "$1" 2>/dev/null)
}
complete -o default -o nosort -F _cub_completion cub 2>/dev/null ||
    complete -o default -F _cub_completion cub
"""

_ZSH = r"""#compdef cub
_cub_completion() {
    eval "$(env _TYPER_COMPLETE_ARGS="${(j: :)words[1,$CURRENT]}" \
        _CUB_COMPLETE=complete_zsh $words[1] 2>/dev/null)"
}
if [ "$funcstack[1]" = _cub ]; then
    _cub_completion "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _cub_completion cub
fi
"""

_FISH = r"""function __cub_complete
    set -l found (env _TYPER_COMPLETE_ARGS=(commandline -cp | string collect) \
        _CUB_COMPLETE=complete_fish cub 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command cub --no-files --keep-order --arguments '(__cub_complete)'
"""

SHELL_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


Candidates = Sequence[tuple[str, str]]
CommandLineWords = tuple[list[str], str]  # the words before, and the one that is being typed


class Shell(NamedTuple):
    """Describe how a shell asks and is answered, and whether it shows descriptions of words."""

    parse_words: Callable[[Mapping[str, str]], CommandLineWords]
    format_candidates: Callable[[Candidates], str]
    shows_descriptions: bool


def _parse_bash_words(environ: Mapping[str, str]) -> CommandLineWords:
    """Return the words of bash, which passes one in each line, and the current one's number."""
    line = environ["COMP_WORDS"]
    lines = line.split("\n")
    words = [" ".join(_split(word)) for word in lines] if len(lines) > 1 else _split(line)
    number = int(environ["COMP_CWORD"])
    return words[1:number], words[number] if number < len(words) else ""


def _parse_line(environ: Mapping[str, str]) -> CommandLineWords:
    """Return the words of zsh and fish, which pass the command line up to the cursor."""
    line = environ["_TYPER_COMPLETE_ARGS"]
    words = _split(line)[1:]
    return (words[:-1], words[-1]) if words and not line.endswith(" ") else (words, "")


def _split(line: str) -> list[str]:
    """Return the words of a line; a quote that is still open ends with it."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:
        words.append(lexer.token)
    return words


def _format_bash(candidates: Candidates) -> str:
    return "".join(f"{word}\n" for word, _ in candidates)


def _format_fish(candidates: Candidates) -> str:
    return "".join(f"{word}\t{about}\n" if about else f"{word}\n" for word, about in candidates)


def _format_zsh(candidates: Candidates) -> str:
    """Return code, which the scripts of earlier installations evaluate.

    It is a list of nothing but quoted strings, so no title can run anything.
    """
    if not candidates:
        return "_files\n"
    items = " ".join(_format_zsh_item(word, about) for word, about in candidates)
    return f"local -a cub_words; cub_words=( {items} ); _describe -V cub cub_words\n"


def _format_zsh_item(word: str, about: str) -> str:
    escaped = word.replace("\\", "\\\\").replace(":", "\\:")
    item = f"{escaped}:{about}" if about else escaped
    return "'" + item.replace("'", "'\\''") + "'"


SHELLS = {
    "bash": Shell(_parse_bash_words, _format_bash, shows_descriptions=False),
    "zsh": Shell(_parse_line, _format_zsh, shows_descriptions=True),
    "fish": Shell(_parse_line, _format_fish, shows_descriptions=True),
}
