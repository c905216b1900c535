"""AGENTS.md files that are longer than Codex reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import plan_update
from cub.actions.plan_warnings import warn_unread_files
from cub.actions.project_state import load_project_state
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import init, remove, rows, section_of, update, write

LIMIT = 32 * 1024
LINE = "- Bake the bread, and count it.\n"


def long(size: int) -> str:
    return (LINE * (size // len(LINE) + 1))[: size - 1] + "\n"


def said(plan: Plan) -> list[tuple[str, str]]:
    return [(warning.location, warning.message) for warning in plan.warnings]


def test_a_section_behind_what_codex_reads_is_told_by_init_update_and_status(
    project: Path,
) -> None:
    write(project, "AGENTS.md", long(40_000))
    message = "Codex reads only the first 32 KiB of this file, and the section ends after that"
    plan = init(project)
    section = section_of(project, "AGENTS.md")
    where = f"AGENTS.md:{section.start + 1}"
    assert said(plan) == [(where, message)]
    assert "placement top" in plan.warnings[0].hint
    plan = update(project)
    assert said(plan) == [(where, message)]
    assert "move the section" in plan.warnings[0].hint
    warnings = list(warn_unread_files(load_project_state(Project.load(project))))
    assert [(w.location, w.message) for w in warnings] == [(where, message)]
    assert rows(project)["AGENTS.md"].read_in_part == {"Codex": LIMIT}
    assert "Codex" in rows(project)["AGENTS.md"].clients


def test_the_way_out_leads_out(project: Path) -> None:
    text = long(40_000)
    write(project, "AGENTS.md", text)
    init(project)
    remove(project)
    assert (project / "AGENTS.md").read_text() == text
    write(project, ".cub/config.yaml", "placement: top\n")
    plan = init(project)
    unread = len((project / "AGENTS.md").read_bytes()) - LIMIT
    message = (
        f"Codex reads this file without its last {unread:,} bytes, and no AGENTS.md "
        "in a subdirectory"
    )
    assert said(plan) == said(plan_update(Project.load(project))) == [("AGENTS.md", message)]
    assert "project_doc_max_bytes" in plan.warnings[0].hint
    assert rows(project)["AGENTS.md"].read_in_part == {"Codex": LIMIT}


@pytest.mark.parametrize("room", [-1, 0])
def test_the_last_byte_counts(project: Path, room: int) -> None:
    write(project, "AGENTS.md", "x\n")
    init(project)
    added = len((project / "AGENTS.md").read_bytes()) - 2
    remove(project)
    write(project, "AGENTS.md", long(LIMIT - added - room))
    assert bool(init(project).warnings) == (room < 0)
    assert rows(project)["AGENTS.md"].read_in_part == ({"Codex": LIMIT} if room < 0 else {})


def test_files_above_take_their_part(project: Path) -> None:
    write(project, "AGENTS.md", long(10_000))
    write(project, "oven/AGENTS.md", long(20_000))
    (project / "oven/hot").mkdir()
    plan = init(project, "oven/hot")
    above = sum(len((project / name).read_bytes()) for name in ("AGENTS.md", "oven/AGENTS.md"))
    assert above < LIMIT
    assert plan.warnings == ()
    write(project, "oven/AGENTS.md", long(LIMIT - (above - 20_000) - 100))
    assert said(update(project)) == [
        (
            "oven/hot/AGENTS.md:1",
            "Codex reads only 32 KiB of AGENTS.md files from the root down, not this section",
        )
    ]
    assert rows(project)["oven/hot/AGENTS.md"].read_in_part == {"Codex": 100}


def test_other_files_have_no_such_limit(project: Path) -> None:
    write(project, "CLAUDE.md", long(40_000))
    assert "Codex" not in str(said(init(project)))
    assert rows(project)["CLAUDE.md"].read_in_part == {}
