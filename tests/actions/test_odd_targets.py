"""What is no target may be anything; what is one is told with its fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init
from cub.actions.repair import make_repair_report
from cub.edit.document import MAX_BYTES
from cub.errors import CubError
from cub.project.project import Project
from tests.actions.helpers import init, remove, rows, settled, update, write
from tests.actions.targets import (
    AGENTS,
    ALL,
    COPILOT,
    CURSOR,
    GEMINI,
    warned,
)
from tests.conftest import tree

ODD = {
    "a folder": lambda path: path.mkdir(parents=True),
    "a dangling link": lambda path: path.symlink_to("nothing"),
    "a link out of the project": lambda path: path.symlink_to("/etc/hostname"),
    "UTF-16": lambda path: path.write_bytes("---\na: b\n---\ntext\n".encode("utf-16")),
    "a large file": lambda path: path.write_bytes(b"x" * (MAX_BYTES + 1)),
    "broken markers": lambda path: path.write_bytes(b"<!-- END CUB MANAGED SECTION -->\n"),
}


@pytest.mark.parametrize(
    ("path", "odd"),
    [
        pytest.param(
            path,
            odd,
            marks=() if path == CURSOR or odd == "a folder" else pytest.mark.thorough,
        )
        for path in (GEMINI, COPILOT, CURSOR)
        for odd in ODD
    ],
)
def test_odd_files_stop_only_those_who_want_them_managed(
    project: Path, path: str, odd: str
) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    ODD[odd](project / path)
    init(project)
    assert settled(project)
    assert warned(update(project)) == []
    assert path not in rows(project)
    assert make_repair_report(Project.load(project)).warnings == ()
    if odd not in ("UTF-16", "a large file") or path != CURSOR:  # somebody else's, and left alone
        with pytest.raises(CubError) as caught:
            plan_init(Project.load(project), InitOptions(targets=(AGENTS, path)))
        assert caught.value.where.partition(":")[0] == path
    assert warned(remove(project)) == []


@pytest.mark.parametrize("path", [COPILOT, CURSOR])
def test_a_linked_folder_out_of_the_project_stops_nobody_else(
    project: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "elsewhere" / "rules").mkdir(parents=True)
    (tmp_path / "elsewhere" / "copilot-instructions.md").write_bytes(b"x")
    (project / path.partition("/")[0]).symlink_to(tmp_path / "elsewhere")
    init(project)
    assert settled(project)
    assert warned(update(project)) == []
    remove(project)
    with pytest.raises(CubError, match="leads out of the project"):
        init(project, targets=(AGENTS, path))


@pytest.mark.parametrize(("path", "file"), [(COPILOT, ".github"), (CURSOR, ".cursor/rules")])
def test_a_file_where_a_folder_is_needed_is_named(project: Path, path: str, file: str) -> None:
    write(project, file, "x")
    init(project)
    before = tree(project)
    with pytest.raises(CubError, match="this is a file, but cub needs a directory here") as caught:
        init(project, targets=(AGENTS, path))
    assert caught.value.where == file
    assert tree(project) == before


@pytest.mark.parametrize("path", [COPILOT, CURSOR])
def test_an_odd_target_has_a_row_that_says_why(project: Path, path: str) -> None:
    init(project)
    (project / path).mkdir(parents=True)
    write(project, ".cub/config.yaml", f"targets: [AGENTS.md, {path}]\n")
    row = rows(project)[path]
    assert row.state == "unusable: this is a directory, not a text file"


@pytest.mark.parametrize("name", ["gemini.md", ".github/Copilot-Instructions.md"])
def test_names_of_another_case_are_told_only_to_those_who_want_the_file(
    project: Path, name: str
) -> None:
    write(project, name, "Mine.\n")
    assert warned(init(project)) == warned(update(project)) == []
    plan = init(project, targets=ALL)
    assert name in {path for path, _ in warned(plan)}
    assert (project / name).read_bytes() == b"Mine.\n"
    assert not {GEMINI, COPILOT} & {
        edit.path for edit in plan.edits if edit.path.casefold() == name.casefold()
    }
    assert settled(project)


def test_a_pointer_to_nothing_stops_only_what_would_write_it(project: Path) -> None:
    write(project, "api/AGENTS.md", "Mine.\n")
    write(project, "AGENTS.md", "Root.\n")
    init(project, "api")
    (project / "AGENTS.md").unlink()
    write(project, ".cub/config.yaml", "targets: [api/AGENTS.md]\n")
    assert "api/AGENTS.md" in rows(project)
    with pytest.raises(CubError, match="the root has no instruction file"):
        update(project)
    remove(project)
    assert (project / "api" / "AGENTS.md").read_text() == "Mine.\n"
