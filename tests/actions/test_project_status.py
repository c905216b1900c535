from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.helpers import init, rows, write


def test_after_init_everything_is_current(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, "CLAUDE.md", "")
    init(project)
    found = rows(project)
    assert list(found)[:3] == ["AGENTS.md", "CLAUDE.md", ".cub/constitution.md"]
    assert {found[path].state for path in ("AGENTS.md", "CLAUDE.md", ".cub/runloop.md")} == {
        "current (v1)"
    }
    assert found["AGENTS.md"].owner == "you + cub"
    assert found["CLAUDE.md"].owner == "cub"
    assert found["CLAUDE.md"].clients == ("Claude Code",)
    assert (found["AGENTS.md"].tokens or 0) > (found["CLAUDE.md"].tokens or 0) > 0


def test_before_init_everything_is_missing(project: Path) -> None:
    assert {row.state for row in rows(project).values()} == {"missing"}


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
        row = rows(project)["AGENTS.md"]
        assert (row.state, row.line) == (state, line)
    agents.write_bytes(good)
    write(project, ".cub/map.md", "# Map\n")
    assert rows(project)["AGENTS.md"].state == "stale"


def test_cubs_own_files_that_were_edited_are_yours(project: Path) -> None:
    init(project)
    file = project / ".cub/runloop.md"
    file.write_bytes(file.read_bytes() + b"Mine.\n")
    row = rows(project)[".cub/runloop.md"]
    assert (row.owner, row.state) == ("you", "edited, kept")


def test_unreadable_targets_are_rows_too(project: Path) -> None:
    (project / "AGENTS.md").mkdir()
    row = rows(project)["AGENTS.md"]
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
        found = rows(project)
        assert found[name].state.split()[0] in ("broken", "unmarked")
        assert found[other].state == f"not known until {name} is repaired"
    edited = project / other
    edited.write_bytes(edited.read_bytes().replace(b"## Cub", b"## Our Cub"))
    assert rows(project)[other].state == "edited inside"  # that is so, whatever the other says
