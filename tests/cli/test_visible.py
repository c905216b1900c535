from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.cli.visible import visible


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain text, `code` & <b>", "plain text, `code` & <b>"),
        ("\tindented", "\tindented"),
        ("Bäckerei 面包 🥖", "Bäckerei 面包 🥖"),
        ("⚠️ and ⚠", "⚠️ and ⚠"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9bb", "a\\x9bb"),
        ("a\rb\nc\0", "a\\rb\\nc\\x00"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\xadd"),
        ("a\u00a0b\u3000c\u2028d", "a\\xa0b\\u3000c\\u2028d"),
        ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
        ("a\ufe0fb\ufe00c\U000e0101", "a\\ufe0fb\\ufe00c\\U000e0101"),
        ("\u3164\u115f\u2800\u034f", "\\u3164\\u115f\\u2800\\u034f"),
        ("caf\udce9", "caf\\udce9"),
        ("", ""),
    ],
)
def test_what_a_reader_cannot_see_is_written_out(line: str, shown: str) -> None:
    assert visible(line) == shown


# The plane of nearly all scripts, and the one of tags and selectors.
@pytest.mark.parametrize(
    "plane",
    [
        pytest.param(plane, marks=() if plane in (0, 14) else pytest.mark.thorough)
        for plane in range(sys.maxunicode + 1 >> 16)
    ],
)
def test_no_invisible_character_of_unicode_comes_through(plane: int) -> None:
    through = {
        character
        for character in map(chr, range(plane << 16, plane + 1 << 16))
        if visible(f"a{character}b") == f"a{character}b"
    }
    kinds = {unicodedata.category(c)[0] for c in through - {"\t", " "}}
    assert kinds <= {"L", "M", "N", "P", "S"}
    assert not through & {chr(c) for c in range(0xFE00, 0xFE10)}
    assert not through & {chr(c) for c in range(0xE0000, 0xE1000)}


@given(st.text(alphabet=st.characters()))
def test_a_shown_line_is_one_line_and_stays_as_it_is(line: str) -> None:
    shown = visible(line)
    assert shown.isprintable() or "\t" in shown
    assert len(shown.splitlines()) <= 1
    assert visible(shown) == shown
    shown.encode("utf-8")
