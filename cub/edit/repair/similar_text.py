"""Find a text that was made from a released body, though words of it or its lines are others."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from cub.edit.document import Document

_WORD = re.compile(rb"[^\W_]+")
_MIN_WORDS = 20  # fewer are too few to tell whose they are
_MIN_SHARE = 0.4  # of 125 instruction files of others, none has more than 0.08
_SPREAD = 1.5  # times as long as the body, and no longer, is a text with additions
_SAMPLES = ("fence", "code_block", "html_block", "blockquote_open")
_BEGINNINGS = ("heading_open", "paragraph_open")

_Triple = tuple[bytes, bytes, bytes]


class ReleasedBody(NamedTuple):
    """Hold a body that the templates of `version` give, as normalized lines."""

    version: int
    lines: tuple[bytes, ...]


class SimilarText(NamedTuple):
    """Describe half-open lines with most of the word triples of `body`: this `share` of them."""

    start: int
    end: int
    share: float
    body: ReleasedBody


def find_similar_text(document: Document, bodies: Iterable[ReleasedBody]) -> SimilarText | None:
    """Return the text that has the most of a body, if it begins like one at the top level.

    Words are compared without their case and what stands between them, three in a row at a time.
    A document is parsed only if all of its words together have enough of a body.
    """
    triples = {body: frozenset(_list_triples(body.lines)) for body in bodies}
    triples = {body: own for body, own in triples.items() if len(own) >= _MIN_WORDS - 2}
    if _find_closest(document.lines, triples) is None:
        return None
    lines = list(document.lines)
    for block in document.blocks:
        if block.kind in _SAMPLES:
            lines[block.start : block.end] = [b""] * (block.end - block.start)
    text = _find_closest(lines, triples)
    if text is None:
        return None
    number = bisect_right([block.start for block in document.blocks], text.start) - 1
    block = document.blocks[max(0, number)]
    begins = block.kind in _BEGINNINGS and block.start <= text.start < block.end
    return text._replace(start=block.start) if begins else None


def _list_triples(lines: Iterable[bytes]) -> list[_Triple]:
    words = list(chain.from_iterable(_WORD.findall(line.lower()) for line in lines))
    return list(zip(words, words[1:], words[2:], strict=False))


def _find_closest(
    lines: Sequence[bytes], triples: dict[ReleasedBody, frozenset[_Triple]]
) -> SimilarText | None:
    """Return the lines that are closest to one of the bodies, the one of which they have most."""
    own = _list_triples(lines)
    present = set(own)
    if not triples:
        return None
    body = max(triples, key=lambda one: 2 * len(triples[one] & present) - len(triples[one]))
    found = [number for number, triple in enumerate(own) if triple in triples[body]]
    first, last = _find_densest(found, int(_SPREAD * len(triples[body])))
    share = len({own[n] for n in found if first <= n <= last}) / len(triples[body])
    if share < _MIN_SHARE:
        return None
    numbers = [n for n, line in enumerate(lines) for _ in _WORD.findall(line.lower())]
    return SimilarText(numbers[first], numbers[last + 2] + 1, share, body)


def _find_densest(numbers: Sequence[int], length: int) -> tuple[int, int]:
    """Return the first and the last of most numbers that are less than `length` apart."""
    most, start = (0, 0, -1), 0
    for index, number in enumerate(numbers):
        while number - numbers[start] >= length:
            start += 1
        most = max(most, (index - start + 1, numbers[start], number), key=lambda one: one[0])
    return most[1], most[2]
