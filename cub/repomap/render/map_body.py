"""The body of the map: every part within its share of the budget.

How the parts of the map share its tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.ranking.reference_graph import index_users
from cub.repomap.ranking.symbol_rank import list_private_symbols
from cub.repomap.render.symbol_lines import render_symbol_lines
from cub.repomap.repo_map import RepoMap
from cub.repomap.safe_text import choose_fence, quote_path, to_one_line
from cub.repomap.stack.facts import ProjectCommand, Technology
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.repomap.repo_map import ProjectStructure


MAP_TITLE = "# Project map\n\n"
# Shares of the room, in this order; what a part does not need goes to the ones behind it.
_ABOUT, _COMMANDS, _LAYOUT, _SYMBOLS = 0.16, 0.1, 0.14, 0.6


def render_map_body(repo_map: RepoMap, tokens: int, header_tokens: int) -> str:
    """The Markdown text behind the header; with the `header_tokens`'s tokens, at most `tokens`.

    "" where there is nothing to say.
    """
    parts = [
        MapPart("", partial(take_lines, list(_about(repo_map.structure))), _ABOUT),
        MapPart(
            "## Commands",
            partial(take_lines, list(_commands(repo_map.structure.stack.commands))),
            _COMMANDS,
        ),
        MapPart("## Layout", repo_map.structure.tree.render_lines, _LAYOUT),
        MapPart("## Symbols", partial(_symbols, repo_map), _SYMBOLS),
    ]
    room = subtract_token_margin(tokens) - header_tokens - estimate_tokens(MAP_TITLE)
    text = fit_parts(parts, room)
    return MAP_TITLE + text if text else ""


def _symbols(found: RepoMap, budget: int) -> list[str]:
    rest = partial(list_private_symbols, found.graph, found.symbols)
    return render_symbol_lines(found.symbols, rest, index_users(found.graph), budget)


def _about(found: ProjectStructure) -> Iterable[str]:
    if found.summary:
        yield to_one_line(found.summary)
    if found.languages:
        yield "languages: " + ", ".join(f"{name} {share}%" for name, share in found.languages)
    stack = [
        f"{t.name} {t.version}".strip() for t in found.stack.technologies if _is_ours(t, found)
    ]
    if stack:
        yield "stack: " + to_one_line(", ".join(stack))
    kinds: dict[str, list[str]] = {}
    for file in found.key_files:
        kinds.setdefault(file.what, []).append(quote_path(file.path, blanks=False))
    for what, paths in kinds.items():
        kind, _, more = what.partition(": ")
        yield f"{kind} ({more}): {' '.join(paths)}" if more else f"{what}: {' '.join(paths)}"
    for convention in found.conventions:
        yield to_one_line(convention)


def _is_ours(technology: Technology, found: ProjectStructure) -> bool:
    """Not a language that only a tool in some folder is written in."""
    names = [name for name, _ in found.languages]
    return technology.role != "language" or "/" not in technology.source or technology.name in names


def _commands(commands: Sequence[ProjectCommand]) -> Iterable[str]:
    for command in commands:
        if command.shell_line:
            yield f"{command.purpose}: {command.shell_line} ({quote_path(command.source)})"


# The estimate is within a tenth of what the tokenizers of current models count.
TOKEN_MARGIN = 1.1
_ROUNDS = 2
_LITTLE = 3  # tokens: no line takes less


class MapPart(NamedTuple):
    """A part of the map: its heading, its lines within a number of tokens, and its share."""

    heading: str
    render_lines: Callable[[int], Sequence[str]]
    share: float


def subtract_token_margin(budget: int) -> int:
    """How many estimated tokens surely stay within `budget` counted ones."""
    return int(budget / TOKEN_MARGIN)


def fit_parts(parts: Sequence[MapPart], room: int) -> str:
    """The parts as Markdown, at most `room` estimated tokens.

    Each part in its turn takes what it needs of its share of the room; what it leaves goes to the
    later ones, and what the last one leaves goes round until nobody can use it.
    """
    taken: list[Sequence[str]] = [()] * len(parts)
    left, later = room, sum(part.share for part in parts)
    for number, part in enumerate(parts):
        # Shares that nearly cancel out must not promise more than there is.
        allowed = min(left, int(left * part.share / later)) if later > 0 else left
        later -= part.share
        taken[number] = _lines(part, allowed)
        left -= _cost(part, taken[number])
    for number, part in [*enumerate(parts)] * _ROUNDS:
        had = _cost(part, taken[number])
        more = _lines(part, had + left) if left >= _LITTLE else ()
        if _cost(part, more) > had:  # with more room, a part may also find a shorter way
            taken[number] = more
            left -= _cost(part, more) - had
    blocks = (
        format_block(part.heading, lines) for part, lines in zip(parts, taken, strict=True) if lines
    )
    return "\n".join(blocks)


def format_block(heading: str, lines: Sequence[str]) -> str:
    """A heading and a fenced block, in which nothing of a repository's is Markdown."""
    fence = choose_fence(lines)
    title = f"{heading}\n\n" if heading else ""
    return "\n".join([f"{title}{fence}text", *lines, fence, ""])


def _lines(part: MapPart, allowed: int) -> Sequence[str]:
    # A fence that has to be longer than three backticks is paid for by trying again with less.
    for spare in (0, 8, 64):
        lines = part.render_lines(max(0, allowed - _frame(part) - spare))
        if _cost(part, lines) <= allowed:
            return lines
    return ()


def _frame(part: MapPart) -> int:
    return estimate_tokens(format_block(part.heading, ()))


def _cost(part: MapPart, lines: Sequence[str]) -> int:
    return estimate_tokens(format_block(part.heading, lines)) if lines else 0


def take_lines(lines: Sequence[str], max_tokens: int) -> list[str]:
    """The lines that fit into `max_tokens` tokens, in order, each whole; longer ones are passed."""
    kept = []
    for line in lines:
        cost = estimate_tokens(line)
        if cost <= max_tokens:
            kept.append(line)
            max_tokens -= cost
    return kept
