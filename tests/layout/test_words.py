from __future__ import annotations

from typing import Any

import pytest

from cub.layout.words import written


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("AGENTS.md", "AGENTS.md"),
        ("30m", "30m"),
        ("y", "y"),
        ("a b", "a b"),
        ([1, None, {"a": True}], "[1, null, {a: true}]"),
        # Other values in YAML 1.1, which other programs read.
        *((text, f'"{text}"') for text in ["yes", "No", "on", "OFF", "2026-11-20", "012", "1_000"]),
        *((text, f'"{text}"') for text in ["0b11", "0x_f", "1.", ".5", "1e3", ".inf", ".NaN"]),
    ],
)
def test_what_any_reader_of_yaml_takes_for_a_text_needs_no_quotes(value: Any, words: str) -> None:
    assert written(value) == words
