"""Find the program that a command line runs, below the wrappers in front of it, and what it needs.

The words come from `programs.toml`, which also says which programs are of one ecosystem.
"""

from __future__ import annotations

import re
from functools import cache
from posixpath import normpath

from cub.repomap.data import index_words, load_words
from cub.repomap.stack.facts import ProjectCommand, ProjectStack

_SEPARATORS = re.compile(r"&&|\|\||;|\||\n")
_CD = re.compile(r"cd[ ]+([\w./-]+)")
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
            is_manager = rest[0] in get_command_words("managers")
            return [rest[0], *_drop_options(rest[1:])] if is_manager else rest
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


def make_command_key(command: str) -> str:
    """Return a string that is the same for commands that run the same, whatever their options."""
    return " && ".join(
        " ".join(
            word for word in unwrap_command(part) if word not in ("run", ".") and word[0] != "-"
        )
        for part in split_commands(command)
    )


def get_command_words(key: str) -> frozenset[str]:
    """Return the words under `key` of the table's part `command_lines`."""
    return load_words("programs", "command_lines", key)


@cache
def _load_wrappers() -> dict[str, list[list[str]]]:
    """Return the wrappers as words, by their first word, the longest first."""
    by_first_word: dict[str, list[list[str]]] = {}
    for wrapper in sorted(get_command_words("wrappers"), key=lambda text: (-len(text), text)):
        by_first_word.setdefault(wrapper.split()[0], []).append(wrapper.split())
    return by_first_word


def find_install_command(stack: ProjectStack, line: str) -> ProjectCommand | None:
    """Return the command that installs what a line needs: `npm install` for `npm test`.

    It is the one of the nearest folder, from that of the line (`cd packages/api && pytest`) up to
    the root. Return None if no command installs for the ecosystem of the line, or if the line
    tells no ecosystem and there are several to choose from.
    """
    change = _CD.fullmatch(next(iter(split_commands(line)), ""))
    folder, ecosystem = normpath(change[1]) if change else "", detect_ecosystem(line)
    installs = sorted(
        (
            one
            for one in stack.filter_commands("install")
            if not one.folder or f"{folder}/".startswith(f"{one.folder}/")
        ),
        key=lambda one: -len(one.folder),
    )
    known = {detect_ecosystem(one.text) for one in installs} - {""}
    if not ecosystem and len(known) > 1:
        return None
    fitting = {"", ecosystem} if ecosystem else {"", *known}
    return next((one for one in installs if detect_ecosystem(one.text) in fitting), None)


def detect_ecosystem(line: str) -> str:
    """Return the ecosystem of the first program in a line that has one, "" for none."""
    ecosystems: dict[str, str] = index_words("programs", "ecosystems")
    programs = (
        word.rpartition("/")[2]
        for part in split_commands(line)
        for word in (part.split()[0], *unwrap_command(part)[:1])
    )
    return next((ecosystems[program] for program in programs if program in ecosystems), "")
