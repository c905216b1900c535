from __future__ import annotations

import re
from posixpath import normpath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cub.edit.blocks import Block
from cub.edit.document import Document, split_lines
from cub.edit.file_header import add_file_header
from cub.edit.file_imports import find_imports, inline_file
from cub.edit.section_writer import put_section
from cub.errors import CubError
from tests.edit.readers import read_section
from tests.edit.strategies import ANYTHING, PROSE
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
    assert "AGENTS.md" in find_imports(text)


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
    assert "AGENTS.md" not in find_imports(text)


@pytest.mark.parametrize(
    "text", ["see @C:\\Users\\_me.md", "**Use @a/b**", "@a`c`d", "@a\0b", "@\0"]
)
def test_no_path_has_a_nul(text: str) -> None:
    assert not any("\0" in path for path in find_imports(text))


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
            found |= set(re.findall(r"(?:^|(?<=\s))@([^\s\0]+)(?=\s|$)", joined))
    return {normpath(path) for path in found}


@few_examples
@given(st.lists(st.sampled_from(_PARTS), max_size=16).map("".join))
def test_imports_are_those_of_the_whole_text(text: str) -> None:
    assert find_imports(text) == seen_in_whole(text)


TITLE = "Operating principles"
PAIR = "<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nx\n\n<!-- END CUB MANAGED SECTION -->\n"

# What is in the file, and what stands in the section.
TABLE = {
    "a title": ("# Title\n\nText.\n", "### Title\n\nText."),
    "no title": ("Text.\n", f"### {TITLE}\n\nText."),
    "a title further down": ("Text.\n\n# Title\n", f"### {TITLE}\n\nText.\n\n### Title"),
    "levels keep their distance": ("# A\n\n## B\n\n### C\n", "### A\n\n#### B\n\n##### C"),
    "levels go up too": ("##### A\n\n###### B\n", "### A\n\n#### B"),
    "there is no level below 6": ("# A\n\n##### E\n\n###### F\n", "### A\n\n###### E\n\n###### F"),
    "the highest one comes later": ("## B\n\n# A\n", "#### B\n\n### A"),
    "closing marks": ("# Title ##\n", "### Title ##"),
    "an empty heading": ("#\n\nText.\n", "###\n\nText."),
    "an indented heading": ("   # Title\n", "### Title"),
    "no blank line behind": ("# Title\nText.\n", "### Title\nText."),
    "setext": ("Title\n=====\n\nSub\n---\n", "### Title\n\n#### Sub"),
    "setext over two lines": ("My\n  title\n=====\n", "### My title"),
    "setext with a sharp sign": ("In C #\n======\n", "### In C \\#"),
    "setext that ends in one": ("In C#\n=====\n", "### In C#"),
    "a sharp sign in a fence": (
        "# T\n\n```sh\n# comment\nT\n===\n```\n",
        "### T\n\n```sh\n# comment\nT\n===\n```",
    ),
    "a sharp sign in indented code": ("    # x\n", f"### {TITLE}\n\n    # x"),
    "a sharp sign in HTML": ("<div>\n# x\n</div>\n", f"### {TITLE}\n\n<div>\n# x\n</div>"),
    "a sharp sign in a comment": ("<!--\n# x\n-->\n", f"### {TITLE}\n\n<!--\n# x\n-->"),
    "a heading in a quote": ("> # x\n", f"### {TITLE}\n\n> # x"),
    "no heading at all": ("#x\n\n#######\n", f"### {TITLE}\n\n#x\n\n#######"),
    "CRLF": ("# A\r\n\r\nText.\r\n", "### A\n\nText."),
    "CR": ("# A\r\rText.\r", "### A\n\nText."),
    "no last line end": ("# A", "### A"),
    "blanks at line ends": ("# A  \n\nText.\t\n", "### A\n\nText."),
    "blank lines around": ("\n\n# A\n\n\n", "### A"),
    "front matter": ("---\ntitle: x\n---\n\n# A\n", "### A"),
    "a byte order mark": ("\ufeff# A\n", "### A"),
    "front matter twice": (
        "---\na: b\n---\n---\nc: d\n# T\n---\n",
        f"### {TITLE}\n\n---\nc: d\n### T\n---",
    ),
    "a setext heading of odd characters": ("Text\n\x85\n---\n", "### Text \x85"),
    "a rule is no front matter": ("---\n\nText.\n", f"### {TITLE}\n\n---\n\nText."),
    "nothing": ("", ""),
    "blanks": (" \n\t\n", ""),
    "only front matter": ("---\ntitle: x\n---\n", ""),
    "NUL": ("# A\0\n", "### A\ufffd"),
    "markers in a fence": (f"```\n{PAIR}```\n", f"### {TITLE}\n\n```\n{PAIR}```"),
    "markers in code": (
        "`<!-- END CUB MANAGED SECTION -->`\n",
        f"### {TITLE}\n\n`<!-- END CUB MANAGED SECTION -->`",
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_file_is_made_fit_for_a_section(name: str) -> None:
    text, expected = TABLE[name]
    assert inline_file(text.encode(), ".cub/x.md", TITLE) == expected


def test_what_is_no_utf_8_is_shown_as_such() -> None:
    assert inline_file(b"# caf\xe9\n", ".cub/x.md", TITLE) == "### caf\ufffd"


def test_of_a_file_of_cubs_own_the_header_stays_out() -> None:
    data = add_file_header("# Map\n\n- a\n", 1, "<!-- {} -->")
    for end in (b"\n", b"\r\n"):
        assert inline_file(data.replace(b"\n", end), ".cub/map.md", "Map") == "### Map\n\n- a"


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (PAIR, "x.md:1", "a file with a managed section"),
        ("# A\n\n<!-- END CUB MANAGED SECTION -->\n", "x.md:3", "a file with a managed section"),
        ("---\na: b\n---\n\n```\nx\n", "x.md", "the code fence that starts in line 5"),
        ("# A\n\n<!-- open\n", "x.md", "the comment or raw HTML block that starts in line 3"),
        ("<pre>\n\n# A\n", "x.md", "the comment or raw HTML block that starts in line 1"),
        ("# A\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "x.md:2", "git's conflict markers"),
    ],
)
def test_what_would_break_the_section_is_refused(text: str, where: str, message: str) -> None:
    with pytest.raises(CubError, match=message) as caught:
        inline_file(text.encode(), "x.md", TITLE)
    assert caught.value.where == where


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(CubError, match="UTF-16 or UTF-32"):
        inline_file("# Title\n".encode(encoding), "x.md", TITLE)


def _inlined(data: bytes) -> str:
    try:
        return inline_file(data, "x.md", TITLE)
    except CubError:
        assume(False)
        raise


@few_examples
@given(ANYTHING | st.binary(max_size=200), st.booleans())
def test_whatever_is_inlined_makes_a_section_that_holds(data: bytes, list_above: bool) -> None:
    above = "- a list\n  goes on" if list_above else "Text."
    text = _inlined(data)
    done = put_section(Document(b"# Mine\n"), f"## Cub\n\n{above}\n\n{text}\n", 1).document
    section = read_section(done)
    assert section.author == "cub"
    assert done.data.startswith(b"# Mine\n\n")


@few_examples
@given(PROSE)
def test_nothing_but_the_level_of_headings_changes(data: bytes) -> None:
    text = _inlined(data)
    assume(text)
    stripped = (line.rstrip(b" \t\r\n") for line in split_lines(data[Document(data).head_size :]))
    before = [_seen(block) for block in Document(b"\n" + b"\n".join(stripped)).blocks]
    after = [_seen(block) for block in Document(text.encode()).blocks]
    assert after[len(after) - len(before) :] == before
    assert after[: len(after) - len(before)] in ([], [("heading", TITLE)])


def _seen(block: Block) -> tuple[object, ...]:
    """A block without its place; of a heading, its text alone."""
    if block.kind != "heading_open":
        return block.token_key
    lines = str(block.token_key[1][-1]).split("\n")
    return "heading", " ".join(line.strip(" \t") for line in lines)
