"""Mask the secrets in text that a ledger keeps, a model reads or a terminal shows.

The time grows with the length of the text, not with its square.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from cub.masking.http_credentials import mask_credentials
from cub.masking.named_values import SECRET_NAME_HINT, mask_named_values
from cub.masking.private_keys import mask_private_keys
from cub.masking.value_heuristics import MASK
from cub.masking.vendor_keys import ZERO_WIDTH, mask_split_keys, mask_vendor_keys

__all__ = ["MASK", "StreamMasker", "mask_text", "mask_tree"]

# Each secret has one of these: a long word, a mark of an address or a key, a name. Most lines have
# none, and are searched only once.
_SECRET_HINT = re.compile(
    rf"[\w.~+/=:@{ZERO_WIDTH}-]{{15}}|[\w-]{{8}}\\?\r?\n|://|-{{4}}|private-"
    rf"|{SECRET_NAME_HINT.pattern}|basic|-u|user|machine |value|-cli|mysql|mariadb"
)
_MAX_ROUNDS = 12  # a text that nests more secrets on purpose is not masked further


def mask_text(text: str) -> str:
    """Return `text` with `[masked]` instead of each secret; masking it again changes nothing."""
    if _SECRET_HINT.search(text.lower()) is None:
        return text
    return _mask_until_stable(mask_private_keys(text)[0])


def mask_tree(value: Any, names: Collection[str] = ()) -> Any:
    """Return a value of JSON without secrets in its strings, except in those below these keys."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list | tuple):
        return [mask_tree(inner, names) for inner in value]
    if isinstance(value, Mapping):
        return {
            key: inner if key in names and isinstance(inner, str) else mask_tree(inner, names)
            for key, inner in value.items()
        }
    return value


@dataclass(slots=True)
class StreamMasker:
    """Mask pieces of a text that come one after another; a key's block may span several."""

    _is_inside: bool = False

    def mask(self, text: str) -> str:
        """Return the next piece without its secrets."""
        if not self._is_inside and _SECRET_HINT.search(text.lower()) is None:
            return text
        text, self._is_inside = mask_private_keys(text, is_inside=self._is_inside)
        return _mask_until_stable(text)

    def skip(self, text: str) -> None:
        """Note a piece that is not shown: a key that begins in it may end in the next one."""
        self._is_inside = mask_private_keys(text, is_inside=self._is_inside)[1]


def _mask_until_stable(text: str) -> str:
    # The text around a secret may read as one after that is masked.
    for _ in range(_MAX_ROUNDS):
        masked = mask_split_keys(text)  # before a part of a key is masked
        masked = mask_vendor_keys(mask_named_values(mask_credentials(masked)))
        masked = mask_private_keys(masked)[0]
        if masked == text:
            break
        text = masked
    return text
