from __future__ import annotations

import pytest

from tests.docs.pages import difference


@pytest.mark.parametrize(
    ("shown", "real", "first"),
    [
        (("a", "b"), ["a", "b"], ""),
        (("a", "…"), ["a", "b", "c"], ""),
        (("…", "c"), ["a", "b", "c"], ""),
        (("a", "…", "c"), ["a", "b", "c"], ""),
        (("lon…",), ["longer"], ""),
        (("a", "c"), ["a", "b", "c"], "c"),
        (("b", "…", "a"), ["a", "b"], "b"),
        (("…", "b", "…", "a"), ["a", "b"], "a"),
        (("a",), ["a", "b"], "nothing more, but there is: b"),
        ((), ["a"], "nothing more, but there is: a"),
    ],
)
def test_shown_lines_are_compared_in_order(
    shown: tuple[str, ...], real: list[str], first: str
) -> None:
    assert difference(shown, real) == first
