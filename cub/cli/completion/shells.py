"""The scripts that make the shells ask cub.

The shells: how each tells what was typed, and how it wants to be answered.
"""

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
    """`shows_descriptions`: whether it shows what a word means."""

    parse_words: Callable[[Mapping[str, str]], CommandLineWords]
    format_candidates: Callable[[Candidates], str]
    shows_descriptions: bool


def _words(environ: Mapping[str, str]) -> CommandLineWords:
    """Bash has them one by one, with a number."""
    line = environ["COMP_WORDS"]
    words = [_plain(one) for one in line.split("\n")] if "\n" in line else _split(line)
    at = int(environ["COMP_CWORD"])
    return words[1:at], words[at] if at < len(words) else ""


def _line(environ: Mapping[str, str]) -> CommandLineWords:
    """The command line up to the cursor."""
    line = environ["_TYPER_COMPLETE_ARGS"]
    words = _split(line)[1:]
    if words and not line.endswith(" "):
        return words[:-1], words[-1]
    return words, ""


def _plain(word: str) -> str:
    return " ".join(_split(word))


def _split(line: str) -> list[str]:
    """The words of a line; a quote that is still open ends with it."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[str] = []
    try:
        found.extend(lexer)
    except ValueError:
        found.append(lexer.token)
    return found


def _bash(offers: Candidates) -> str:
    return "".join(f"{word}\n" for word, _ in offers)


def _fish(offers: Candidates) -> str:
    return "".join(f"{word}\t{about}\n" if about else f"{word}\n" for word, about in offers)


def _zsh(offers: Candidates) -> str:
    """Code, because that is what scripts of earlier installations evaluate: a list of nothing but
    quoted texts, so that no title can run anything.
    """
    if not offers:
        return "_files\n"
    items = " ".join(_quoted(_described(word, about)) for word, about in offers)
    return f"local -a cub_words; cub_words=( {items} ); _describe -V cub cub_words\n"


def _described(word: str, about: str) -> str:
    escaped = word.replace("\\", "\\\\").replace(":", "\\:")
    return f"{escaped}:{about}" if about else escaped


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS = {
    "bash": Shell(_words, _bash, shows_descriptions=False),
    "zsh": Shell(_line, _zsh, shows_descriptions=True),
    "fish": Shell(_line, _fish, shows_descriptions=True),
}
