"""The walk of a file's bytes through `cub init`, as the page on the architecture lists it."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from cub.cli.app import run_command_line
from cub.prompt.section_text import render_section

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
HEADING = "## A file's bytes through `cub init`"
MAX_FUNCTIONS, MAX_MODULES = 20, 14
PRINTER = "cub.cli.output.print_plan_summary"  # behind the disk


def listed() -> list[str]:
    """The functions of the page's numbered list, in order."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    section = rest.partition("\n## ")[0]
    return re.findall(r"^\d+\. `(cub\.[\w.]+)`", section, re.MULTILINE)


@contextmanager
def recorded(calls: list[str]) -> Iterator[None]:
    """Add the name of each function of cub that is called."""

    def record(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("cub."):
            calls.append(f"{module}.{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield
    finally:
        sys.setprofile(before)


def module_of(name: str) -> str:
    """The longest beginning of a dotted name that is a module."""
    while True:
        name = name.rpartition(".")[0]
        try:
            return importlib.import_module(name).__name__
        except ModuleNotFoundError:
            continue


def test_the_page_lists_the_functions_in_the_order_in_which_they_are_called(
    project: Path,
) -> None:
    (project / "AGENTS.md").write_bytes(b"# Bakery\r\n\r\nBread is counted in dozens.")
    render_section.cache_clear()
    calls: list[str] = []
    with recorded(calls):
        assert run_command_line(["-C", str(project), "init"]) == 0
    following = iter(calls)
    missing = [name for name in listed() if name not in following]
    assert missing == []
    assert b"Bread is counted in dozens." in (project / "AGENTS.md").read_bytes()


def test_the_walk_from_the_command_to_the_disk_is_short() -> None:
    names = listed()
    assert names[-1] == PRINTER
    to_disk = names[:-1]
    assert len(to_disk) == len({*to_disk})
    assert 12 <= len(to_disk) <= MAX_FUNCTIONS
    assert len({module_of(name) for name in to_disk}) <= MAX_MODULES
