"""How the parts of the map share its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cub.repomap.outline.words import fence_for
from cub.tokens import estimate_tokens

# The estimate is within a tenth of what the tokenizers of current models count.
MARGIN = 1.1
_ROUNDS = 2
_LITTLE = 3  # tokens: no line takes less


class Part(NamedTuple):
    """A part of the map: its heading, its lines within a number of tokens, and its share."""

    heading: str
    lines: Callable[[int], Sequence[str]]
    share: float


def room_in(budget: int) -> int:
    """How many estimated tokens surely stay within `budget` counted ones."""
    return int(budget / MARGIN)


def fitted(parts: Sequence[Part], room: int) -> str:
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
    blocks = (block(part.heading, lines) for part, lines in zip(parts, taken, strict=True) if lines)
    return "\n".join(blocks)


def block(heading: str, lines: Sequence[str]) -> str:
    """A heading and a fenced block, in which nothing of a repository's is Markdown."""
    fence = fence_for(lines)
    title = f"{heading}\n\n" if heading else ""
    return "\n".join([f"{title}{fence}text", *lines, fence, ""])


def _lines(part: Part, allowed: int) -> Sequence[str]:
    # A fence that has to be longer than three backticks is paid for by trying again with less.
    for spare in (0, 8, 64):
        lines = part.lines(max(0, allowed - _frame(part) - spare))
        if _cost(part, lines) <= allowed:
            return lines
    return ()


def _frame(part: Part) -> int:
    return estimate_tokens(block(part.heading, ()))


def _cost(part: Part, lines: Sequence[str]) -> int:
    return estimate_tokens(block(part.heading, lines)) if lines else 0


def first_lines(lines: Sequence[str], allowed: int) -> list[str]:
    """The lines that fit into `allowed` tokens, in order, each whole; longer ones are passed."""
    kept = []
    for line in lines:
        cost = estimate_tokens(line)
        if cost <= allowed:
            kept.append(line)
            allowed -= cost
    return kept
