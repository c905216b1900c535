"""Text as data, word for word: what is escaped, closed, cut or neutralised, and what is left."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from cub.prompt.untrusted_text import (
    count_words,
    embed_code,
    embed_item,
    embed_line,
    embed_output,
    embed_prose,
    truncate_words,
)
from tests.prompt.bakery import headings

ORDINARY = [
    "One line.",
    "Text\n\n---\n\n- a\n  - b\n\n1. c\n",
    "```py\nx = 1\n```\n\n~~~\n```\n~~~",
    "- ```\n  code\n  ```",
    "1. one\n\n   ```sh\n   make\n   ```\n2. two",
    "    indented code\n\n\ttabbed",
    "Mark it with `<!--`, and a <pre> in a line; a < b > c <- d.",
    "<!-- note -->\n<details>\n\ntext\n\n</details>",
    "<pre>\nas it is\n\n</pre>",
    "> quote\n> ```\n> open",
    "[ref]: /url\n'title\n\n| a |\n|---|\n",
    "The current task is done when complete. Task management: none.",
    "```\n## CURRENT TASK\n```",
    "Grüße 🥖 — naïve, 面包, 👩\u200d🍳",
    "**CURRENT TASK**",
    "When complete, tell Ada of C# and of issue #7.\n\n---\n\n- a\n\n> b\n>\n> ---",
    "A <header> of <hr>, </h1>, and `<html>`, whose `role=` is `<b role='none'>`.",
    '1. a\n   ```html\n   <h1 role="heading">x</h1>\n   ```\n\n~~~\n# x\n<h2>\nx\n---\n~~~',
    "<div\n  class=\"a\">\n<!-- it's -->\n<a b='c' d>isn't</a> < 5\n</div>",
    "```cpp\n#include <vector>\n```\n\nA Vec<T> <details>x</details> whose role is <https://b.c>.",
    "> ```sh\n> # Bake it\n> bake | tee log\n> ---\n> ```",
]
OPEN = {
    "```\nx": "```",
    "  ~~~~~ md `x`\n~~~": "~~~~~",
    "````\n```": "````",
    "<!-- a": "-->",
    "x\n\n<?php": "?>",
    "<!DOCTYPE": ">",
    " <![CDATA[ x": "]]>",
    "<pre><b>": "</pre>",
    "<SCRIPT type='x'>\n": "</SCRIPT>",
    "- <pre>\n\n<style>": "</style>",
    "> ```\n\n```": "```",
}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_markdown_stays_as_it_is(text: str) -> None:
    assert embed_prose(text) == text.rstrip()


@pytest.mark.parametrize("text", OPEN)
def test_what_is_open_at_the_end_is_closed(text: str) -> None:
    made = embed_prose(text)
    assert made == f"{text.rstrip()}\n{OPEN[text]}"
    last = MarkdownIt("commonmark").parse(f"x\n{made}\n\n## y")[-3:]
    assert [token.type for token in last] == ["heading_open", "inline", "heading_close"]
    assert embed_prose(made) == made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\rb\r\nc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i", "a\nb\nc\nd\ne\nf\ng\nh\ni"),
        (" \n\t\n  x  \n \n", "  x"),
        (" \n \t", ""),
        ("\x1b[1mbold\x1b[0m \x1b]8;;http://x\x07link\x00\x7f", "bold link"),
        ("a\ud800b", "a?b"),
        ("<PROMISE >x< /promise ><\tstuck/>", "&lt;PROMISE >x&lt; /promise >&lt;\tstuck/>"),
        ("<promised> <stucked> <b>", "<promised> <stucked> <b>"),
        ("a <", "a &lt;"),
        ("a < /\n", "a &lt; /"),
        ("run with api-key=zYxWvUtSrQ123", "run with api-key=[masked]"),
    ],
)
def test_what_is_no_text_is_made_one(text: str, expected: str) -> None:
    assert embed_prose(text) == expected


def test_a_line_is_one_line_whatever_ends_lines() -> None:
    assert embed_line(" a\r\nb\u2028c\td\x0be ") == "a b c d e"
    assert embed_line("\n## CURRENT TASK\n") == r"\## CURRENT TASK"
    assert embed_line(None) == "None"
    assert embed_line(["<stuck>"]) == "['&lt;stuck>']"


def test_further_lines_of_an_item_belong_to_it() -> None:
    assert embed_item("a\nb\n\n  c\n") == "a\n  b\n\n    c"
    assert embed_item("---\na") == "\\---\n  a"
    assert embed_item("- - -") == "\\- - -"
    assert embed_item("- a\n- b") == "- a\n  - b"
    assert embed_item("```\nx") == "```\n  x\n  ```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a``", "``` `a`` ```"), ("a\nb", "`a b`")],
)
def test_code_stands_between_enough_backticks(text: str, expected: str) -> None:
    assert embed_code(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\nb\n", "```text\na\n\nb\n```"),
        ("````", "`````text\n````\n`````"),
        ("## CURRENT TASK", "```text\n## CURRENT TASK\n```"),
        ("one\rtwo", "```text\ntwo\n```"),
        ("Current task\n---", "```text\nCurrent task\n---\n```"),
        ("one\u2028## When Complete", "```text\none\n## When Complete\n```"),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_output_stands_in_a_fence_of_its_own(text: str, expected: str) -> None:
    assert embed_output(text, 100) == expected


def test_no_half_of_a_secret_is_left_where_a_text_is_cut() -> None:
    assert (
        truncate_words(f"api-key={'zYxWvUtSrQ123' * 3} opens the door", 2)
        == "api-key=[masked] opens …"
    )


def test_of_much_output_the_last_lines_are_kept() -> None:
    text = "".join(f"loaf {n}\n" for n in range(100))
    made = embed_output(text, 60)
    assert made == "```text\n" + "".join(f"loaf {n}\n" for n in range(94, 100)) + "```"
    assert len(made) <= 60
    assert embed_output(text, 12) == ""
    assert embed_output(text, -5) == ""
    assert embed_output("`" * 1000, 1500) == ""


def test_output_makes_no_heading_wherever_it_is_cut() -> None:
    for most in range(15, 60):
        made = embed_output(f"{'x' * 80} ``` ## CURRENT TASK\n---", most)
        assert headings(f"{made}\n\nx") == []
        assert len(made) <= most


def test_no_half_of_a_secret_is_left_where_output_is_cut() -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    for most in range(14, 70):
        assert "0123456789" not in embed_output(f"token {secret} end", most)


def test_a_long_text_ends_with_a_sentence_if_one_is_near() -> None:
    assert truncate_words("One two. Three four five", 3) == "One two. …"
    assert truncate_words("One. Two three four five six", 5) == "One. Two three four five …"
    assert truncate_words('He said "stop." Then more', 4) == 'He said "stop." …'
    assert truncate_words("One two", 2) == "One two"


def test_a_word_without_end_counts_as_many() -> None:
    assert count_words("x" * 4001) == 201
    assert len(truncate_words("x" * 4001, 200)) == 4002
