"""How many random examples a property gets whose examples cost more than usual.

A property without a decorator has 100 examples in the fast tier and 1,000 in the thorough one
(tests/conftest.py). pytest loads the tier before it imports a test module, and with it this one.
"""

from __future__ import annotations

from hypothesis import settings

_USUAL = settings().max_examples


def limit_examples(most: int) -> settings:
    """Return settings for an eighth of the usual examples, at most `most`."""
    return settings(max_examples=min(most, max(1, _USUAL // 8)))


# For examples that cost 2 to 8 ms, and for those that cost more, such as edits of whole projects.
few_examples = settings(max_examples=_USUAL // 5)
hardly_any_examples = settings(max_examples=min(60, _USUAL // 5))
