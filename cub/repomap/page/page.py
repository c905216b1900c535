"""The body of the map: every part within its share of the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cub.repomap.outline.words import one_line, shown_path
from cub.repomap.page.room import Part, first_lines, fitted, room_in
from cub.repomap.page.symbols import symbol_lines
from cub.repomap.page.users import users_of
from cub.repomap.ranking.ranking import unranked
from cub.repomap.stack.facts import Command, Technology
from cub.repomap.survey import RepoMap
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.repomap.structure import Structure

TITLE = "# Project map\n\n"
# Shares of the room, in this order; what a part does not need goes to the ones behind it.
_ABOUT, _COMMANDS, _LAYOUT, _SYMBOLS = 0.16, 0.1, 0.14, 0.6


def body(found: RepoMap, tokens: int, header: int) -> str:
    """The Markdown text behind the header; with the `header`'s tokens, at most `tokens`.

    "" where there is nothing to say.
    """
    parts = [
        Part("", partial(first_lines, list(_about(found.structure))), _ABOUT),
        Part(
            "## Commands",
            partial(first_lines, list(_commands(found.structure.stack.commands))),
            _COMMANDS,
        ),
        Part("## Layout", found.structure.tree.lines, _LAYOUT),
        Part("## Symbols", partial(_symbols, found), _SYMBOLS),
    ]
    room = room_in(tokens) - header - estimate_tokens(TITLE)
    text = fitted(parts, room)
    return TITLE + text if text else ""


def _symbols(found: RepoMap, budget: int) -> list[str]:
    rest = partial(unranked, found.graph, found.symbols)
    return symbol_lines(found.symbols, rest, users_of(found.graph), budget)


def _about(found: Structure) -> Iterable[str]:
    if found.summary:
        yield one_line(found.summary)
    if found.languages:
        yield "languages: " + ", ".join(f"{name} {share}%" for name, share in found.languages)
    stack = [
        f"{t.name} {t.version}".strip() for t in found.stack.technologies if _is_ours(t, found)
    ]
    if stack:
        yield "stack: " + one_line(", ".join(stack))
    kinds: dict[str, list[str]] = {}
    for file in found.key_files:
        kinds.setdefault(file.what, []).append(shown_path(file.path, blanks=False))
    for what, paths in kinds.items():
        kind, _, more = what.partition(": ")
        yield f"{kind} ({more}): {' '.join(paths)}" if more else f"{what}: {' '.join(paths)}"
    for convention in found.conventions:
        yield one_line(convention)


def _is_ours(technology: Technology, found: Structure) -> bool:
    """Not a language that only a tool in some folder is written in."""
    names = [name for name, _ in found.languages]
    return technology.role != "language" or "/" not in technology.source or technology.name in names


def _commands(commands: Sequence[Command]) -> Iterable[str]:
    for command in commands:
        if command.line:
            yield f"{command.purpose}: {command.line} ({shown_path(command.source)})"
