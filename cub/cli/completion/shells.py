"""The shells: how each tells what was typed, and how it wants to be answered."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Offers = Sequence[tuple[str, str]]
Typed = tuple[list[str], str]  # the words before, and the one that is being typed


class Shell(NamedTuple):
    """`describes`: whether it shows what a word means."""

    typed: Callable[[Mapping[str, str]], Typed]
    shown: Callable[[Offers], str]
    describes: bool


def _words(environ: Mapping[str, str]) -> Typed:
    """Bash has them one by one, with a number."""
    line = environ["COMP_WORDS"]
    words = [_plain(one) for one in line.split("\n")] if "\n" in line else _split(line)
    at = int(environ["COMP_CWORD"])
    return words[1:at], words[at] if at < len(words) else ""


def _line(environ: Mapping[str, str]) -> Typed:
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


def _bash(offers: Offers) -> str:
    return "".join(f"{word}\n" for word, _ in offers)


def _fish(offers: Offers) -> str:
    return "".join(f"{word}\t{about}\n" if about else f"{word}\n" for word, about in offers)


def _zsh(offers: Offers) -> str:
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
    "bash": Shell(_words, _bash, describes=False),
    "zsh": Shell(_line, _zsh, describes=True),
    "fish": Shell(_line, _fish, describes=True),
}
