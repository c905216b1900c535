"""How much of the samples is masked: of the secrets, and of what should stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cub.masking import mask_text
from tests.masking.innocents import INNOCENTS
from tests.masking.samples import SECRETS, Sample

_SHORT = 8


def is_leaked(sample: Sample) -> bool:
    """Whether a secret, or a half of a long one, can still be read."""
    found = mask_text(sample.text)
    return any(part in found for secret in sample.secrets for part in _parts(secret))


def is_lost(sample: Sample) -> bool:
    """Whether an innocent text is no longer what it was."""
    return mask_text(sample.text) != sample.text


def rows() -> list[list[str]]:
    """The table of docs/reference/masking.md: kinds, their samples, those masked, all of them."""
    return [
        *_counted("secret", SECRETS, [one for one in SECRETS if not is_leaked(one)]),
        *_counted("innocent", INNOCENTS, [one for one in INNOCENTS if is_lost(one)]),
    ]


def rates() -> tuple[float, float]:
    """The percentage of secrets that leak, and of innocent texts that are masked."""
    leaked, lost = sum(map(is_leaked, SECRETS)), sum(map(is_lost, INNOCENTS))
    return round(100 * leaked / len(SECRETS), 1), round(100 * lost / len(INNOCENTS), 1)


def _counted(what: str, samples: Iterable[Sample], found: Iterable[Sample]) -> list[list[str]]:
    total, masked_ones = (Counter(one.kind for one in some) for some in (samples, found))
    kinds = [[kind, what, str(total[kind]), str(masked_ones[kind])] for kind in total]
    return [*kinds, [f"all {what}s", what, str(total.total()), str(masked_ones.total())]]


def _parts(secret: str) -> set[str]:
    half = len(secret) // 2
    return {secret, secret[:half], secret[half:]} if len(secret) >= _SHORT else {secret}
