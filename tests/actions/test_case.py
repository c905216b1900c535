"""Disks that ignore case, as on macOS and Windows: the listing says which names there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.actions.project_state import load_project_state
from cub.actions.project_status import list_file_statuses
from cub.edit.plan import Plan
from cub.errors import CubError
from cub.files.file_tree import PlannedTree
from cub.project.project import Project
from tests.project.memory_tree import MemoryTree

GEMINI, COPILOT, CURSOR = "GEMINI.md", ".github/copilot-instructions.md", ".cursor/rules/cub.mdc"


def _project(files: dict[str, bytes], links: dict[str, str] | None = None) -> Project:
    tree = MemoryTree(files, links or {}, ignores_case=True)
    return Project.from_tree(Path("/nowhere"), tree, is_commit=True)


def _after(project: Project, plan: Plan) -> Project:
    planned = PlannedTree(project.tree, {edit.path: edit.after for edit in plan.edits})
    return replace(project, tree=planned)


def _states(project: Project) -> dict[str, str]:
    return {row.path: row.state for row in list_file_statuses(load_project_state(project))}


def _config(*targets: str) -> dict[str, bytes]:
    return {".cub/config.yaml": f"targets: [{', '.join(targets)}]\n".encode()}


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.MD"])
def test_a_name_of_another_case_that_leaves_no_file_for_a_section_is_refused(name: str) -> None:
    with pytest.raises(CubError, match="nothing was written") as caught:
        plan_init(_project({name: b"Mine.\n"}))
    assert caught.value.where == name
    assert caught.value.hint == "rename it to AGENTS.md, then run `cub init`"


@pytest.mark.parametrize("name", ["claude.md", "Claude.md", "CLAUDE.MD"])
def test_a_person_s_file_of_another_case_is_neither_read_nor_written(name: str) -> None:
    project = _project({name: b"Mine.\n"})
    plan = plan_init(project)
    assert [w.path for w in plan.warnings] == [name]
    assert plan.warnings[0].hint == "rename it to CLAUDE.md, then run `cub init`"
    written = {edit.path for edit in plan.edits}
    assert not {path for path in written if path.casefold() == name.casefold()}
    assert written & {"AGENTS.md", "CLAUDE.md"} == {"AGENTS.md"}
    after = _after(project, plan)
    assert plan_init(after).is_empty
    assert plan_update(after).is_empty
    assert {w.path for w in plan_update(after).warnings} == {name}
    assert "CLAUDE.md" not in _states(after)


def test_a_nested_name_that_was_asked_for_is_refused() -> None:
    project = _project({"AGENTS.md": b"Mine.\n", "api/agents.md": b"Mine.\n"})
    with pytest.raises(CubError, match="nothing was written") as caught:
        plan_init(project, InitOptions(paths=["api"]))
    assert caught.value.where == "api/agents.md"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("gemini.md", GEMINI),
        (".github/Copilot-Instructions.md", COPILOT),
        (".cursor/rules/CUB.mdc", CURSOR),
        ("packages/api/agents.md", "packages/api/AGENTS.md"),
    ],
)
def test_other_targets_are_told_by_the_listing_too(name: str, target: str) -> None:
    project = _project({name: b"Mine.\n", **_config("AGENTS.md", target)})
    plan = plan_init(project)
    assert [w.path for w in plan.warnings] == [name]
    assert not {edit.path for edit in plan.edits if edit.path.casefold() == name.casefold()}
    assert plan_init(_after(project, plan)).is_empty
    assert target not in _states(_after(project, plan))


def test_the_renamed_file_gets_its_section() -> None:
    project = _project({"AGENTS.md": b"Mine.\n"})
    plan = plan_init(project)
    assert [edit.path for edit in plan.edits][:2] == ["AGENTS.md", ".cub/constitution.md"]
    assert plan.edits[0].before == b"Mine.\n"
    assert _states(_after(project, plan))["AGENTS.md"] == "current (v1)"


@pytest.mark.parametrize("folder", [".GitHub", ".Github"])
def test_a_folder_of_another_case_is_the_same_folder(folder: str) -> None:
    files = {f"{folder}/copilot-instructions.md": b"Mine.\n", **_config("AGENTS.md", COPILOT)}
    project = _project(files)
    plan = plan_init(project)
    edit = next(edit for edit in plan.edits if edit.path == COPILOT)
    assert edit.before == b"Mine.\n"
    assert plan_init(_after(project, plan)).is_empty


def test_a_path_is_remembered_as_other_disks_spell_it() -> None:
    project = _project({"Packages/Api/x.py": b""})
    plan = plan_init(project, InitOptions(paths=["packages/api"]))
    (edit,) = (edit for edit in plan.edits if edit.path == ".cub/config.yaml")
    assert b"  - Packages/Api/AGENTS.md\n" in (edit.after or b"")
    assert "Packages/Api/AGENTS.md" in {edit.path for edit in plan.edits}


def test_a_link_of_another_case_is_no_instruction_file() -> None:
    project = _project({"AGENTS.md": b"Mine.\n"}, {"claude.md": "AGENTS.md"})
    plan = plan_init(project)
    assert [w.path for w in plan.warnings] == ["claude.md"]
    assert "CLAUDE.md" not in {edit.path for edit in plan.edits}


def test_skills_count_by_the_name_that_clients_look_for() -> None:
    for name, named in (("SKILL.md", True), ("skill.md", False)):
        project = _project({f".claude/skills/bake/{name}": b"---\nname: bake\n---\n"})
        texts = {edit.path: edit.after for edit in plan_init(project).edits}
        assert (b".claude/skills/" in (texts["CLAUDE.md"] or b"")) == named
