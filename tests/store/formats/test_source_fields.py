from __future__ import annotations

from typing import Any

import pytest

from cub.store.formats.beads import find_close_reason
from cub.store.formats.source_fields import join_criteria, parse_criteria


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        (None, []),
        ("It is brown", ["It is brown"]),
        ("- a\n- b\n\n* c\n", ["a", "b", "c"]),
        ("1. a\n2) b", ["a", "b"]),
        ("- [ ] a\n- [x] b", ["a", "b"]),
        ("-a\n3.5 kg", ["-a", "3.5 kg"]),
        (["a", "a", "", 3, "b"], ["a", "b"]),
    ],
)
def test_acceptance_criteria(value: Any, expected: list[str]) -> None:
    assert parse_criteria(value) == expected
    assert parse_criteria(join_criteria(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Signed on Monday", "done"),
        (None, "done"),
        ("no change: it was so", "no_change"),
        ("Won't fix: too dear", "wontfix"),
        ("Duplicate of bake-7", "duplicate"),
        ("duplicates are gone", "done"),
    ],
)
def test_why_an_issue_was_closed(text: str | None, expected: str) -> None:
    assert find_close_reason(text) == expected
