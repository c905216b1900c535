from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cub.agent.tools.tool import ToolContext, find_tool
from cub.agent.tools.toolset import TOOLS, choose_tools
from tests.agent.tools.context import make_context
from tests.written_files import write_program


@pytest.mark.parametrize(
    ("name", "values", "renamed"),
    [
        ("Read", {"path": "a", "offset": 1}, {"file_path": "a", "offset": 1}),
        ("Read", {"filename": "a"}, {"file_path": "a"}),
        ("Write", {"filePath": "a", "contents": "b"}, {"file_path": "a", "content": "b"}),
        (
            "Edit",
            {"path": "a", "old_str": "b", "newText": ""},
            {"file_path": "a", "old_string": "b", "new_string": ""},
        ),
        ("Bash", {"cmd": "ls", "run_in_background": False}, {"command": "ls"}),
        ("Glob", {"query": "*.py", "directory": "src"}, {"pattern": "*.py", "path": "src"}),
        (
            "Grep",
            {"regex": "x", "file_path": "a", "-i": True, "-A": 1, "-B": 2, "-C": 3},
            {
                "pattern": "x",
                "path": "a",
                "ignore_case": True,
                "after": 1,
                "before": 2,
                "context": 3,
            },
        ),
        (
            "Grep",
            {"query": "x", "include": "*.py", "maxResults": 5},
            {"pattern": "x", "glob": "*.py", "head_limit": 5},
        ),
        ("WebFetch", {"uri": "http://a/"}, {"url": "http://a/"}),
        ("WebSearch", {"q": "x", "num_results": 3}, {"query": "x", "limit": 3}),
        ("Open", {"path": "a.html"}, {"target": "a.html"}),
    ],
)
def test_names_that_models_bring_along_are_understood(
    name: str, values: dict[str, object], renamed: dict[str, object]
) -> None:
    asked = {
        key: value for key, value in TOOLS[name].resolve_names(values).items() if value is not False
    }
    assert asked == renamed


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Grep", {"pattern": "x", "-n": True, "-r": True, "multiline": False}),
        ("WebFetch", {"url": "http://localhost/", "prompt": "Is it up?"}),
        ("Bash", {"command": "ls", "run_in_background": False}),
    ],
)
def test_what_a_tool_does_anyway_may_be_asked_for(name: str, values: dict[str, object]) -> None:
    TOOLS[name].bind(values)
    assert "is_recursive" not in TOOLS[name].definition.schema["properties"]


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    """A project, and a program that opens things."""
    for name in ("open", "xdg-open"):
        write_program(tmp_path / name, "#!/bin/sh\n")
    return make_context(tmp_path, environ={"PATH": str(tmp_path), "DISPLAY": ":0"})


def list_missing(context: ToolContext, *, has_terminal: bool = True) -> set[str]:
    return TOOLS.keys() - choose_tools(context, has_terminal=has_terminal).keys()


def test_a_search_needs_a_server(context: ToolContext) -> None:
    assert list_missing(context) == {"WebSearch"}
    assert list_missing(replace(context, search_url="http://localhost/")) == set()


def test_nothing_is_opened_where_nobody_can_see_it(context: ToolContext) -> None:
    assert "Open" in list_missing(context, has_terminal=False)
    assert "Open" not in list_missing(replace(context, environ={**context.environ, "DISPLAY": "x"}))
    wayland = {"PATH": context.environ["PATH"], "WAYLAND_DISPLAY": "wayland-0"}
    assert "Open" not in list_missing(replace(context, environ=wayland))


@pytest.mark.skipif(sys.platform != "linux", reason="there is always a display")
@pytest.mark.parametrize("environ", [{"DISPLAY": ":0", "PATH": "/none"}, {"DISPLAY": ""}, {}])
def test_nothing_is_opened_without_a_display_or_an_opener(
    context: ToolContext, environ: dict[str, str]
) -> None:
    without = replace(context, environ={"PATH": context.environ["PATH"], **environ})
    assert "Open" in list_missing(without)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Read", "Read"), ("read", "Read"), ("READ", "Read"), ("web_fetch", "WebFetch"),
        ("webfetch", "WebFetch"), ("Reads", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_tool_is_found_however_its_name_is_cased(name: str, found: str) -> None:
    tool = find_tool(TOOLS, name)
    assert (tool.name if tool else "") == found


def test_a_name_that_may_mean_two_tools_means_none() -> None:
    tools = dict.fromkeys(("mcp__a__get_x", "mcp__a__getX"), TOOLS["Read"])
    assert find_tool(tools, "mcp__a__getx") is None
    assert find_tool(tools, "mcp__a__getX") is TOOLS["Read"]
