"""Find the program that a command line runs, below the wrappers in front of it.

The words come from `programs.toml`.
"""

from __future__ import annotations

import re
from functools import cache

from cub.repomap.data import load_table
from cub.repomap.stack.facts import CommandPurpose

_SEPARATORS = re.compile(r"&&|\|\||;|\||\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
_MAX_WORDS = 64  # what comes later tells nothing about the purpose


def split_commands(line: str) -> list[str]:
    """Return the commands of a line that has several: `tsc && vite build`."""
    return [part.strip() for part in _SEPARATORS.split(line) if part.strip()]


def unwrap_command(command: str) -> list[str]:
    """Return the program and its arguments: of `CI=1 uv run --locked python -m pytest`, `pytest`.

    A manager's own words come before its options: `pnpm build -r` for `pnpm -r build`.
    """
    words = command.split()[:_MAX_WORDS]
    while words:
        rest = _drop_wrapper(words)
        if len(rest) == len(words):
            return _drop_manager_options(rest)
        words = rest
    return []


def _drop_wrapper(words: list[str]) -> list[str]:
    if _ASSIGNMENT.fullmatch(words[0]):
        return words[1:]
    for wrapper in _load_wrappers().get(words[0], ()):
        if words[: len(wrapper)] == wrapper:
            return _drop_options(words[len(wrapper) :])
    return words


def _drop_options(words: list[str]) -> list[str]:
    with_value = get_command_words("wrapper_options_with_value")
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def _drop_manager_options(words: list[str]) -> list[str]:
    if words and words[0] in get_command_words("managers"):
        return [words[0], *_drop_options(words[1:])]
    return words


def make_command_key(command: str) -> str:
    """Return a string that is the same for commands that run the same, whatever their options."""
    return " && ".join(
        " ".join(
            word for word in unwrap_command(part) if word not in ("run", ".") and word[0] != "-"
        )
        for part in split_commands(command)
    )


@cache
def load_program_purposes() -> dict[str, CommandPurpose]:
    """Return the purpose of each known program, which may be several words (`go test`)."""
    purposes: dict[CommandPurpose, list[str]] = load_table("programs")["purposes"]
    return {program: purpose for purpose, programs in purposes.items() for program in programs}


@cache
def get_command_words(key: str) -> frozenset[str]:
    """Return the words under `key` of the table's part `command_lines`."""
    return frozenset(load_table("programs")["command_lines"][key])


@cache
def _load_wrappers() -> dict[str, list[list[str]]]:
    """Return the wrappers as words, by their first word, the longest first."""
    by_first_word: dict[str, list[list[str]]] = {}
    for wrapper in sorted(get_command_words("wrappers"), key=lambda text: (-len(text), text)):
        by_first_word.setdefault(wrapper.split()[0], []).append(wrapper.split())
    return by_first_word
