"""Secrets in text that a ledger keeps, a model reads or a terminal shows: found, and hidden.

Looking takes time that grows with the text, not with its square.
"""

from __future__ import annotations

from cub.masking.texts import PiecesMask, masked
from cub.masking.values import MASK

__all__ = ["MASK", "PiecesMask", "masked"]
