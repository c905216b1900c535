from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.tool_text import quote_name, unquote_name


@pytest.mark.parametrize("text", ["a", 'a"b', '"a"', '"', '""', r'"a\142"', "é\\", r'"a\012', ""])
def test_a_name_without_odd_characters_stays(text: str) -> None:
    assert quote_name(text) == text
    assert unquote_name(text) == text


@given(st.binary(max_size=20))
def test_any_name_is_on_one_line_and_comes_back(data: bytes) -> None:
    name = os.fsdecode(data)
    quoted = quote_name(name)
    assert bool(quoted.encode()) == bool(data)
    assert "\n" not in quoted
    assert unquote_name(quoted) == name
