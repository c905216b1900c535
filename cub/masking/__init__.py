"""Secrets in text that a ledger keeps, a model reads or a terminal shows: found, and hidden.

Looking takes time that grows with the text, not with its square.

A text without its secrets, whole or in pieces that come one after another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cub.masking.http_credentials import mask_credentials
from cub.masking.named_values import SECRET_NAME_HINT, mask_named_values
from cub.masking.private_keys import mask_private_keys
from cub.masking.value_heuristics import MASK
from cub.masking.vendor_keys import mask_vendor_keys

__all__ = ["MASK", "StreamMasker", "mask_text"]


# What each secret has one of: a long word, a mark of an address or a key, a name. Most lines have
# none, and are looked at once.
_SECRET_HINT = re.compile(
    rf"[\w.~+/=:@-]{{15}}|://|-{{4}}|private-|{SECRET_NAME_HINT.pattern}"
    r"|basic|-u|user|machine |value|-cli"
)
_MAX_ROUNDS = 12  # a text that nests more secrets on purpose is not masked further


def mask_text(text: str) -> str:
    """`text` with `[masked]` in the place of each secret; the same once more changes nothing."""
    if _SECRET_HINT.search(text.lower()) is None:
        return text
    return _mask_until_stable(mask_private_keys(text)[0])


@dataclass(slots=True)
class StreamMasker:
    """Masks texts that come one after another, of which a key's block may take several."""

    _inside: bool = False

    def mask(self, text: str) -> str:
        """The next piece without its secrets."""
        if not self._inside and _SECRET_HINT.search(text.lower()) is None:
            return text
        text, self._inside = mask_private_keys(text, inside=self._inside)
        return _mask_until_stable(text)

    def skip(self, text: str) -> None:
        """The next piece is shown to nobody, and what comes behind it may be."""
        self._inside = mask_private_keys(text, inside=self._inside)[1]


def _mask_until_stable(text: str) -> str:
    """Mask until nothing is found: what is around a secret may read as one after it is masked."""
    for _ in range(_MAX_ROUNDS):
        masked = mask_vendor_keys(mask_named_values(mask_credentials(text)))
        masked = mask_private_keys(masked)[0]
        if masked == text:
            break
        text = masked
    return text
