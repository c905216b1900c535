"""One project, one text: whatever is there, every reader gets the shared text exactly once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.errors import CubError
from tests.actions.helpers import body, init, remove, settled, update, write
from tests.conftest import tree

SHARED = "Work in tasks:"
CLAUDE = "For Claude Code:"
IMPORT = "- Shared instructions: @AGENTS.md\n"
FIRST = "Read CLAUDE.md in this directory first"

# The user's files, and which of the parts above their sections hold then.
TABLE: dict[str, tuple[dict[str, str], set[str], set[str]]] = {
    "nothing": ({}, {SHARED}, {IMPORT, CLAUDE}),
    "agents": ({"AGENTS.md": "A.\n"}, {SHARED, CLAUDE}, set()),
    "agents, and Claude's in a folder": (
        {"AGENTS.md": "A.\n", ".claude/CLAUDE.md": "C.\n"},
        {SHARED},
        {IMPORT, CLAUDE},
    ),
    "agents, and one person's": (
        {"AGENTS.md": "A.\n", "CLAUDE.local.md": "C.\n"},
        {SHARED},
        {IMPORT, CLAUDE},
    ),
    "agents, empty claude": (
        {"AGENTS.md": "A.\n", "CLAUDE.md": ""},
        {SHARED},
        {IMPORT, CLAUDE},
    ),
    "empty agents": ({"AGENTS.md": ""}, {SHARED, CLAUDE}, set()),
    "claude": ({"CLAUDE.md": "Rules.\n"}, {SHARED, FIRST}, {SHARED, CLAUDE}),
    "both": ({"AGENTS.md": "A.\n", "CLAUDE.md": "C.\n"}, {SHARED}, {SHARED, CLAUDE}),
    "claude, empty agents": (
        {"AGENTS.md": "", "CLAUDE.md": "C.\n"},
        {SHARED, FIRST},
        {SHARED, CLAUDE},
    ),
    "import": (
        {"AGENTS.md": "A.\n", "CLAUDE.md": "See @AGENTS.md here.\n"},
        {SHARED},
        {CLAUDE},
    ),
    "import of what is not there": ({"CLAUDE.md": "C.\n\n@AGENTS.md\n"}, {SHARED}, {CLAUDE}),
    "import in code": (
        {"AGENTS.md": "A.\n", "CLAUDE.md": "`@AGENTS.md`\n"},
        {SHARED},
        {SHARED, CLAUDE},
    ),
    "stub": ({"AGENTS.md": "A.\n", "CLAUDE.md": "@AGENTS.md\n"}, {SHARED}, set()),
    "stub with a dot": ({"AGENTS.md": "A.\n", "CLAUDE.md": "\n@./AGENTS.md"}, {SHARED}, set()),
    "flattened link": ({"AGENTS.md": "A.\n", "CLAUDE.md": "AGENTS.md"}, {SHARED, CLAUDE}, set()),
    "flattened link, other way": (
        {"AGENTS.md": "CLAUDE.md", "CLAUDE.md": "C.\n"},
        set(),
        {SHARED, CLAUDE},
    ),
}


def _parts(text: str) -> set[str]:
    return {part for part in (SHARED, CLAUDE, IMPORT, FIRST) if part in text}


@pytest.mark.parametrize("name", TABLE)
def test_each_file_gets_what_its_readers_need(project: Path, name: str) -> None:
    files, agents, claude = TABLE[name]
    for path, text in files.items():
        write(project, path, text)
    init(project)
    assert _parts(body(project, "AGENTS.md")) == agents
    assert _parts(body(project, "CLAUDE.md") if (project / "CLAUDE.md").exists() else "") == claude
    assert settled(project)
    remove(project)
    kept = {path: text.encode() for path, text in files.items()}
    left = tree(project)
    assert left.pop(".cub/constitution.md")
    assert left == kept


@pytest.mark.parametrize("link", ["AGENTS.md", "CLAUDE.md"])
def test_a_symlink_means_one_section_with_claudes_additions(project: Path, link: str) -> None:
    other = "CLAUDE.md" if link == "AGENTS.md" else "AGENTS.md"
    write(project, other, "Rules.\n")
    (project / link).symlink_to(other)
    init(project)
    assert str((project / link).readlink()) == other
    assert _parts(body(project, other)) == {SHARED, CLAUDE}
    assert settled(project)
    remove(project)
    assert str((project / link).readlink()) == other
    assert (project / other).read_bytes() == b"Rules.\n"


def test_hard_links_stay_one_file(project: Path) -> None:
    write(project, "AGENTS.md", "Rules.\n")
    (project / "CLAUDE.md").hardlink_to(project / "AGENTS.md")
    init(project)
    assert (project / "AGENTS.md").samefile(project / "CLAUDE.md")
    assert _parts(body(project, "CLAUDE.md")) == {SHARED, CLAUDE}
    assert settled(project)


def test_a_link_to_a_third_file_is_followed(project: Path) -> None:
    write(project, "docs/rules.md", "Rules.\n")
    (project / "AGENTS.md").symlink_to("docs/rules.md")
    plan = init(project)
    assert plan.edits[0].path == "docs/rules.md"
    assert (project / "AGENTS.md").is_symlink()
    assert SHARED in body(project, "docs/rules.md")


def test_a_claude_file_that_cub_made_keeps_its_import(project: Path) -> None:
    write(project, "AGENTS.md", "Rules.\n")
    write(project, "CLAUDE.md", "")
    init(project)
    made = project / "CLAUDE.md"
    made.write_bytes(b"Mine.\n\n" + made.read_bytes() + b"\nMore of mine.\n")
    assert settled(project)
    made.write_bytes(b"@AGENTS.md\n\n" + made.read_bytes())
    update(project)
    assert _parts(body(project, "CLAUDE.md")) == {CLAUDE}


def test_an_agents_file_that_cub_made_keeps_sending_readers_to_claude(project: Path) -> None:
    write(project, "CLAUDE.md", "Rules.\n")
    init(project)
    made = project / "AGENTS.md"
    made.write_bytes(b"Mine.\n\n" + made.read_bytes())
    assert settled(project)
    assert FIRST in body(project, "AGENTS.md")


def test_beside_a_misnamed_agents_file_claude_gets_the_whole_text(project: Path) -> None:
    write(project, "agents.md", "Rules.\n")
    write(project, "CLAUDE.md", "Mine.\n")
    init(project)
    assert _parts(body(project, "CLAUDE.md")) == {SHARED, CLAUDE}
    assert settled(project)


def test_a_single_target_has_all_its_readers_need(project: Path) -> None:
    write(project, "CLAUDE.md", "@AGENTS.md\n")
    init(project, targets=("CLAUDE.md",))
    assert not (project / "AGENTS.md").exists()
    assert SHARED in body(project, "CLAUDE.md")


def test_nested_files_point_to_the_root_and_only_those_asked_for(project: Path) -> None:
    write(project, "packages/api/AGENTS.md", "API rules.\n")
    write(project, "packages/web/AGENTS.md", "Web rules.\n")
    write(project, "tools/CLAUDE.md", "Tools.\n")
    init(project, "packages/api", "tools")
    assert "`../../AGENTS.md`" in body(project, "packages/api/AGENTS.md")
    assert "`../AGENTS.md`" in body(project, "tools/CLAUDE.md")
    assert not (project / "tools/AGENTS.md").exists()
    assert not body(project, "packages/web/AGENTS.md")
    assert settled(project)


def test_skills_are_named_where_there_are_some(project: Path) -> None:
    write(project, ".claude/skills/release/SKILL.md", "---\nname: release\n---\n")
    init(project)
    assert ".claude/skills/" in body(project, "CLAUDE.md")
    write(project, ".gitignore", ".claude/\n")
    update(project)
    assert ".claude/skills/" not in body(project, "CLAUDE.md")


def test_a_link_out_of_the_project_stops_everything(project: Path) -> None:
    outside = write(project.parent, "elsewhere.md", "Not ours.\n")
    (project / "CLAUDE.md").symlink_to(outside)
    write(project, "AGENTS.md", "Rules.\n")
    with pytest.raises(CubError, match="leads out of the project"):
        init(project)
    assert (project / "AGENTS.md").read_bytes() == b"Rules.\n"
    assert not (project / ".cub").exists()


def test_what_is_left_alone_is_said(project: Path) -> None:
    write(project, "packages/api/x.py", "")
    init(project, "packages/api")
    shutil.rmtree(project / "packages")
    plan = update(project)
    assert [(w.path, w.message) for w in plan.warnings] == [
        ("packages/api/AGENTS.md", "its directory is missing")
    ]
    write(project, ".cub/config.yaml", "targets: [AGENTS.md]\n")
    assert [w.path for w in update(project).warnings] == ["CLAUDE.md"]


@pytest.mark.parametrize("link", ["symlink", "hard link"])
def test_a_file_that_another_name_leads_to_is_emptied_not_deleted(project: Path, link: str) -> None:
    init(project, targets=("AGENTS.md",))
    other = project / "CLAUDE.md"
    if link == "symlink":
        other.symlink_to("AGENTS.md")
    else:
        other.hardlink_to(project / "AGENTS.md")
    remove(project)
    assert (project / "AGENTS.md").read_bytes() == other.read_bytes() == b""


def test_what_is_no_target_may_be_anything(project: Path) -> None:
    (project / "AGENTS.md").mkdir()
    write(project, "CLAUDE.md", "Mine.\n")
    init(project, targets=("CLAUDE.md",))
    assert SHARED in body(project, "CLAUDE.md")
    assert settled(project)


@pytest.mark.parametrize("link", ["symlink", "hard link", "linked folder"])
def test_a_nested_name_of_the_root_file_gets_nothing_of_its_own(project: Path, link: str) -> None:
    write(project, "AGENTS.md", "A.\n")
    (project / "p").mkdir()
    if link == "symlink":
        (project / "p/AGENTS.md").symlink_to("../AGENTS.md")
    elif link == "hard link":
        (project / "p/AGENTS.md").hardlink_to(project / "AGENTS.md")
    else:
        (project / "q").symlink_to("p")
        init(project, "p", "q")
        assert settled(project)
        return
    init(project, "p")
    assert SHARED in body(project, "AGENTS.md")
    assert settled(project)


def test_a_nested_file_points_to_what_is_there(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    (project / "p").mkdir()
    init(project, targets=("p/AGENTS.md",))
    assert "`../AGENTS.md`" in body(project, "p/AGENTS.md")
    (project / "AGENTS.md").unlink()
    with pytest.raises(CubError, match="the root has no instruction file"):
        init(project)


def test_targets_that_are_left_out_lose_their_sections(project: Path) -> None:
    (project / "p").mkdir()
    write(project, "CLAUDE.md", "C.\n")
    init(project, "p")
    init(project, targets=("AGENTS.md",))
    assert not (project / "p/AGENTS.md").exists()
    assert (project / "CLAUDE.md").read_bytes() == b"C.\n"
    assert settled(project)


@pytest.mark.parametrize("text", ["    @AGENTS.md\n", "\\@AGENTS.md text\n", "[x]: @AGENTS.md\n"])
def test_what_claude_does_not_resolve_is_no_import(project: Path, text: str) -> None:
    write(project, "AGENTS.md", "A.\n")
    write(project, "CLAUDE.md", text)
    init(project)
    assert _parts(body(project, "CLAUDE.md")) == {SHARED, CLAUDE}


def test_a_left_out_target_that_a_link_leads_to_is_emptied_not_deleted(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    (project / "p").mkdir()
    init(project, "p")
    (project / "p/CLAUDE.md").hardlink_to(project / "p/AGENTS.md")
    init(project, targets=("AGENTS.md", "CLAUDE.md"))
    assert (project / "p/AGENTS.md").read_bytes() == (project / "p/CLAUDE.md").read_bytes() == b""
