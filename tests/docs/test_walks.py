"""The walks of architecture.md name functions in the order in which they are called."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import FrameType

from cub.prompt.section_text import render_section
from tests.actions.run.conftest import bakery, copy_shop, prepare_once
from tests.actions.run.shop import CHECK, Shop
from tests.conftest import Cub
from tests.docs.pages import DOCS

__all__ = ["bakery", "copy_shop", "prepare_once"]

ROOT = Path(__file__).parents[2]
_STEP = re.compile(r"^\d+\. `([\w.]+)`", re.MULTILINE)


def read_walk(heading: str) -> list[str]:
    """The functions of a section's numbered list, as `cub.files.apply.apply_plan`."""
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    return _STEP.findall(text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0])


@contextmanager
def recorded_calls(wanted: Sequence[str]) -> Iterator[list[str]]:
    """Those of the calls of cub's functions that are wanted, in their order."""
    calls: list[str] = []
    codes: dict[object, str] = {}

    def record(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call":
            return
        if code not in codes:
            path = Path(code.co_filename)
            inside = path.is_relative_to(ROOT / "cub")
            parts = path.relative_to(ROOT).with_suffix("").parts if inside else ()
            name = f"{'.'.join(parts).removesuffix('.__init__')}.{code.co_qualname}"
            codes[code] = name if name in wanted else ""
        if codes[code]:
            calls.append(codes[code])

    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def require_walk(heading: str, act: Callable[[], int]) -> list[str]:
    """The steps of a walk, each of which `act` takes after the one before."""
    walk = read_walk(heading)
    assert walk
    with recorded_calls(walk) as calls:
        assert act() == 0
    remaining = iter(calls)
    assert [step for step in walk if step not in remaining] == []
    return walk


def test_a_file_goes_through_init_as_the_page_says(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(b"# Bakery\n\nBread is counted in dozens.\n")
    render_section.cache_clear()
    walk = require_walk("A file's bytes through `cub init`", lambda: cub("init").code)
    assert len(walk) <= 20
    modules = {re.sub(r"(\.[A-Z]\w*)?\.\w+$", "", step) for step in walk}
    assert len(modules) <= 14


def test_a_task_goes_through_an_attempt_as_the_page_says(bakery: Shop, cub: Cub) -> None:
    bakery.client('cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"')
    bakery.task()
    require_walk("A task through one attempt", lambda: cub("run", "--trust", "--check", CHECK).code)


def test_a_prompt_goes_through_a_session_as_the_page_says(project: Path, cub: Cub) -> None:
    script = """\
        conversations:
          - replies:
              - calls: [{Read: {file_path: AGENTS.md}}]
              - calls: [{Edit: {file_path: AGENTS.md, old_string: Bakery, new_string: Shop}}]
              - text: Done.
    """
    (project / "AGENTS.md").write_text("# Bakery\n")
    (project / "replies.yaml").write_text(dedent(script))
    words = ("code", "-p", "Rename it.", "--model", "scripted/replies.yaml")
    options = ("--permissions", "accept-edits")
    require_walk("A prompt through `cub code`", lambda: cub(*words, *options).code)
    assert (project / "AGENTS.md").read_text() == "# Shop\n"


def test_a_context_is_put_together_as_the_page_says(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_text("# Bakery\n")
    tasks = project / ".agents" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "fix.md").write_text("Fix it.\n")
    words = ("context", "fix", "-s", "languages=go", "--exec", "true")
    require_walk("A context through `cub context`", lambda: cub(*words).code)
