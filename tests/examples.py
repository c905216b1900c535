"""How many cases a test gets whose cases cost more than usual: random examples, and rows of tables.

A property without a decorator has 100 examples in the fast tier and 500 in the thorough one
(tests/conftest.py). pytest loads the tier before it imports a test module, and with it this one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

_USUAL = settings().max_examples


def limit_examples(most: int) -> settings:
    """Return settings for an eighth of the usual examples, at most `most`."""
    return settings(max_examples=min(most, max(1, _USUAL // 8)))


# For examples that cost 1 to 8 ms, and for those that cost more, such as edits of whole projects.
few_examples = settings(max_examples=_USUAL // 5)
hardly_any_examples = settings(max_examples=min(60, _USUAL // 5))


def keep_few(cases: Iterable[Any], count: int) -> list[Any]:
    """Return cases for `parametrize`, of which the fast tier keeps `count`, evenly spread.

    The others are marked `thorough`. A case is what it would be without this: a value, a tuple of
    values, or a `pytest.param`.
    """
    every = list(cases)
    kept = {index * (len(every) - 1) // max(1, count - 1) for index in range(count)}
    return [case if index in kept else _mark_thorough(case) for index, case in enumerate(every)]


def _mark_thorough(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        marks = [*case.marks, pytest.mark.thorough]
        return pytest.param(*case.values, marks=marks, id=case.id)
    values = case if type(case) is tuple else (case,)  # a named tuple is one value
    return pytest.param(*values, marks=pytest.mark.thorough)
