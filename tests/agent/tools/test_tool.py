from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GREP
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import Tool
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.write_file import WRITE
from tests.agent.tools.context import ENVIRON, make_context

TOOLS: list[Tool] = [READ, WRITE, EDIT, GLOB, GREP]


def test_paths_are_real_and_start_in_the_folder(tmp_path: Path) -> None:
    context = make_context(tmp_path, environ=ENVIRON | {"HOME": "/home/me"})
    (context.root / "link").symlink_to("a")
    assert context.resolve_path("link/b") == context.root / "a/b"
    assert context.resolve_path("/x/../y") == Path("/y")
    assert context.resolve_path("~/c") == Path("/home/me/c")
    assert context.describe_path(context.root / "a/b") == "a/b"
    assert context.describe_path(Path("/y")) == "/y"


@pytest.mark.parametrize("path", ["a\0b", "\ud83d", "a/" * 1_000_000])
def test_what_can_t_be_a_path_is_an_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(ToolError, match="a path has"):
        make_context(tmp_path).resolve_path(path)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_argument_of_a_tool_is_described(tool: Tool) -> None:
    properties = tool.definition.schema["properties"]
    assert all(value["description"] for value in properties.values())
    assert tool.subject in properties
    assert tool.get_subject({tool.subject: "x"}) == "x"


def test_tools_that_only_read_are_concurrent_and_cached() -> None:
    assert [tool.name for tool in TOOLS if tool.is_concurrent] == ["Read", "Glob", "Grep"]
    assert [tool.name for tool in TOOLS if tool.effect == "read"] == ["Read", "Glob", "Grep"]
