"""What every parser of one tool's output is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cub.checks.items import Item


class Found(NamedTuple):
    """An item and the number of the line that tells it."""

    line: int
    item: Item


class Tool(NamedTuple):
    """A parser, and the strings of which a log has at least one if there is anything to find."""

    marks: tuple[str, ...]
    parse: Callable[[Sequence[str]], Iterable[Found]]
