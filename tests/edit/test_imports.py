from __future__ import annotations

import re
from posixpath import normpath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cub.edit.imports import imports
from tests.examples import few_examples


@pytest.mark.parametrize(
    "text",
    [
        "@AGENTS.md",
        "@./AGENTS.md\n",
        "# Rules @AGENTS.md\n",
        "- see: @AGENTS.md\n",
        "> @AGENTS.md and more\n",
        "text\n@AGENTS.md\ntext\n",
        "| a |\n|---|\n| @AGENTS.md |\n",
        "<!-- note -->\n@AGENTS.md\n",
        "<!-- note -->\n\n@docs/../AGENTS.md\n",
    ],
)
def test_an_import_in_plain_text_counts(text: str) -> None:
    assert "AGENTS.md" in imports(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AGENTS.md",
        "`@AGENTS.md`",
        "```\n@AGENTS.md\n```\n",
        "text\n\n    @AGENTS.md\n",
        "<!-- @AGENTS.md -->\n",
        "<!--\n@AGENTS.md\n-->\n",
        "<div>\n@AGENTS.md\n</div>\n",
        "(@AGENTS.md)",
        "[t](@AGENTS.md)",
        "[@AGENTS.md](x)",
        '"@AGENTS.md"',
        "map:@AGENTS.md",
        "@AGENTS.md.",
        "@AGENTS.md, and more",
        "me@AGENTS.md",
        "@docs/AGENTS.md",
        "@AGENTS.mdx",
        "a `code` @AGENTS.md`x`",
        "\\@AGENTS.md text",
        "&#32;@AGENTS.md",
        "[x]: @AGENTS.md",
    ],
)
def test_anything_else_does_not(text: str) -> None:
    assert "AGENTS.md" not in imports(text)


_PARTS = [
    "@a", "@b.md", " @c", "[x @d y]", "[x @e y][r]", "[r]: /u", "  [r]: @f", "](", ")", "[", "]",
    "`", "```", "> @g", ">@h", "- @i", "# @j", "<!--", "-->", "    @k", "\n", "\n", "\n\n", "\n\n",
    "![x @l", "*@p*", "text", "<b @q>", "* ", "me@r", "<http://@s>",
]  # fmt: skip


def seen_in_whole(text: str) -> set[str]:
    """The imports of a text that is parsed from its first line to its last one."""
    found = set()
    for block in MarkdownIt("commonmark").parse(text):
        for run in [block.children or []] if block.type == "inline" else []:
            kinds = {"softbreak": "\n", "hardbreak": "\n"}
            joined = "".join(
                t.content if t.type == "text" else kinds.get(t.type, "\0") for t in run
            )
            found |= set(re.findall(r"(?:^|(?<=\s))@(\S+)(?=\s|$)", joined))
    return {normpath(path) for path in found}


@few_examples
@given(st.lists(st.sampled_from(_PARTS), max_size=16).map("".join))
def test_imports_are_those_of_the_whole_text(text: str) -> None:
    assert imports(text) == seen_in_whole(text)
