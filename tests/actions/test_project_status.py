from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.project_state import load_project_state
from cub.actions.project_status import FileStatus, list_file_statuses
from cub.project.project import Project
from tests.actions.helpers import init, write


def _rows(root: Path) -> dict[str, FileStatus]:
    return {row.path: row for row in list_file_statuses(load_project_state(Project.load(root)))}


def test_after_init_everything_is_current(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, "CLAUDE.md", "")
    init(project)
    rows = _rows(project)
    assert list(rows)[:3] == ["AGENTS.md", "CLAUDE.md", ".cub/constitution.md"]
    assert {rows[path].state for path in ("AGENTS.md", "CLAUDE.md", ".cub/runloop.md")} == {
        "current (v1)"
    }
    assert rows["AGENTS.md"].owner == "you + cub"
    assert rows["CLAUDE.md"].owner == "cub"
    assert rows["CLAUDE.md"].clients == ("Claude Code",)
    assert (rows["AGENTS.md"].tokens or 0) > (rows["CLAUDE.md"].tokens or 0) > 0


def test_before_init_everything_is_missing(project: Path) -> None:
    assert {row.state for row in _rows(project).values()} == {"missing"}


def test_every_state_has_its_name(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    init(project)
    agents = project / "AGENTS.md"
    good = agents.read_bytes()
    for change, state, line in (
        ((b"SECTION v1", b"SECTION v0"), "stale v0 → v1", None),
        ((b"SECTION v1", b"SECTION v99"), "newer than this cub (v99)", 3),
        ((b"- Claim:", b"- Mine.\n- Claim:"), "edited inside", None),
        ((b"<!-- END CUB MANAGED SECTION -->\n", b""), "broken at line 3", 3),
        ((good, b"A.\n"), "missing", None),
        ((b"<!-- cub:digest", b"<!-- a digest"), "stale, author unknown", None),
    ):
        agents.write_bytes(good.replace(*change))
        row = _rows(project)["AGENTS.md"]
        assert (row.state, row.line) == (state, line)
    agents.write_bytes(good)
    write(project, ".cub/map.md", "# Map\n")
    assert _rows(project)["AGENTS.md"].state == "stale"


def test_cubs_own_files_that_were_edited_are_yours(project: Path) -> None:
    init(project)
    file = project / ".cub/runloop.md"
    file.write_bytes(file.read_bytes() + b"Mine.\n")
    row = _rows(project)[".cub/runloop.md"]
    assert (row.owner, row.state) == ("you", "edited, kept")


def test_unreadable_targets_are_rows_too(project: Path) -> None:
    (project / "AGENTS.md").mkdir()
    row = _rows(project)["AGENTS.md"]
    assert row.state.startswith("unusable: this is a directory")


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_beside_a_broken_file_nobody_knows_what_the_other_one_has_to_say(
    project: Path, name: str
) -> None:
    init(project)
    other = {"AGENTS.md": "CLAUDE.md", "CLAUDE.md": "AGENTS.md"}[name]
    file = project / name
    good = file.read_bytes()
    conflict = b"<<<<<<< HEAD\n## A\n=======\n## B\n>>>>>>> bread\n"
    unmarked = b"## " + good.partition(b"\n## ")[2].partition(b"\n<!-- END")[0]
    for data in (good.replace(b"## Cub Integration\n", conflict), unmarked, good[:-40]):
        file.write_bytes(data)
        rows = _rows(project)
        assert rows[name].state.split()[0] in ("broken", "unmarked")
        assert rows[other].state == f"not known until {name} is repaired"
    edited = project / other
    edited.write_bytes(edited.read_bytes().replace(b"## Cub", b"## Our Cub"))
    assert _rows(project)[other].state == "edited inside"  # that is so, whatever the other says
