from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.edit_misses import explain_miss

NBSP = "U+00A0 NO-BREAK SPACE"
CODE = "def run(x):\n    if x:\n        go(x)\n    return x\n\n\ndef stop(y):\n    return y\n"


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("a\nx\u00a0= 1\n", "x = 1", f"line 2 has {NBSP} where old_string has U+0020 SPACE"),
        ("x = 1\n", "x\u00a0= 1", f"line 1 has U+0020 SPACE where old_string has {NBSP}"),
        (
            "it\u2019s\n", "it's",
            "line 1 has U+2019 RIGHT SINGLE QUOTATION MARK where old_string has U+0027 APOSTROPHE",
        ),
        ("a — b", "a \u2013 b", "line 1 has U+2014 EM DASH where old_string has U+2013 EN DASH"),
        ("a — b", "a - b", "line 1 has U+2014 EM DASH where old_string has U+002D HYPHEN-MINUS"),
        ("a\u2212b", "a-b", "line 1 has U+2212 MINUS SIGN where old_string has U+002D HYPHEN-MIN"),
        ("a\u200bb", "ab", "line 1 has U+200B ZERO WIDTH SPACE where old_string has nothing"),
        ("ab", "a\u00adb", "line 1 has nothing where old_string has U+00AD SOFT HYPHEN"),
        (
            "caf\u00e9", "cafe\u0301",
            "line 1 has U+00E9 LATIN SMALL LETTER E WITH ACUTE where old_string has U+0065 LATIN",
        ),
        ("1\n2\n“a”\nb\n", '"a"\nb', "line 3 has U+201C LEFT DOUBLE QUOTATION MARK, U+201D"),
        ("a…", "a...", "line 1 has U+2026 HORIZONTAL ELLIPSIS where old_string has U+002E"),
        ("é\r\nx\u00a0y\r\n", "é\nx y", f"line 2 has {NBSP}"),
    ],
)  # fmt: skip
def test_characters_that_look_alike_are_named(text: str, old: str, hint: str) -> None:
    assert explain_miss(text.encode(), old).startswith(hint)


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        (
            "if x:\n\tgo()\n", "if x:\n    go()",
            "line 2 is '\\tgo()', and old_string has '    go()': only the whitespace differs",
        ),
        ("a\n\n  b = 1\n", "b=1", "line 3 is '  b = 1', and old_string has 'b=1': only"),
        ("  a\n  b\n", "a\nb", "line 2 is '  b', and old_string has 'b': only"),
        ("a \nb\n", "a\nb\n", "line 1 is 'a ', and old_string has 'a': only"),
        (CODE, "2\t    if x:\n3\t        go(x)", "leave out the line numbers"),
        (CODE, "     2→    if x:\n     3→        go(x)", "leave out the line numbers"),
        (CODE, "a.py:2:    if x:\na.py-3-        go(x)", "leave out the line numbers"),
        (CODE, "2 |     if x:\n3 |         go(x)", "leave out the line numbers"),
        ("a\nb", "b\n", "the file has no such line break before it or after it"),
        ("ab\ncd\n", "...\nab\ncd", "the file has nothing before its first line, and old_string"),
        ("ab\ncd", "ab\ncd\nef", "the file has nothing after its last line, and old_string has"),
        ('a = "x"\nb\n', 'a = \\"x\\"\\nb', "it has backslashes where the file has line breaks"),
        ('print("a\\nb")\n', 'print("a\nb")', "it has line breaks where the file has a backslash"),
        ("a && b < c", "a &amp;&amp; b &lt; c", "it has entities such as &lt;"),
        (
            CODE, "    if x:\n        goto(x)\n    return x",
            "the nearest place differs: line 3 is '        go(x)', and old_string has '    ",
        ),
        (CODE, "def stopp(y):", "the nearest line is 7: 'def stop(y):'"),
        (CODE, "def run(x):\n    if x:\n        go(x)\n    return x\nmore", "the nearest place"),
        ("a\rb", "a\nb", "use Read"),
        ("a", "zz", "use Read"),
        ("a", "\n \n", "use Read"),
        ("", "a", "use Read"),
    ],
)  # fmt: skip
def test_the_hint_says_what_the_file_has(text: str, old: str, hint: str) -> None:
    assert explain_miss(text.encode(), old).startswith(hint)


def test_bytes_that_are_not_utf_8_do_no_harm() -> None:
    assert explain_miss(b"caf\xe9 x\n", "caf x").startswith("the nearest line is 1: 'caf")


def test_a_long_line_is_cut() -> None:
    assert len(explain_miss(b"\t" + b"x " * 10_000, " " + "x " * 10_000)) < 600


def test_a_hint_for_a_large_file_takes_little_time() -> None:
    lines = "".join(f"value_{n} = compute({n}) — é\n" for n in range(60_000))
    start = time.process_time()
    assert "nearest" in explain_miss(lines.encode(), "valeu_7 = compute(7)\nother\n")
    assert time.process_time() - start < 3


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_texts_have_a_hint_on_one_line(text: str, old: str) -> None:
    try:
        hint = explain_miss(text.encode(), old)
    except UnicodeEncodeError:
        return
    assert hint
    assert "\n" not in hint
