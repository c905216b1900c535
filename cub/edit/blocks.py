"""CommonMark block structure, as markdown-it-py sees it: the only module that parses Markdown."""

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
    """A top-level block: its half-open line span, its kind, and what a reader would see of it."""

    start: int
    end: int
    kind: str
    token_key: tuple[tuple[object, ...], ...]

    def shift(self, lines: int) -> Block:
        """The same block further down."""
        return self._replace(start=self.start + lines, end=self.end + lines)


class BlockSpan(NamedTuple):
    """Where a top-level block is, half-open, and its kind."""

    start: int
    end: int
    kind: str

    def shift(self, lines: int) -> BlockSpan:
        """The same further down."""
        return BlockSpan(self.start + lines, self.end + lines, self.kind)


@cache
def _parser(*without: str) -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(list(without))


@lru_cache(maxsize=4)  # a look at a few blocks is often repeated
def parse_blocks(text: str) -> tuple[Block, ...]:
    """Top-level blocks of `text` (LF line ends), block rules only, in order."""
    with pause_garbage_collection():
        return tuple(_block(group) for group in _groups(_tokens(text)))


def parse_block_spans(text: str) -> list[BlockSpan]:
    """The same without what is in the blocks."""
    with pause_garbage_collection():
        return [
            BlockSpan(*_lines(t), t.type) for t in _tokens(text) if not t.level and t.nesting >= 0
        ]


def _tokens(text: str) -> list[Token]:
    # Link reference definitions are taken out of finished paragraphs (CommonMark, appendix:
    # parsing strategy), so no marker depends on them; without them, parsing is linear.
    parser = _parser("reference")
    tokens: list[Token] = []
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def _lines(token: Token) -> tuple[int, int]:
    start, end = token.map or [0, 0]
    return start, end


class Heading(NamedTuple):
    """A heading at any depth: its half-open line span, its mark, and its content as Markdown."""

    start: int
    end: int
    mark: str
    content: str


def parse_headings(text: str) -> list[Heading]:
    """The headings of `text` (LF line ends), also those in lists and quotes; none of HTML's."""
    with pause_garbage_collection():
        tokens = _tokens(text)
        return [
            Heading(*_lines(token), token.markup, inline.content)
            for token, inline in pairwise(tokens)
            if token.type == "heading_open"
        ]


class LeafBlock(NamedTuple):
    """A block without blocks in it, at any depth: its half-open line span, kind and content."""

    start: int
    end: int
    kind: str
    content: str


def parse_leaf_blocks(text: str) -> list[LeafBlock]:
    """The code, HTML and inline content of `text` (LF line ends), also in lists and quotes."""
    with pause_garbage_collection():
        tokens = _tokens(text)
        return [LeafBlock(*_lines(t), t.type, t.content) for t in tokens if t.content]


def parse_inline_content(content: str) -> Sequence[Token]:
    """The inline tokens of one paragraph or heading, without definitions of what links refer to."""
    tokens: list[Token] = []
    parser = _inline_parser(linked="](" in content)
    parser.inline.parse(content, parser, {}, tokens)
    return tokens


def _inline_parser(*, linked: bool) -> MarkdownIt:
    # Each bracket costs a search for its counterpart: in vain where there can be no link.
    return _parser() if linked else _parser("link", "image")


def parse_inline(texts: Iterable[str], having: str) -> Iterator[Sequence[Token]]:
    """The inline tokens of each paragraph and heading that has `having` in it.

    `texts` are parts of one text that begin and end with blocks of the top level; among them are
    all those that define what links refer to.
    """
    environment: dict[str, Any] = {}
    contents: list[str] = []
    for text in texts:
        tokens: list[Token] = []
        _parser().block.parse(text, _parser(), environment, tokens)
        contents += [t.content for t in tokens if t.type == "inline" and having in t.content]
    for content in contents:
        defined = "]" in content and environment.get("references")
        parser = _inline_parser(linked="](" in content or bool(defined))
        found: list[Token] = []
        parser.inline.parse(content, parser, environment, found)
        yield found


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
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
    start, end = _lines(group[0])
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
