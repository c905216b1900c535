"""Parse the block structure of CommonMark with markdown-it-py: no other module parses Markdown."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Block(NamedTuple):
    """Describe a block: its half-open lines, its kind, and its rendered content if asked for."""

    start: int
    end: int
    kind: str
    token_key: tuple[tuple[object, ...], ...] = ()

    def shift(self, lines: int) -> Block:
        """Return the same block, `lines` lines further down."""
        return self._replace(start=self.start + lines, end=self.end + lines)


@cache
def _make_parser(*without: str) -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(list(without))


@lru_cache(maxsize=4)  # the same few blocks are often asked for again
def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the top-level blocks of `text` (LF line endings) in order, by block rules only."""
    with pause_garbage_collection():
        return tuple(_make_block(group) for group in _iter_top_level(_parse_tokens(text)))


def parse_block_spans(text: str) -> list[Block]:
    """Return the top-level blocks of `text` without what is in them."""
    with pause_garbage_collection():
        tokens = _parse_tokens(text)
        return [Block(*_get_lines(t), t.type) for t in tokens if not t.level and t.nesting >= 0]


def _parse_tokens(text: str) -> list[Token]:
    # Link reference definitions are taken out of finished paragraphs (CommonMark, appendix:
    # parsing strategy), so no marker depends on them; without them, parsing is linear.
    parser = _make_parser("reference")
    tokens: list[Token] = []
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _get_lines(token: Token) -> tuple[int, int]:
    start, end = token.map or [0, 0]
    return start, end


def parse_headings(text: str) -> list[tuple[int, str]]:
    """Return the first line and the content of each heading, also in lists and quotes."""
    with pause_garbage_collection():
        pairs = pairwise(_parse_tokens(text))
        return [(_get_lines(t)[0], n.content) for t, n in pairs if t.type == "heading_open"]


def parse_leaf_blocks(text: str) -> list[Block]:
    """Return the code, HTML, and inline content of `text`, also in lists and quotes."""
    with pause_garbage_collection():
        return [Block(*_get_lines(t), t.type) for t in _parse_tokens(text) if t.content]


def parse_inline(texts: Iterable[str], having: str) -> Iterator[Sequence[Token]]:
    """Yield the inline tokens of each paragraph and heading that contains `having`.

    `texts` are parts of one text that begin and end with top-level blocks, among them all that
    define link references.
    """
    environment: dict[str, Any] = {}
    contents: list[str] = []
    for text in texts:
        tokens: list[Token] = []
        _make_parser().block.parse(text, _make_parser(), environment, tokens)
        contents += [t.content for t in tokens if t.type == "inline" and having in t.content]
    for content in contents:
        # Each bracket costs a search for its counterpart: in vain where there can be no link.
        is_defined = "]" in content and environment.get("references")
        parser = _make_parser(*(() if "](" in content or is_defined else ("link", "image")))
        inline_tokens: list[Token] = []
        parser.inline.parse(content, parser, environment, inline_tokens)
        yield inline_tokens


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, whose search takes half the time of a large parse."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _iter_top_level(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    for token in tokens:
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield group
            group = []


def _make_block(group: list[Token]) -> Block:
    start, end = _get_lines(group[0])
    # Blank lines after a block belong to no block, though an open fence in a list takes some.
    token_key = tuple(
        (t.type, t.tag, t.level, t.markup, t.info, t.hidden, *t.attrs.items(), content)
        for t, content in ((t, t.content.rstrip(" \t\n")) for t in group)
    )
    return Block(start, end, group[0].type, token_key)
