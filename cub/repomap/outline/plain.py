"""Prose without its markup: Markdown, reStructuredText, AsciiDoc, Javadoc and HTML alike."""

from __future__ import annotations

import re
from html import unescape

from cub.repomap.outline.words import one_line

_RULES = [
    (re.compile(pattern), by)
    for pattern, by in (
        (r"<!--.*?(?:-->|$)", " "),
        (r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", " "),  # images, badges
        (r"\|[\w .-]+\|(?:_\b)?", " "),  # |substitution|
        (r"(?:https?://|link:)[^\s\[]+\[([^\]]*)\]", r"\1"),  # AsciiDoc
        (r"\[\s*\](?:\([^)]*\)|\[[^\]]*\])", " "),  # a link around a badge that is gone
        (r"\[([^\]\[]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1"),
        (r"\[\^?\d+\]_?|\[\[?([^\]\[|]+)\]?\](?!\()", r"\1"),
        (r":[a-z][\w:+.-]*:`~?\.?([^`<]+?)(?:\s*<[^`>]*>)?`", r"\1"),  # :py:class:`Name`
        (r"`([^`<>]+?)\s*<[^`>]+>`__?", r"\1"),
        (r"\{@\w+\s+(?:[^{}|]*\|\s*)?#?([^{}|]*)\}", r"\1"),  # {@code Name}, {@link url | Name}
        (r"</?[A-Za-z][^<>]*>", ""),
        (r"`+([^`]*)`+(?:__?\b)?", r"\1"),
        (r"(?<![\w*\\])(\*{1,3}|_{1,3}|~~)(?=\S)([^*_~]+?)(?<=\S)\1(?![\w*])", r"\2"),
        (r"(?<=[A-Za-z0-9])__?(?=[\s.,;:)]|$)", ""),  # Name_
        (r"\\([\\`*_{}\[\]()#+.!<>|-])", r"\1"),
    )
]
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]?(?=\s+[\"'(\[]?[A-Z0-9\W])|[\u3002\uff01\uff1f]")
_ABBREVIATED = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|inc|dr|mr|ms|no|st|[a-z])\.$"
)
_TWO = 2


def plain(text: str) -> str:
    """One paragraph on one line, without markup."""
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return re.sub(r" +([.,;:!?)])(?!\w)", r"\1", one_line(unescape(text)))


def sentences(text: str, limit: int) -> str:
    """The first sentence of a line, and the second one where both fit into `limit` characters."""
    ends = [end.end() for end in _ENDS.finditer(text) if not _ABBREVIATED.search(text[: end.end()])]
    first, *more = (*ends[:_TWO], len(text))[:_TWO]
    fitting = [end for end in more if end <= limit and not text[:end].endswith(":")]
    return text[: max((first, *fitting))].strip().rstrip(":")


def sentence(text: str) -> str:
    """The first sentence of a line, without its full stop."""
    return sentences(text, 0).rstrip(" .:;,")
