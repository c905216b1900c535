"""Answer a shell that asks for completions with variables of its environment."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

COMPLETION_VARIABLE = "_CUB_COMPLETE"
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


def _format_lines(candidates: Candidates) -> str:
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
    "bash": Shell(_parse_bash_words, _format_lines, shows_descriptions=False),
    "zsh": Shell(_parse_line, _format_zsh, shows_descriptions=True),
    "fish": Shell(_parse_line, _format_lines, shows_descriptions=True),
}


def respond_to_shell() -> None:
    """Print the answer to stdout."""
    with suppress(OSError, AttributeError):  # the reader is gone, or stdout is closed
        from cub.cli import output

        output.print_bytes(answer_shell(os.environ).encode("utf-8", "replace"))


def answer_shell(environ: Mapping[str, str]) -> str:
    """Return what to print for a shell that asks: the words that may come next.

    Return "" after any error: you press Tab, and want no message in the middle of your line.
    """
    try:
        return _answer(environ)
    except (Exception, SystemExit):  # noqa: BLE001 - see above
        return ""


def _answer(environ: Mapping[str, str]) -> str:
    action, _, name = environ[COMPLETION_VARIABLE].partition("_")
    shell = SHELLS[name]
    if action != "complete":
        return ""
    from cub.cli.app import build_root_command
    from cub.cli.completion.candidates import list_candidates

    words, word = shell.parse_words(environ)
    described = shell.shows_descriptions
    candidates = list_candidates(build_root_command(), words, word, with_descriptions=described)
    return shell.format_candidates(candidates)
