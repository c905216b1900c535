from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.agent.tools.open_target import OPEN, OpenArguments, open_target
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from tests.agent.tools.context import open_context
from tests.written_files import write_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the opener is a script")
OPENER = "open" if sys.platform == "darwin" else "xdg-open"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    """A project, and an opener that writes into a FIFO what it is to open."""
    (tmp_path / "project").mkdir()
    os.mkfifo(tmp_path / "opened")
    script = f'#!/bin/sh\nprintf "%s|" "$#" "$@" > {tmp_path}/opened\n'
    write_program(tmp_path / "bin" / OPENER, script)
    with open_context(tmp_path / "project", PATH=str(tmp_path / "bin"), DISPLAY=":0") as made:
        yield made


def read_opened(context: ToolContext) -> str:
    """What the opener was given; waits for it."""
    return (context.root.parent / "opened").read_text()


def test_a_file_is_opened(context: ToolContext) -> None:
    page = context.root / "-a page.HTML"
    page.write_text("<p>")
    assert open_target(OpenArguments("-a page.HTML"), context).text == f"Opened {page}."
    assert read_opened(context) == f"1|{page}|"


def test_an_address_is_opened(context: ToolContext) -> None:
    open_target(OpenArguments("http://localhost:8000/a?b=c#d"), context)
    assert read_opened(context) == "1|http://localhost:8000/a?b=c#d|"


@pytest.mark.parametrize(
    "name", ["a.sh", "a.desktop", "a.command", "a.exe", "a.py", "a.jar", "a", "a.html.sh"]
)
def test_what_may_run_is_refused(context: ToolContext, name: str) -> None:
    (context.root / name).write_text("x")
    with pytest.raises(ToolError, match="may run"):
        open_target(OpenArguments(name), context)


def test_an_executable_file_is_refused(context: ToolContext) -> None:
    page = context.root / "a.html"
    page.write_text("#!/bin/sh")
    page.chmod(0o755)
    with pytest.raises(ToolError, match="may run"):
        open_target(OpenArguments("a.html"), context)


def test_a_link_to_what_may_run_is_refused(context: ToolContext) -> None:
    (context.root / "a.desktop").write_text("x")
    (context.root / "a.html").symlink_to("a.desktop")
    with pytest.raises(ToolError, match=r"a\.desktop may run"):
        open_target(OpenArguments("a.html"), context)


@pytest.mark.parametrize(
    "target", ["gone.html", ".", "App.app", "file:///etc/passwd", "mailto:a@b", "-h", ""]
)
def test_only_files_that_exist_are_opened(context: ToolContext, target: str) -> None:
    (context.root / "App.app").mkdir()
    with pytest.raises(ToolError, match="is not a file or a web address"):
        open_target(OpenArguments(target), context)


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always a display")
def test_without_a_display_there_is_an_error(tmp_path: Path) -> None:
    with (
        open_context(tmp_path) as context,
        pytest.raises(ToolError, match="nothing can be opened") as caught,
    ):
        open_target(OpenArguments("http://localhost/"), context)
    assert caught.value.hint == "give the user the path or URL"


def test_without_an_opener_there_is_an_error(tmp_path: Path) -> None:
    with (
        open_context(tmp_path, PATH=str(tmp_path), WAYLAND_DISPLAY="w") as context,
        pytest.raises(ToolError, match="nothing can be opened"),
    ):
        open_target(OpenArguments("http://localhost/"), context)


def test_a_call_is_about_its_target() -> None:
    assert OPEN.get_subject({"target": "a.html"}) == "a.html"
    assert OPEN.definition.schema["required"] == ["target"]
    assert not OPEN.is_concurrent
