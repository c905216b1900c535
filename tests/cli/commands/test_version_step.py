"""The road from one version of the section templates to the next, walked by real processes.

The next version is a copy of this cub with a test-only set of templates beside it, which a server
runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cub.edit.document import Document
from cub.edit.sections import find_section
from cub.prompt.section_text import SectionSpec, recognize_section
from cub.prompt.templates import TemplateSet
from tests.cli.standing import MINE
from tests.command_line import Result, run_program
from tests.conftest import Cub, environment, tree
from tests.fork_server import ForkServer

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def home_of_next(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cub whose templates have a v2: another bullet, another run loop, a changelog."""
    folder = tmp_path_factory.mktemp("next")
    for name in ("cub", "templates", "migrations"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    sections, runloop = folder / "templates/sections", folder / "templates/files/runloop.md"
    shutil.copytree(sections / "v1", sections / "v2")
    for file in (sections / "v2").glob("*.j2"):
        text = file.read_text(encoding="utf-8").replace("sections/v1/", "sections/v2/")
        text = text.replace("Work in tasks:", "Work in small tasks:")
        file.write_text(text, encoding="utf-8")
    (sections / "v2/changes.txt").write_text("tasks are small\nand few\n", encoding="utf-8")
    runloop.write_text(runloop.read_text(encoding="utf-8") + "\nOne more rule.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def next_command(home_of_next: Path) -> Iterator[list[str]]:
    with closing(ForkServer(code=home_of_next)) as server:
        yield server.command


@pytest.fixture
def next_cub(project: Path, home: Path, next_command: list[str]) -> Callable[..., Result]:
    def run(*arguments: str) -> Result:
        return run_program([*next_command, *arguments], cwd=project, environ=environment(home))

    return run


def states(result: Result) -> dict[str, str]:
    return {line.split()[0]: line for line in result.out.splitlines()}


def test_the_road_from_one_version_to_the_next(
    project: Path, cub: Cub, next_cub: Callable[..., Result], home_of_next: Path
) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    assert cub("init").code == 0
    before = tree(project)

    stale = states(next_cub("status"))
    for name in ("AGENTS.md", ".cub/runloop.md"):
        assert "stale v1 → v2" in stale[name]
    check = next_cub("update", "--check")
    assert check.code == 1
    assert "4 files would change" in check.err

    diff = next_cub("update", "--diff")
    assert diff.code == 0
    assert "-Work in tasks:\n+Work in small tasks:\n" in diff.out.replace("\r", "")
    assert "v2: tasks are small\nv2: and few\n" in diff.err
    assert tree(project) == before

    update = next_cub("update")
    assert update.code == 0
    assert "refresh the managed section v1 → v2\n        v2: tasks are small\n" in update.out
    assert next_cub("update", "--check").code == 0
    assert "current (v2)" in states(next_cub("status"))["AGENTS.md"]
    after = tree(project)
    assert next_cub("update").code == 0
    assert tree(project) == after
    assert after["AGENTS.md"].startswith(MINE)

    refused = cub("update")
    assert refused.code == 1
    assert "written by a newer cub" in refused.err
    assert "templates v2" in refused.err
    assert tree(project) == after

    templates = TemplateSet(home_of_next / "templates")
    assert "Work in tasks:" in recognized(templates, before["AGENTS.md"])
    assert "Work in small tasks:" in recognized(templates, after["AGENTS.md"])

    assert next_cub("remove").code == 0
    assert (project / "AGENTS.md").read_bytes() == MINE


def recognized(templates: TemplateSet, data: bytes) -> str:
    """What a cub with these templates once wrote there, whichever version it was."""
    section = find_section(Document(data))
    assert section is not None
    need = SectionSpec("agents", shared=True, constitution=True)
    return recognize_section(templates, section.version, section.digest, need) or ""


def test_an_edit_of_the_version_before_is_shown_without_the_template_s_change(
    project: Path, cub: Cub, next_cub: Callable[..., Result]
) -> None:
    cub("init")
    file = project / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"that you were given", b"that Ada gave you"))
    refused = next_cub("update")
    assert refused.code == 1
    assert "AGENTS.md (as cub wrote it)" in refused.err
    assert "small tasks" not in refused.err
    assert next_cub("update", "--edited", "move").code == 0
    text = file.read_bytes()
    assert b"that Ada gave you" in text.partition(b"<!-- END")[2]
    assert b"Work in small tasks:" in text
    assert next_cub("update", "--check").code == 0
