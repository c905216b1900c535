"""What a prompt gives up to stay within its budget, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cub.tokens import estimate_tokens


class Parts(NamedTuple):
    """The parts of a prompt that may be cut, in the order of the prompt."""

    epic: dict[str, str] | None
    done: tuple[str, ...]
    remaining: tuple[str, ...]
    observations: tuple[str, ...]
    avoid: tuple[str, ...]
    tail: str
    earlier: tuple[str, ...]

    def lost(self, full: Parts, tokens: int) -> Iterator[str]:
        """What is missing of the full parts, in words."""
        for field in ORDER:
            mine, whole = _size(getattr(self, field)), _size(getattr(full, field))
            if mine < whole:
                what = _NAMES[field].format(lost=whole - mine, whole=whole)
                yield f"{what} left out: the budget of {tokens:,} tokens"


_NAMES = {
    "remaining": "{lost} of {whole} remaining tasks are",
    "done": "{lost} of {whole} completed tasks are",
    "epic": "the epic's text is",
    "earlier": "{lost} of {whole} earlier attempts are",
    "tail": "the end of the checks' output is",
    "observations": "{lost} of {whole} observations are",
    "avoid": "{lost} of {whole} lines of what to avoid are",
}
# The epic's part goes first, the task's own history after it.
ORDER = tuple(_NAMES)


def _size(value: Any) -> int:
    return len(value["text"] if isinstance(value, dict) else value or ())


def fitting(full: Parts, render: Callable[[Parts], str], tokens: int) -> tuple[str, Parts]:
    """The longest prompt that costs at most `tokens`, or the shortest one; and its parts."""
    whole = render(full)
    if estimate_tokens(whole) <= tokens:
        return whole, full
    steps = [*_shorter(full)]
    low, high = min(1, len(steps) - 1), len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if estimate_tokens(render(steps[middle])) <= tokens:
            high = middle
        else:
            low = middle + 1
    return render(steps[low]), steps[low]


def _shorter(parts: Parts) -> Iterator[Parts]:
    """The parts, less and less of them."""
    yield parts
    for field in ORDER:
        while (shorter := _less(getattr(parts, field))) is not None:
            parts = parts._replace(**{field: shorter})
            yield parts


def _less(value: Any) -> Any:
    """A list without its last line, a text as a whole, an epic without its text; None for less."""
    if isinstance(value, dict):
        return {**value, "text": ""} if value["text"] else None
    return ("" if isinstance(value, str) else value[:-1]) if value else None
