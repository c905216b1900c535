from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.write_file import WRITE
from tests.agent.tools.context import call, make_context

BEGIN, END = "<!-- BEGIN CUB MANAGED SECTION v1 -->", "<!-- END CUB MANAGED SECTION -->"
SECTION = f"{BEGIN}\n\nRun the tests.\n\n{END}\n"
FILE = f"# Mine\n\nMy rules.\n\n{SECTION}\nBelow.\n"


def know(context: ToolContext, text: str) -> Path:
    path = context.root / "AGENTS.md"
    path.write_bytes(text.encode())
    context.reads.record_file(path, text.encode())
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Run the tests.", "Skip the tests."),
        (BEGIN, BEGIN.replace("v1", "v2")),
        (END, ""),
        (SECTION, ""),
        ("My rules.\n\n", "<!-- "),
        ("My rules.\n\n", "My rules.\n\n```\n"),
        ("Below.", f"{BEGIN}\n{END}"),
    ],
)
def test_an_edit_of_the_managed_section_is_refused(tmp_path: Path, old: str, new: str) -> None:
    context = make_context(tmp_path)
    path = know(context, FILE)
    with pytest.raises(ToolError, match=r"section of AGENTS\.md") as caught:
        call(EDIT, context, file_path="AGENTS.md", old_string=old, new_string=new)
    assert "`cub update`" in caught.value.hint
    assert path.read_text() == FILE


def test_text_around_the_managed_section_is_free(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    path = know(context, FILE)
    call(EDIT, context, file_path="AGENTS.md", old_string="My rules.", new_string="1\n2")
    call(WRITE, context, file_path="AGENTS.md", content=f"{SECTION}\nOnly this.\n")
    assert path.read_text() == f"{SECTION}\nOnly this.\n"


def test_a_write_without_the_managed_section_is_refused(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    path = know(context, FILE)
    with pytest.raises(ToolError, match="managed section"):
        call(WRITE, context, file_path="AGENTS.md", content="# All new\n")
    assert path.read_text() == FILE


def test_markers_that_are_damaged_stay_and_the_rest_is_free(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    path = know(context, f"a\n\n{BEGIN}\n\nb\n")
    call(EDIT, context, file_path="AGENTS.md", old_string="b", new_string="c")
    for new in ("", BEGIN.replace("v1", "v2")):
        with pytest.raises(ToolError, match="managed section"):
            call(EDIT, context, file_path="AGENTS.md", old_string=BEGIN, new_string=new)
    with pytest.raises(ToolError, match="managed section"):
        call(EDIT, context, file_path="AGENTS.md", old_string="c", new_string=f"c\n\n{END}")
    assert path.read_text() == f"a\n\n{BEGIN}\n\nc\n"


def test_a_file_without_a_managed_section_is_free(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    path = know(context, f"CUB\n{'x' * (1 << 20)}\n")
    call(WRITE, context, file_path="AGENTS.md", content="CUB\n")
    call(EDIT, context, file_path="AGENTS.md", old_string="CUB", new_string=f"\n{SECTION}")
    assert path.read_text() == f"\n{SECTION}\n"


@given(st.data())
def test_a_managed_section_survives_any_edits(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    context = make_context(tmp_path_factory.mktemp("section"))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = FILE.replace("\n", end)
    path = know(context, text)
    words = st.lists(
        st.sampled_from([BEGIN, END, "\n", "```", "<!--", "-->", "Run", "x", "- "]), max_size=4
    ).map("".join)
    for _ in range(5):
        shown = path.read_bytes().decode().replace("\r\n", "\n")
        start = data.draw(st.integers(0, len(shown)))
        old = shown[start : start + data.draw(st.integers(1, 60))]
        try:
            call(
                EDIT,
                context,
                file_path="AGENTS.md",
                old_string=old,
                new_string=data.draw(words),
                replace_all=True,
            )
        except ToolError:
            continue
    assert SECTION.replace("\n", end).encode() in path.read_bytes()
