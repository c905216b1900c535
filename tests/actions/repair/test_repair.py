"""The plan of a choice, and what comes after it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.actions.repair import describe_repair_next_step
from cub.edit.section_writer import render_section
from cub.errors import UsageError
from cub.project.project import Project
from tests.actions.helpers import body, change, init, section_of, settled, write
from tests.actions.repairs import MARKER, look, repair
from tests.conftest import tree
from tests.edit.broken import BREAKS, END, MINE, broken, conflict
from tests.examples import keep_few


def test_what_is_put_back_is_as_it_was(bakery: Path) -> None:
    before = tree(bakery)
    for name in ("AGENTS.md", "CLAUDE.md"):
        change(bakery / name, MARKER, b"")
    repair(bakery)
    repair(bakery)
    assert tree(bakery) == before
    assert settled(bakery)


@pytest.mark.parametrize("name", keep_few(BREAKS, 12))
def test_every_choice_mends_its_file_and_no_other(bakery: Path, name: str) -> None:
    agents = bakery / "AGENTS.md"
    agents.write_bytes(broken(name, "intact"))
    before = tree(bakery)
    for choice in look(bakery).choices:
        repair(bakery, choice.n)
        assert look(bakery).broken_files == ()
        body(bakery, "AGENTS.md")  # its markers are whole
        assert {**tree(bakery), "AGENTS.md": b""} == {**before, "AGENTS.md": b""}
        agents.write_bytes(before["AGENTS.md"])


def test_a_section_out_of_a_conflict_says_what_the_project_needs(bakery: Path) -> None:
    write(bakery, "AGENTS.md", broken("conflict with your own lines", "intact").decode())
    (choice,) = look(bakery).choices
    assert choice.why.endswith("the section is regenerated")
    repair(bakery)
    assert settled(bakery)
    assert (bakery / "AGENTS.md").read_text().startswith("# Title\n\n<<<<<<< HEAD\nYours.\n")


def test_a_file_that_is_no_target_keeps_the_section_that_it_has(bakery: Path) -> None:
    write(bakery, ".cub/config.yaml", "targets: [CLAUDE.md]\n")
    write(bakery, "AGENTS.md", broken("conflict of whole sections", "intact").decode())
    repair(bakery)
    assert b"- Work on one task." in (bakery / "AGENTS.md").read_bytes()


def test_a_nested_pointer_is_rendered_anew_as_one(bakery: Path) -> None:
    nested = write(bakery, "packages/api/AGENTS.md", "# API\n")
    init(bakery, "packages/api")
    whole = nested.read_text()
    found = section_of(bakery, "packages/api/AGENTS.md")
    other = b"".join(found.body).decode().replace("../AGENTS.md", "../CLAUDE.md")
    section = whole.partition("# API\n\n")[2]
    sides = conflict(render_section(other, 1, b"\n").decode() + "\n", section)
    nested.write_text(whole.replace(section, sides))
    repair(bakery)
    assert nested.read_text() == whole


@pytest.mark.parametrize("number", [0, 3, 99])
def test_a_number_that_nobody_offered_is_a_mistake(bakery: Path, number: int) -> None:
    with pytest.raises(UsageError, match="nothing to repair"):
        repair(bakery, number)
    change(bakery / "AGENTS.md", MARKER, b"")
    with pytest.raises(UsageError, match="choose from 1 to 2"):
        repair(bakery, number)


@pytest.mark.parametrize(
    ("old", "new", "number", "step"),
    [
        (END, "", 1, ""),
        (END, "", 2, ""),
        ("need to know.\n\n" + END, "must know.\n", 1, ""),
        (END, END + END, 1, ""),
        ("- Claim:", END + "- Claim:", 1, ""),
        (END, MINE + END + END, 1, ""),
        (END, END + conflict("a\n", "b\n") + END, 1, "AGENTS.md still has conflicts, from line"),
    ],
)
def test_the_next_step_is_named(bakery: Path, old: str, new: str, number: int, step: str) -> None:
    change(bakery / "AGENTS.md", old.encode(), new.encode())
    plan = repair(bakery, number)
    said = describe_repair_next_step(Project.load(bakery), plan)
    assert said.startswith(step) if step else said == ""


def test_a_stale_section_is_brought_up_to_date_next(bakery: Path) -> None:
    change(bakery / "AGENTS.md", MARKER, b"")
    write(bakery, ".cub/map.md", "# Map\n")
    plan = repair(bakery)
    step = "Run `cub update` to bring the section up to date."
    assert describe_repair_next_step(Project.load(bakery), plan) == step


def test_one_file_with_two_names_is_repaired_for_the_readers_of_both(project: Path) -> None:
    agents = write(project, "AGENTS.md", "# Mine\n\n")
    os.link(agents, project / "CLAUDE.md")
    init(project)
    before = agents.read_text()
    section = before.partition("# Mine\n\n\n")[2]
    agents.write_text(before.replace(section, conflict(section, section)))
    assert look(project).broken_files[0].names == ("AGENTS.md", "CLAUDE.md")
    repair(project)
    assert agents.read_text() == before
    assert settled(project)
