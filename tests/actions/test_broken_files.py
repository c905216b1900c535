"""Which files of a project are broken, and what is offered for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.actions.repair import RepairReport, describe_repair_next_step, make_repair_report
from cub.edit.document import MAX_BYTES
from cub.edit.plan import Plan
from cub.errors import UsageError
from cub.project.project import Project
from cub.prompt.templates import TemplateSet, load_shipped_templates
from tests.actions.helpers import change, settled, update, write
from tests.actions.repairs import MARKER, look, repair
from tests.edit.broken import MINE, broken, conflict


def test_in_a_whole_project_nothing_is_broken(bakery: Path) -> None:
    assert look(bakery) == RepairReport()


def test_numbers_run_on_over_all_files(bakery: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        change(bakery / name, MARKER, b"")
    found = look(bakery)
    assert [file.names for file in found.broken_files] == [("AGENTS.md",), ("CLAUDE.md",)]
    assert [choice.n for choice in found.choices] == [1, 2, 3, 4]
    assert [choice.n for choice in found.filter_paths(["CLAUDE.md"]).choices] == [3, 4]
    assert repair(bakery, 3).edits[0].path == "CLAUDE.md"
    assert [file.names for file in look(bakery).broken_files] == [("AGENTS.md",)]


def test_two_names_of_a_broken_file_are_one(bakery: Path) -> None:
    (bakery / "CLAUDE.md").unlink()
    (bakery / "CLAUDE.md").symlink_to("AGENTS.md")
    update(bakery)
    change(bakery / "AGENTS.md", MARKER, b"")
    found = look(bakery)
    assert [file.names for file in found.broken_files] == [("AGENTS.md", "CLAUDE.md")]
    assert found.filter_paths(["CLAUDE.md"]).choices == found.choices
    repair(bakery)
    assert settled(bakery)
    assert (bakery / "CLAUDE.md").is_symlink()


def test_a_link_to_the_one_file_is_mended_where_it_leads(bakery: Path) -> None:
    shutil.move(bakery / "CLAUDE.md", bakery / "docs.md")
    (bakery / "CLAUDE.md").symlink_to("docs.md")
    change(bakery / "docs.md", MARKER, b"")
    assert repair(bakery).edits[0].path == "docs.md"
    assert settled(bakery)


def test_a_file_that_is_no_target_is_looked_at_if_it_is_named(bakery: Path) -> None:
    write(bakery, "notes/AGENTS.md", broken("END without BEGIN", "edited").decode())
    assert look(bakery).broken_files == ()
    assert [file.names for file in look(bakery, "notes/AGENTS.md").broken_files] == [
        ("notes/AGENTS.md",)
    ]
    repair(bakery, 1, "notes/AGENTS.md")
    assert look(bakery, "notes/AGENTS.md").broken_files == ()


def test_a_file_that_is_not_there_is_a_mistake(bakery: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        look(bakery, "AGENT.md")


@pytest.mark.parametrize(
    ("old", "new", "words", "way"),
    [
        (b"- Claim:", MINE.encode() + b"- Claim:", "edited manually", "--edited move"),
        (b"SECTION v1", b"SECTION v99", "newer cub (v99", "upgrade cub"),
        (b"# Bakery\n", "# Bäckerei\n".encode("utf-16"), "UTF-16", "save AGENTS.md as UTF-8"),
        (b"# Bakery\n", b"- Bake.\n" * 131_073, "1,048,584 bytes", "to other files"),
    ],
)
def test_what_is_not_broken_is_left_to_others(
    bakery: Path, old: bytes, new: bytes, words: str, way: str
) -> None:
    agents = bakery / "AGENTS.md"
    whole = b"\xff" in new or len(new) > MAX_BYTES
    agents.write_bytes(new if whole else agents.read_bytes().replace(old, new))
    found = look(bakery)
    (warning,) = found.warnings
    assert found.broken_files == ()
    assert words in warning.message
    assert way in warning.hint
    assert found.filter_paths(["CLAUDE.md"]).warnings == ()


def test_no_choice_puts_an_older_section_in_place_of_a_newer_one(bakery: Path) -> None:
    agents = bakery / "AGENTS.md"
    ours = agents.read_text().partition("# Bakery\n\n")[2]
    newer = ours.replace("SECTION v1", "SECTION v99").replace("- Claim:", "- Seize:")
    agents.write_text(conflict(ours, newer))
    (file,) = look(bakery).broken_files
    assert file.choices == ()
    assert "newer cub (v99" in file.fault.message
    assert "upgrade cub" in file.fault.hint


def test_a_newer_section_with_a_lost_marker_is_mended_and_not_rendered(bakery: Path) -> None:
    agents = bakery / "AGENTS.md"
    change(agents, b"SECTION v1", b"SECTION v99")
    before = agents.read_bytes()
    change(agents, MARKER, b"")
    repair(bakery)
    assert agents.read_bytes() == before


def test_a_section_of_an_older_version_is_known_again(bakery: Path, tmp_path: Path) -> None:
    """One side was edited, the other one is of the next version: the edit alone goes below."""
    newer = templates_v2(tmp_path / "templates")
    agents = bakery / "AGENTS.md"
    v1 = agents.read_text().partition("# Bakery\n\n")[2]
    update(bakery, templates=newer)
    v2 = agents.read_text().partition("# Bakery\n\n")[2]
    agents.write_text("# Bakery\n\n" + conflict(v1.replace("- Claim:", MINE + "- Claim:"), v2))
    project = Project.load(bakery)
    (choice,) = make_repair_report(project, templates=newer).choices
    assert choice.edit.after == f"# Bakery\n\n{v2}\n{MINE}".encode()
    assert describe_repair_next_step(project, Plan((choice.edit,)), newer).startswith(
        "Run `git add AGENTS.md`"
    )


def templates_v2(folder: Path) -> TemplateSet:
    """The shipped templates, and a second version with a line more."""
    shutil.copytree(load_shipped_templates().folder, folder)
    shutil.copytree(folder / "sections" / "v1", folder / "sections" / "v2")
    shared = folder / "sections" / "v2" / "_shared.md.j2"
    shared.write_text(shared.read_text().replace("- Claim:", "- Think first.\n- Claim:"))
    return TemplateSet(folder)
