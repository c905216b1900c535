"""Somebody else's text made fit to be shown: nothing in it stays unseen or moves a terminal."""

from __future__ import annotations

import re
import unicodedata

# Printable by their category, and yet nothing to see: fillers, joiners, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
_EMOJI = "\ufe0f"  # behind a symbol, it only says: in color


def visible(line: str) -> str:
    """A line with everything that a reader can't see written out: controls, bidi marks, tags."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        c if _is_seen(c, before) else _escaped(c)
        for c, before in zip(line, f" {line}", strict=False)
    )


def _is_seen(character: str, before: str) -> bool:
    if character == _EMOJI:
        return unicodedata.category(before) == "So"
    return character == "\t" or (character.isprintable() and not _UNSEEN.match(character))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
