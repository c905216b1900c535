"""Texts that a parser or a query would take quadratic time for, known by their characters."""

from __future__ import annotations

import re

_DEEPEST = 200
_LONGEST_RUN = 5_000
_PAIRS = (b"()", b"[]", b"{}")
_ALL = set(range(256))
_ANGLES = bytes(_ALL - set(b"<>;(){}"))
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?')
_SIGNS = bytes(not (chr(code).isalnum() or code > 127 or chr(code) in "_\"'`") for code in _ALL)


def nests_too_deep(data: bytes) -> bool:
    """Whether brackets stand in one another beyond what anybody writes."""
    angles = _unpaired(data.translate(None, _ANGLES), b"<>")
    if angles is None or b"<" * _DEEPEST in angles:
        return True
    if all(_is_flat(data, pair) for pair in _PAIRS):
        return False
    bare = _STRING.sub(b"", data)
    return not all(_is_flat(bare, pair) for pair in _PAIRS)


def has_no_words(data: bytes) -> bool:
    """Whether signs follow signs for long: a query compares each with all that follow."""
    return b"\1" * _LONGEST_RUN in data.translate(_SIGNS, b" \t\r\n\f")


def _is_flat(data: bytes, pair: bytes) -> bool:
    left = _unpaired(data.translate(None, bytes(_ALL - set(pair))), pair)
    return left is not None and left.count(pair[:1]) < _DEEPEST


def _unpaired(brackets: bytes, pair: bytes) -> bytes | None:
    """What is left when pairs are taken out from the inside; None if that takes too many rounds."""
    for _ in range(_DEEPEST):
        before = len(brackets)
        brackets = brackets.replace(pair, b"")
        if len(brackets) == before:
            return brackets
    return None
