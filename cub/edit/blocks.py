"""CommonMark block structure, as markdown-it-py sees it: the only module that parses Markdown."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Block(NamedTuple):
    """A top-level block: its half-open line span, its kind, and what a reader would see of it."""

    start: int
    end: int
    kind: str
    shape: tuple[tuple[object, ...], ...]


@cache
def _parser(*without: str) -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(list(without))


@lru_cache(maxsize=4)  # links and commits bring the same text again
def parse_blocks(text: str) -> tuple[Block, ...]:
    """Top-level blocks of `text` (LF line ends), block rules only, in order."""
    # Link reference definitions are taken out of finished paragraphs (CommonMark, appendix:
    # parsing strategy), so no marker depends on them; without them, parsing is linear.
    parser = _parser("reference")
    tokens: list[Token] = []
    with _collector_paused():
        parser.block.parse(text, parser, {}, tokens)
        return tuple(_block(group) for group in _groups(tokens))


def parse_inline(text: str, having: str) -> Iterator[Sequence[Token]]:
    """The inline tokens of each paragraph, heading and table cell that has `having` in it."""
    parser = _parser()
    tokens: list[Token] = []
    environment: dict[str, Any] = {}
    parser.block.parse(text, parser, environment, tokens)
    for token in tokens:
        if token.type == "inline" and having in token.content:
            found: list[Token] = []
            parser.inline.parse(token.content, parser, environment, found)
            yield found


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Tokens form no cycles, yet looking for some takes half the time of a large parse."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _groups(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _block(group: list[Token]) -> Block:
    start, end = group[0].map or [0, 0]
    # Blank lines behind a block belong to no block, though an open fence in a list takes some.
    shape = tuple(
        (
            t.type,
            t.tag,
            t.level,
            t.markup,
            t.info,
            t.hidden,
            *t.attrs.items(),
            t.content.rstrip(" \t\n"),
        )
        for t in group
    )
    return Block(start, end, group[0].type, shape)
