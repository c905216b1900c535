"""Links between the files of several clients, and what git makes of links without links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.actions.repair import make_repair_report, plan_repair
from cub.errors import CombinedError, CubError
from cub.project.project import Project
from tests.actions.helpers import carry_out, init, remove, rows, settled, update, write
from tests.actions.targets import (
    AGENTS,
    ALL,
    CLAUDE,
    COPILOT,
    CURSOR,
    GEMINI,
    left,
    warned,
    written,
)
from tests.conftest import tree

LINKS = {
    "Gemini to AGENTS.md": {GEMINI: "AGENTS.md"},
    "Gemini to CLAUDE.md": {GEMINI: "CLAUDE.md"},
    "Copilot to AGENTS.md": {COPILOT: "../AGENTS.md"},
    "Copilot to GEMINI.md": {COPILOT: "../GEMINI.md"},
    "all to AGENTS.md": {CLAUDE: "AGENTS.md", GEMINI: "AGENTS.md", COPILOT: "../AGENTS.md"},
    "a chain": {CLAUDE: "AGENTS.md", GEMINI: "CLAUDE.md", COPILOT: "../GEMINI.md"},
    "AGENTS.md to Gemini": {AGENTS: "GEMINI.md", CLAUDE: "AGENTS.md"},
    "AGENTS.md to Copilot": {AGENTS: COPILOT},
}


# A checkout without links has the text of each as a file.
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("symbolic", name) for name in LINKS),
        *(("flattened", name) for name in ("all to AGENTS.md", "AGENTS.md to Gemini")),
        *(
            pytest.param("flattened", name, marks=pytest.mark.thorough)
            for name in LINKS
            if name not in ("all to AGENTS.md", "AGENTS.md to Gemini")
        ),
    ],
)
def test_links_get_nothing_of_their_own_and_stay(project: Path, name: str, kind: str) -> None:
    links = LINKS[name]
    own = {path: f"My {path}.\n".encode() for path in ALL[:4] if path not in links}
    written(project, own)
    for path, text in links.items():
        (project / path).parent.mkdir(exist_ok=True)
        if kind == "symbolic":
            (project / path).symlink_to(text)
        else:
            (project / path).write_bytes(text.encode())
    before = tree(project)
    init(project, targets=ALL[:4])
    assert settled(project)
    for path, text in links.items():
        link = (project / path).readlink().as_posix() if kind == "symbolic" else ""
        assert (link or (project / path).read_text()) == text
    files = [project / path for path in own]
    assert all(file.read_bytes().count(b"BEGIN CUB") == 1 for file in files)
    assert {rows(project)[path].state for path in ALL[:4]} == {"current (v1)"}
    remove(project)
    assert left(project) == before


@pytest.mark.parametrize("name", LINKS)
def test_a_checkout_without_links_is_current_too(project: Path, tmp_path: Path, name: str) -> None:
    own = {path: f"My {path}.\n".encode() for path in ALL[:4] if path not in LINKS[name]}
    written(project, own)
    for path, text in LINKS[name].items():
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).symlink_to(text)
    init(project, targets=ALL[:4])
    other = tmp_path / "other"
    for path, data in tree(project).items():
        write(other, path, "").write_bytes(data)
    for path, text in LINKS[name].items():
        (other / path).write_bytes(text.encode())
    assert settled(other)


def test_a_link_to_agents_md_is_not_read_twice(project: Path) -> None:
    write(project, AGENTS, "A.\n")
    for path in (COPILOT, CURSOR):
        (project / path).parent.mkdir(parents=True)
        (project / path).symlink_to(os.path.relpath(AGENTS, Path(path).parent))
    assert warned(init(project, targets=(AGENTS, COPILOT, CURSOR))) == []
    assert warned(update(project)) == []


@pytest.mark.parametrize("kind", ["symbolic", "hard", "flattened"])
def test_a_broken_file_is_told_and_repaired_once_for_all_its_names(
    project: Path, kind: str
) -> None:
    write(project, AGENTS, "A.\n")
    if kind == "symbolic":
        (project / CLAUDE).symlink_to(AGENTS)
    elif kind == "hard":
        (project / CLAUDE).hardlink_to(project / AGENTS)
    else:
        write(project, CLAUDE, AGENTS)
    init(project)
    whole = (project / AGENTS).read_bytes()
    with (project / AGENTS).open("r+b") as file:
        file.truncate(len(whole) - len(b"<!-- END CUB MANAGED SECTION -->\n"))
    if kind != "hard":
        with pytest.raises(CubError) as caught:
            update(project)
        assert not isinstance(caught.value, CombinedError)
    (broken,) = make_repair_report(Project.load(project)).broken_files
    assert broken.names == (AGENTS, CLAUDE)
    carry_out(project, lambda found: plan_repair(found, 1))
    assert (project / AGENTS).read_bytes() == whole


def test_a_file_of_cubs_own_stays_while_an_instruction_file_is_a_link_to_it(project: Path) -> None:
    init(project, targets=(AGENTS, CURSOR))
    (project / AGENTS).unlink()
    (project / AGENTS).symlink_to(CURSOR)
    plan = init(project, targets=(AGENTS,))
    assert f"kept, because {AGENTS} is a link to it" in {w.message for w in plan.warnings}
    assert (project / AGENTS).read_text().startswith("---\n")
    assert settled(project)


@pytest.mark.parametrize("folder", [".cub", "tools/cub"])
def test_purging_leaves_what_an_instruction_file_is_a_link_to(project: Path, folder: str) -> None:
    mine = write(project, f"{folder}/mine.md", "# Mine\n")
    if folder != ".cub":
        (project / ".cub").symlink_to(folder)
    (project / AGENTS).symlink_to(".cub/mine.md")
    init(project)
    plan = remove(project, purge=True)
    assert f"kept: {AGENTS} is a link to it" in {w.message for w in plan.warnings}
    assert mine.read_bytes() == b"# Mine\n"
    assert (project / AGENTS).read_bytes() == b"# Mine\n"
    assert not (project / ".cub/constitution.md").exists()


def test_two_files_that_share_a_backup_are_taken_out_together(project: Path) -> None:
    """`a/b` and `a-b` make one name, and the same old section has the same bytes."""
    old = "<!-- BEGIN CUB MANAGED SECTION v1 -->\nOld.\n<!-- END CUB MANAGED SECTION -->\n"
    names = ("a/b/AGENTS.md", "a-b/AGENTS.md")
    for name in names:
        write(project, name, "")
    init(project, *names)
    for name in names:
        write(project, name, f"# Mine\n\n{old}")
    plan = remove(project)
    assert [(project / name).read_text() for name in names] == ["# Mine\n"] * 2
    (backup,) = (edit.after for edit in plan.edits if "backups" in edit.path)
    assert backup == old.encode()
