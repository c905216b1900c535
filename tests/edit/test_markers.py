from __future__ import annotations

import pytest

from cub.edit.document import Document
from cub.edit.markers import find_marker_pair, find_markers
from cub.errors import CubError

B = "<!-- BEGIN CUB MANAGED SECTION v1 -->"
E = "<!-- END CUB MANAGED SECTION -->"


def _scan(text: str) -> list[tuple[int, int | None]]:
    return [tuple(marker) for marker in find_markers(Document(text.encode(), "AGENTS.md"))]  # type: ignore[misc]


@pytest.mark.parametrize(
    "text",
    [
        f"{B}\nx\n{E}\n",
        f"para\n{B}\nx\n{E}\n",
        f"- item\n\n{B}\n{E}\n",
        f"> quote\n{B}\n{E}\n",
        f"   {B}  \n\n{E}\t\n",
        "<!--   BEGIN\tCUB  MANAGED SECTION v12   -->\n<!-- END  CUB MANAGED SECTION -->\n",
        f"<div>\n{B}\n</div>\n\n{E}\n",
        f"<details>\n<summary>x</summary>\n{B}\n\n## H\n\n{E}\n</details>\n",
        f"<div>\n<pre>x</pre>\n{B}\n{E}\n</div>\n",
        f"<!-- a note -->\n{B}\n<!-- a\nlonger\nnote -->\n{E}\n",
        f"| a |\n|---|\n{B}\n{E}\n",
        f"---\ntitle: x\n---\n{B}\n{E}\n",
        f"\ufeff{B}\n{E}\n",
        f"---\n\n# Title\n\n{B}\n\ntext\n\n{E}\n\n---\n",
    ],
)
def test_a_whole_line_of_a_top_level_html_block_is_a_marker(text: str) -> None:
    found = _scan(text)
    assert [version is None for _, version in found] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{B}\n{E}\n```\n",
        f"~~~md\n{B}\n{E}\n",
        f"    {B}\n    {E}\n",
        f"\t{B}\n",
        f"> {B}\n> {E}\n",
        f"- {B}\n- {E}\n",
        f"- x\n\n  {B}\n  {E}\n",
        f"<pre>\n{B}\n{E}\n</pre>\n",
        f"<pre>\n\n{B}\n{E}\n</pre>\n",
        f"<script>\n{B}\n{E}\n</script>\n",
        f"<!-- an example:\n{B}\n",
        f"<div>\n<!-- an example:\n{B}\n</div>\n",
        f"<div><pre>\n{B}\n</pre></div>\n",
        f"<?php\n{B}\n?>\n",
        f"text {B}\n",
        f"{B} text\n",
        f"`{B}`\n",
        B.lower() + "\n",
        B.replace("v1", "") + "\n",
        B.replace("v1", "vX") + "\n",
        B.replace("<!-- ", "<!--") + "\n",
        f"---\nexample: |\n  {B}\n---\n",
    ],
)
def test_everything_else_is_prose(text: str) -> None:
    assert _scan(text) == []
    assert find_marker_pair(Document(text.encode())) is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"# T\n\n{B}\ntext\n", 3, "BEGIN marker without an END marker"),
        (f"# T\n{E}\n", 2, "END marker without a BEGIN marker"),
        (f"{E}\n{B}\n", 1, "END marker before the BEGIN marker"),
        (f"{B}\n{B}\n{E}\n", 2, "BEGIN marker inside a managed section"),
        (f"{B}\n{E}\n\n{B}\n{E}\n", 4, "second managed section"),
        (f"{B}\n{E}\n{E}\n", 3, "END marker without a BEGIN marker"),
        (f"{B}\n{E}\n{B}\n", 3, "second managed section"),
    ],
)
def test_broken_markers_are_named_and_never_guessed_at(text: str, line: int, message: str) -> None:
    with pytest.raises(CubError, match=message) as caught:
        find_marker_pair(Document(text.encode(), "AGENTS.md"))
    assert caught.value.where == f"AGENTS.md:{line}"
    assert "`cub repair`" in caught.value.hint
    lines = [n for n, text_line in enumerate(text.split("\n"), 1) if text_line in (B, E)]
    assert [d.split(": ")[0] for d in caught.value.details] == [f"AGENTS.md:{n}" for n in lines]


@pytest.mark.parametrize(
    "text",
    [
        f"<<<<<<< HEAD\n{B}\na\n=======\n{B}\nb\n>>>>>>> x\n{E}\n",
        f"{B}\n<<<<<<< HEAD\na\n||||||| base\nc\n=======\nb\n>>>>>>> x\n{E}\n",
        f"<<<<<<< HEAD\n{B}\na\n{E}\n=======\n>>>>>>> x\n",
        f"{B}\r\na\r\n<<<<<<< HEAD\r\n{E}\r\n=======\r\n{E}\r\n>>>>>>> x\r\n",
    ],
)
def test_conflicts_that_overlap_the_section_are_refused(text: str) -> None:
    with pytest.raises(CubError, match="conflict") as caught:
        find_marker_pair(Document(text.encode(), "AGENTS.md"))
    number = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("<<<<<<<"))
    assert caught.value.where == f"AGENTS.md:{number}"


def test_conflicts_elsewhere_do_not_matter() -> None:
    text = f"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\n{B}\n{E}\n\n<<<<<<< HEAD\n"
    assert find_marker_pair(Document(text.encode())) is not None


def test_text_without_marker_lines_is_never_parsed() -> None:
    document = Document(b"# CUB is a word\n" * 10)
    assert find_markers(document) == []
    assert "blocks" not in vars(document)
