from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import plan_init, plan_update
from cub.edit.document import Document
from cub.edit.plan import Plan
from cub.edit.sections import find_section
from cub.errors import CubError
from cub.project.project import Project
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import body, init, remove, section_of, settled, states, update, write
from tests.actions.migrating import old_section
from tests.actions.reviews import commit
from tests.actions.targets import ALL, warned
from tests.conftest import git, tree


def test_a_version_step_shows_its_changes_and_refreshes(
    project: Path, next_version: TemplateSet
) -> None:
    init(project)
    plan = update(project, templates=next_version)
    assert [edit.path for edit in plan.shared_edits] == ["AGENTS.md", "CLAUDE.md", *_OWN]
    assert plan.edits[0].reason == "refresh the managed section v1 → v2"
    assert plan.edits[0].changelog == ("v2: tasks are small",)
    section = section_of(project, "AGENTS.md")
    assert section.version == 2
    assert update(project, templates=next_version).is_empty
    with pytest.raises(CubError, match="newer cub"):
        plan_update(Project.load(project))


_OWN = [".cub/runloop.md", ".cub/.gitignore", ".cub/.gitattributes"]


def test_an_edited_run_loop_is_kept_and_offered_the_new_text_once(
    project: Path, next_version: TemplateSet
) -> None:
    init(project)
    file = project / ".cub/runloop.md"
    mine = file.read_bytes() + b"\nMine.\n"
    file.write_bytes(mine)
    assert settled(project)
    plan = update(project, templates=next_version)
    assert file.read_bytes() == mine
    offered = project / ".cub/runloop.md.new"
    assert b"One more rule." in offered.read_bytes()
    assert any("runloop.md.new" in warning.message for warning in plan.warnings)
    offered.unlink()
    assert update(project, templates=next_version).is_empty
    assert not offered.exists()


def test_the_constitution_is_never_written_again(project: Path) -> None:
    init(project)
    file = project / ".cub/constitution.md"
    file.write_bytes(b"Mine.\r\n")
    for command in (init, update):
        command(project)
    init(project, edited="replace")
    assert file.read_bytes() == b"Mine.\r\n"
    remove(project)
    assert file.read_bytes() == b"Mine.\r\n"


def test_a_constitution_that_is_gone_is_referred_to_no_more(project: Path) -> None:
    init(project)
    (project / ".cub/constitution.md").unlink()
    update(project)
    assert "constitution" not in body(project, "AGENTS.md")
    assert not (project / ".cub/constitution.md").exists()
    init(project)
    assert "@.cub/constitution.md" in body(project, "AGENTS.md")


def test_update_before_init_is_an_error_with_a_hint(project: Path) -> None:
    with pytest.raises(CubError) as caught:
        update(project)
    assert "cub init" in caught.value.hint
    assert tree(project) == {}


def test_what_a_person_deleted_is_reported_and_only_init_restores_it(project: Path) -> None:
    init(project, targets=ALL)
    write(project, "AGENTS.md", "A.\n")
    for name in ALL[1:]:
        (project / name).unlink()
    plan = update(project)
    assert plan.is_empty
    assert [one for one in warned(plan) if "missing" in one[1]] == [
        ("AGENTS.md", "the managed section is missing"),
        *((name, "this file is missing") for name in ALL[1:]),
    ]
    assert {states(project)[name] for name in ALL} == {"missing"}
    init(project)
    assert {states(project)[name] for name in ALL} == {"current (v1)"}


def test_cubs_own_files_that_are_gone_come_back_with_update(project: Path) -> None:
    init(project)
    (project / ".cub/runloop.md").unlink()
    assert [edit.path for edit in update(project).edits] == [".cub/runloop.md"]


def test_a_fresh_clone_is_up_to_date(project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    init(project)
    commit(project)
    git(tmp_path, "clone", "-q", str(project), "clone")
    clone = tmp_path / "clone"
    assert not (clone / ".cub/state.json").exists()
    assert settled(clone)
    assert update(clone).is_empty


def test_a_moved_section_stays_where_it_is(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    init(project)
    file = project / "AGENTS.md"
    text = file.read_bytes()
    section = text.partition(b"A.\n\n")[2]
    file.write_bytes(
        b"# T\n\n" + section.replace(b"one task until", b"two tasks until") + b"\nA.\n"
    )
    update(project, edited="replace")
    assert file.read_bytes() == b"# T\n\n" + section + b"\nA.\n"


def test_nothing_is_written_when_nothing_changes(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    init(project)
    before = {path: (project / path).stat().st_mtime_ns for path in tree(project)}
    assert init(project).is_empty
    assert update(project).is_empty
    assert {path: (project / path).stat().st_mtime_ns for path in tree(project)} == before


def test_a_known_empty_file_stays_and_a_made_one_goes(project: Path) -> None:
    write(project, "AGENTS.md", "")
    init(project)
    remove(project)
    assert tree(project).keys() == {"AGENTS.md", ".cub/constitution.md"}
    assert (project / "AGENTS.md").read_bytes() == b""


def test_the_older_section_form_is_taken_over_without_a_question(project: Path) -> None:
    write(project, "AGENTS.md", f"Above.\n\n{old_section()}\nBelow.\n")
    plan = init(project)
    data = (project / "AGENTS.md").read_bytes()
    assert data.startswith(b"Above.\n\n<!-- BEGIN")
    assert data.endswith(b"SECTION -->\n\nBelow.\n")
    assert not any(edit.path.startswith(".cub/backups") for edit in plan.edits)
    assert find_section(Document(data)) is not None


def test_paths_are_remembered_and_comments_kept(project: Path) -> None:
    write(project, ".cub/config.yaml", "# ours\nplacement: bottom  # as agreed\n")
    write(project, "packages/api/x.py", "")
    init(project, "packages/api")
    assert (project / ".cub/config.yaml").read_text() == (
        "# ours\nplacement: bottom  # as agreed\n"
        "targets:\n  - AGENTS.md\n  - CLAUDE.md\n  - packages/api/AGENTS.md\n"
    )
    assert settled(project)
    remove(project)
    assert not (project / "packages/api/AGENTS.md").exists()


def test_placement_top_is_asked_for_and_taken_back(project: Path) -> None:
    write(project, ".cub/config.yaml", "placement: top\n")
    write(project, "AGENTS.md", "---\ntitle: x\n---\n\nA.\n")
    init(project)
    assert (project / "AGENTS.md").read_bytes().startswith(b"---\ntitle: x\n---\n<!-- BEGIN")
    remove(project)
    assert (project / "AGENTS.md").read_bytes() == b"---\ntitle: x\n---\n\nA.\n"


def test_a_swallowing_end_is_explained(project: Path) -> None:
    write(project, "AGENTS.md", "# T\n\n```\nx\n")
    plan = init(project)
    assert "line 3 is never closed" in plan.warnings[0].message


def test_a_folder_that_git_ignores_is_warned_about(project: Path) -> None:
    write(project, ".gitignore", ".cub/\n")
    assert any("git ignores this directory" in w.message for w in init(project).warnings)


def test_every_fault_is_reported_before_anything_is_written(project: Path) -> None:
    write(project, "AGENTS.md", "<!-- END CUB MANAGED SECTION -->\n")
    write(
        project,
        "CLAUDE.md",
        "x\n\n<!-- BEGIN CUB MANAGED SECTION v99 -->\n<!-- END CUB MANAGED SECTION -->\n",
    )
    with pytest.raises(CubError) as caught:
        plan_init(Project.load(project))
    errors = caught.value.errors  # type: ignore[attr-defined]
    assert [error.where for error in errors] == ["AGENTS.md:1", "CLAUDE.md:3"]
    assert "v99" in errors[1].message
    assert not (project / ".cub").exists()


def test_remove_may_be_said_twice_but_not_where_cub_never_was(project: Path) -> None:
    with pytest.raises(CubError, match="this project has no cub files"):
        remove(project)
    init(project)
    remove(project)
    assert remove(project).is_empty
    remove(project, purge=True)
    assert tree(project) == {}
    assert not (project / ".cub").exists()


def _told(plan: Plan) -> list[str]:
    return [w.message for w in plan.warnings if w.path == ".cub/constitution.md"]


@pytest.mark.parametrize(
    "config", ["", "inline: [constitution]\n", "targets: [.cursor/rules/cub.mdc]\n"]
)
def test_a_deleted_constitution_is_told_once(project: Path, config: str) -> None:
    """It may be a decision: what takes the references out tells of it, and nothing after that."""
    write(project, ".cub/config.yaml", config)
    init(project)
    (project / ".cub/constitution.md").unlink()
    gone = ["this file is missing, so the sections no longer refer to it"]
    checked = plan_update(Project.load(project), check=True)
    assert (_told(checked), bool(checked.shared_edits)) == (gone, True)
    assert "`cub init`" in checked.warnings[0].hint
    assert _told(update(project)) == gone
    assert update(project) == Plan()
    assert plan_update(Project.load(project), check=True) == Plan()
    init(project)
    assert (project / ".cub/constitution.md").exists()
    assert update(project) == Plan()
