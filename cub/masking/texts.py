"""A text without its secrets, whole or in pieces that come one after another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cub.masking.key_blocks import hide_key_blocks
from cub.masking.library import hide_library_secrets
from cub.masking.named_values import hide_named_values
from cub.masking.names import HINT
from cub.masking.requests import hide_credentials
from cub.masking.vendor_keys import hide_vendor_keys

# What each secret has one of: a long word, a mark of an address or a key, a name. Most lines have
# none, and are looked at once.
_SIGN = re.compile(
    rf"[\w.~+/=:@-]{{15}}|://|-{{4}}|private-|{HINT.pattern}|basic|-u|user|machine |value|-cli"
)
_MOST_TURNS = 12  # who writes secrets around secrets on purpose gets no more


def masked(text: str) -> str:
    """`text` with `[masked]` in the place of each secret; the same once more changes nothing."""
    if _SIGN.search(text.lower()) is None:
        return text
    return _settled(hide_key_blocks(text)[0])


@dataclass(slots=True)
class PiecesMask:
    """Masks texts that come one after another, of which a key's block may take several."""

    _inside: bool = False

    def masked(self, text: str) -> str:
        """The next piece without its secrets."""
        if not self._inside and _SIGN.search(text.lower()) is None:
            return text
        text, self._inside = hide_key_blocks(text, inside=self._inside)
        return _settled(text)

    def follow(self, text: str) -> None:
        """The next piece is shown to nobody, and what comes behind it may be."""
        self._inside = hide_key_blocks(text, inside=self._inside)[1]


def _settled(text: str) -> str:
    """What stood around a secret may be one now: looked at until nothing is found."""
    for _ in range(_MOST_TURNS):
        once = _without_secrets(text)
        if once == text:
            break
        text = once
    return text


def _without_secrets(text: str) -> str:
    text = hide_vendor_keys(hide_named_values(hide_credentials(text)))
    return hide_library_secrets(hide_key_blocks(text)[0])
