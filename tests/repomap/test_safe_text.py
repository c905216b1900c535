from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cub.repomap.safe_text import (
    choose_fence,
    find_sentence_ends,
    quote_path,
    round_count,
    to_one_line,
    truncate_text,
)
from tests.examples import few_examples


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain words", "plain words"),
        ("  two\n\tlines\r\n ", "two lines"),
        ("next\x85line\u2028and\u2029more", "next line and more"),
        ("bell\x07 and\x00 escape\x1b[31m", "bell and escape[31m"),
        ("zero\u200bwidth, \u202ebidi, tag\U000e0041", "zerowidth, bidi, tag"),
        ("lone \udcff surrogate", "lone surrogate"),
        ("ünï 漢字", "ünï 漢字"),
        ("", ""),
    ],
)
def test_text_becomes_one_line_of_what_can_be_seen(text: str, line: str) -> None:
    assert to_one_line(text) == line


@given(st.text())
def test_one_line_is_printable_whatever_it_is_made_of(text: str) -> None:
    line = to_one_line(text)
    assert line.isprintable()
    assert to_one_line(line) == line


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/app.py", "src/app.py"),
        ("two words/x", "two words/x"),
        ("a\nb", r'"a\nb"'),
        ("tab\there", r'"tab\there"'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("x\x01y\x7f", r'"x\001y\177"'),
        ("latin\udce9", r'"latin\351"'),
        ("ünï/漢字", "ünï/漢字"),
        ("zero\u200bwidth", r'"zero\342\200\213width"'),
        ("\ud800", r'"\355\240\200"'),
        (" leading", '" leading"'),
        ("two  blanks", '"two  blanks"'),
    ],
)
def test_odd_paths_are_quoted_as_git_does(path: str, shown: str) -> None:
    assert quote_path(path) == shown


def test_a_path_in_a_row_of_others_may_hold_no_blank() -> None:
    assert quote_path("two words", blanks=False) == '"two words"'


@given(st.text(), st.text())
def test_different_paths_are_shown_differently(one: str, other: str) -> None:
    assert (quote_path(one) == quote_path(other)) == (one == other)
    assert quote_path(one).isprintable()


@pytest.mark.parametrize(
    ("lines", "fence"),
    [
        ([], "```"),
        (["nothing", "in `code` here"], "```"),
        (["```"], "````"),
        (["   `````  "], "``````"),
        (["  - ```"], "```"),
        (["fine", "````python"], "`````"),
        (["two\n```\nlines"], "````"),
    ],
)
def test_the_fence_is_the_shortest_that_no_line_closes(lines: list[str], fence: str) -> None:
    assert choose_fence(lines) == fence


@few_examples
@given(st.lists(st.text(alphabet="`~ab \t\\>-", max_size=12)))
def test_markdown_sees_one_code_block(lines: list[str]) -> None:
    fence = choose_fence(lines)
    tokens = MarkdownIt().parse("\n".join((f"{fence}text", *lines, fence, "", "after")))
    assert [token.type for token in tokens[:2]] == ["fence", "paragraph_open"]


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("short enough", 12, "short enough"),
        ("cut at the end of a word here", 20, "cut at the end…"),
        ("without any of the loose ends here", 22, "without…"),
        ("unbreakableunbreakable", 10, "unbreakab…"),
        ("commas, and (brackets", 15, "commas…"),
        ("One ends. Two ends. Three does not.", 20, "One ends. Two ends."),
        ("One ends. Two ends. Three does not.", 19, "One ends. Two ends."),
        ("One ends. Two ends. Three does not.", 18, "One ends."),
        ("Tools, e.g. hammers. More of them", 20, "Tools, e.g. hammers."),
        ("Tools, e.g. hammers. More of them", 19, "Tools, e.g…"),
    ],
)
def test_long_text_ends_with_a_sentence_or_else_a_word(text: str, limit: int, short: str) -> None:
    assert truncate_text(text, limit) == short
    assert len(short) <= limit


@pytest.mark.parametrize(
    "text",
    [
        "One thing.| Another",
        "It works with rules.| npm knows more",
        "Version 1.2 of node.js is here.| (More)",
        "Tools (e.g. this one, etc. and more).| “Quoted”",
        "Yahoo! is a name, and so is import... from",
        "It reads .NET, vs. others, approx. half.| Now",
        "Ein Werkzeug für Öfen.| Über alles",
        "Инструмент для печей.| Он быстрый",
        "Un outil à tester.| Élan",
        "オーブンの道具です。|とても速いです",
        "यह एक औज़ार है।| और",
        "هل هذه أداة؟| نعم",
    ],
)
def test_a_sentence_ends_where_another_begins(text: str) -> None:
    first, bar, _ = text.partition("|")
    assert find_sentence_ends(text.replace("|", "")) == ([len(first)] if bar else [])


@pytest.mark.parametrize("bit", [".", "!?", ". ", "a. ", "etc. ", ".) ", ". ("])
def test_endless_marks_cost_little(bit: str) -> None:
    assert len(truncate_text(bit * 20_000, 50)) <= 50


@pytest.mark.parametrize(
    ("count", "words"), [(0, ""), (9, ""), (10, "10+"), (47, "40+"), (399, "300+"), (1000, "1000+")]
)
def test_a_count_has_one_digit(count: int, words: str) -> None:
    assert round_count(count) == words
