"""Find a text that was made from a released body, though words of it or its lines are others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from cub.edit.blocks import Block
from cub.edit.document import Document

_WORD = re.compile(rb"[^\W_]+")
_MIN_WORDS = 20  # fewer are too few to tell whose they are
_MIN_SHARE = 0.4  # of 125 instruction files of others, none has more than 0.04
_MAX_SAMPLES = 20  # each costs a pass over the document
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
    Only the blocks around a text are parsed, to see whether it is a sample.
    """
    triples = {body: frozenset(_list_triples(body.lines)) for body in bodies}
    triples = {body: own for body, own in triples.items() if len(own) >= _MIN_WORDS - 2}
    lines = document.text.encode("utf-8", "surrogateescape").split(b"\n")  # front matter is blank
    for _ in range(_MAX_SAMPLES):
        text = _find_closest(lines, triples)
        if text is None:
            return None
        blocks = _parse_around(document, text)
        samples = [block for block in blocks if block.kind in _SAMPLES]
        samples += [block for block in blocks[:1] if block.kind not in _BEGINNINGS]
        numbers = {n for block in samples for n in range(block.start, block.end) if lines[n]}
        if not numbers:
            return text._replace(start=blocks[0].start)
        for number in numbers:
            lines[number] = b""
    return None


def _parse_around(document: Document, text: SimilarText) -> list[Block]:
    """Return the blocks that have a line of `text`."""
    boundaries = document.boundaries
    start = boundaries.find_at_or_above(text.start)
    blocks = boundaries.parse_blocks_between(start, boundaries.find_at_or_below(text.end))
    return [block for block in blocks if block.start < text.end and text.start < block.end]


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
    found = [(number, triple) for number, triple in enumerate(own) if triple in triples[body]]
    count, first, last = _find_densest(found, int(_SPREAD * len(triples[body])))
    share = count / len(triples[body])
    if share < _MIN_SHARE:
        return None
    numbers = [n for n, line in enumerate(lines) for _ in _WORD.findall(line.lower())]
    return SimilarText(numbers[first], numbers[last + 2] + 1, share, body)


def _find_densest(found: Sequence[tuple[int, _Triple]], length: int) -> tuple[int, int, int]:
    """Return how many different triples there are at most in `length` words, and the first and the
    last of their numbers; one that comes again is no beginning.
    """
    most, start, counts = (0, 0, 0), 0, Counter[_Triple]()
    for number, triple in found:
        counts[triple] += 1
        while number - found[start][0] >= length or counts[found[start][1]] > 1:
            first = found[start][1]
            counts[first] -= 1
            if not counts[first]:
                del counts[first]
            start += 1
        most = max(most, (len(counts), found[start][0], number), key=lambda one: one[0])
    return most
