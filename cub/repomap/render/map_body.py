"""Render the body of the map: every part within its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.ranking.reference_graph import index_users
from cub.repomap.ranking.symbol_rank import list_private_symbols
from cub.repomap.render.symbol_lines import render_symbol_lines
from cub.repomap.repo_map import RepoMap
from cub.repomap.safe_text import choose_fence, quote_path, to_one_line
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.repomap.repo_map import ProjectStructure


MAP_TITLE = "# Project map\n\n"
# Shares of the budget, in this order; what a part does not need goes to the following ones.
_ABOUT, _COMMANDS, _LAYOUT, _SYMBOLS = 0.16, 0.1, 0.14, 0.6


def render_map_body(repo_map: RepoMap, tokens: int, header_tokens: int) -> str:
    """Return the Markdown text after the header; with it, at most `tokens`; "" if it is empty."""
    structure = repo_map.structure
    about, commands = list(_render_about(structure)), list(_render_commands(structure))
    graph, symbols = repo_map.graph, repo_map.symbols
    render_symbols = partial(
        render_symbol_lines,
        symbols,
        partial(list_private_symbols, graph, symbols),
        index_users(graph),
    )
    parts = [
        MapPart("", partial(take_lines, about), _ABOUT),
        MapPart("## Commands", partial(take_lines, commands), _COMMANDS),
        MapPart("## Layout", structure.tree.render_lines, _LAYOUT),
        MapPart("## Symbols", render_symbols, _SYMBOLS),
    ]
    budget = subtract_token_margin(tokens) - header_tokens - estimate_tokens(MAP_TITLE)
    text = fit_parts(parts, budget)
    return MAP_TITLE + text if text else ""


def _render_about(structure: ProjectStructure) -> Iterable[str]:
    if structure.summary:
        yield to_one_line(structure.summary)
    if structure.languages:
        yield "languages: " + ", ".join(f"{name} {share}%" for name, share in structure.languages)
    # Leave out a language in which only a tool in some folder is written.
    names = [name for name, _ in structure.languages]
    stack = [
        f"{t.name} {t.version}".strip()
        for t in structure.stack.technologies
        if t.role != "language" or "/" not in t.source or t.name in names
    ]
    if stack:
        yield "stack: " + to_one_line(", ".join(stack))
    files_by_kind: dict[str, list[str]] = {}
    for file in structure.key_files:
        files_by_kind.setdefault(file.what, []).append(quote_path(file.path, blanks=False))
    for what, paths in files_by_kind.items():
        kind, _, more = what.partition(": ")
        yield f"{kind} ({more}): {' '.join(paths)}" if more else f"{what}: {' '.join(paths)}"
    yield from map(to_one_line, structure.conventions)


def _render_commands(structure: ProjectStructure) -> Iterable[str]:
    for command in structure.stack.commands:
        if command.shell_line:
            yield f"{command.purpose}: {command.shell_line} ({quote_path(command.source)})"


# The estimate is within a tenth of what the tokenizers of current models count.
TOKEN_MARGIN = 1.1
_BLANK_LINES = 4  # of a map: the estimate counts none of them, whatever the budget is
_ROUNDS = 2
_MIN_LINE_TOKENS = 3


class MapPart(NamedTuple):
    """Describe a part of the map: heading, function from a budget to its lines, and share."""

    heading: str
    render_lines: Callable[[int], Sequence[str]]
    share: float


def subtract_token_margin(budget: int) -> int:
    """Return how many estimated tokens surely stay within `budget` counted ones."""
    return int(budget / TOKEN_MARGIN) - _BLANK_LINES


def fit_parts(parts: Sequence[MapPart], budget: int) -> str:
    """Return the parts as Markdown, with at most `budget` estimated tokens.

    Each part in its turn takes what it needs of its share; what it leaves goes to the later ones,
    and what the last one leaves is offered to all again.
    """
    lines_by_part: list[Sequence[str]] = [()] * len(parts)
    left, later_shares = budget, sum(part.share for part in parts)
    for number, part in enumerate(parts):
        # Shares that nearly cancel out must not promise more than there is.
        allowed = min(left, int(left * part.share / later_shares)) if later_shares > 0 else left
        later_shares -= part.share
        lines_by_part[number] = _render_within(part, allowed)
        left -= _measure(part, lines_by_part[number])
    for number, part in [*enumerate(parts)] * _ROUNDS:
        cost = _measure(part, lines_by_part[number])
        more = _render_within(part, cost + left) if left >= _MIN_LINE_TOKENS else ()
        if _measure(part, more) > cost:  # with a larger budget, a part may also find a shorter form
            lines_by_part[number] = more
            left -= _measure(part, more) - cost
    pairs = zip(parts, lines_by_part, strict=True)
    return "\n".join(format_block(part.heading, lines) for part, lines in pairs if lines)


def format_block(heading: str, lines: Sequence[str]) -> str:
    """Return a heading and a fenced block, in which no text of a repository is Markdown."""
    fence = choose_fence(lines)
    title = f"{heading}\n\n" if heading else ""
    return "\n".join([f"{title}{fence}text", *lines, fence, ""])


def _render_within(part: MapPart, allowed: int) -> Sequence[str]:
    frame = estimate_tokens(format_block(part.heading, ()))
    # For a fence that has to be longer than three backticks, try again with less.
    for spare in (0, 8, 64):
        lines = part.render_lines(max(0, allowed - frame - spare))
        if _measure(part, lines) <= allowed:
            return lines
    return ()


def _measure(part: MapPart, lines: Sequence[str]) -> int:
    return estimate_tokens(format_block(part.heading, lines)) if lines else 0


def take_lines(lines: Sequence[str], max_tokens: int) -> list[str]:
    """Return the lines that fit into `max_tokens`, in order, each whole; skip longer ones."""
    fitting = []
    for line in lines:
        cost = estimate_tokens(line)
        if cost <= max_tokens:
            fitting.append(line)
            max_tokens -= cost
    return fitting
