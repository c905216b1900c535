"""Which migrations run: current < n <= newest, in order, and what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init
from cub.actions.migration.migrate import plan_migrations
from cub.edit.plan import Plan
from cub.errors import CubError
from cub.files.apply import apply_plan
from cub.files.file_tree import DiskTree
from cub.files.lock import lock_project
from cub.project.project import Project
from tests.actions.helpers import init, write
from tests.actions.migrating import RECORD, migrations, whole

RENAME = "where: {files: [old]}\nsteps: [{move: {from: old, to: new}}]\n"
AGAIN = "where: {files: [new]}\nsteps: [{move: {from: new, to: newest}}]\n"
MOVE = "where: {files: [a]}\nsteps: [{move: {from: a, to: b}}]\n"


def migrated(root: Path, folder: Path, schema: int = 3) -> Plan:
    with lock_project(root) as held:
        project = Project.from_tree(root, DiskTree(root), schema=schema)
        plan, _ = plan_migrations(project, folder=folder)
        apply_plan(plan, held)
    return plan


def test_all_that_are_due_run_in_order(project: Path, tmp_path: Path) -> None:
    folder = migrations(tmp_path / "m", m2=RENAME, m3=AGAIN)
    write(project, RECORD, "# ours\nschema: 1\nplacement: top  # why\n")
    write(project, "old", "Mine.\n")
    plan = migrated(project, folder)
    assert whole(project) == {
        RECORD: b"# ours\nschema: 3\nplacement: top  # why\n",
        "newest": b"Mine.\n",
    }
    notes = [edit.changelog for edit in plan.edits if edit.path == RECORD]
    assert notes == [("schema 2: step 2", "schema 3: step 3")]
    assert migrated(project, folder).is_empty


@pytest.mark.parametrize(("schema", "name"), [(0, "newest"), (1, "newest"), (2, "old"), (3, "old")])
def test_those_of_the_past_do_not_run_again(
    project: Path, tmp_path: Path, schema: int, name: str
) -> None:
    folder = migrations(tmp_path / "m", m2=RENAME, m3=AGAIN)
    write(project, RECORD, f"schema: {schema}\n")
    write(project, "old", "Mine.\n")
    migrated(project, folder)
    assert whole(project) == {RECORD: b"schema: 3\n", name: b"Mine.\n"}


def test_one_reads_what_the_one_before_it_wrote(project: Path, tmp_path: Path) -> None:
    back = MOVE.replace("[a]", "[b]").replace("from: a, to: b", "from: b, to: .cub/c")
    folder = migrations(tmp_path / "m", m1=MOVE, m2=back)
    write(project, "a", "Mine.\n")
    plan = migrated(project, folder)
    assert whole(project) == {".cub/c": b"Mine.\n", RECORD: b"schema: 2\n"}
    assert "b" not in [edit.path for edit in plan.edits]


def test_a_project_without_a_record_is_of_the_first_layout(project: Path, tmp_path: Path) -> None:
    init(project)
    write(project, "a", "Mine.\n")
    folder = migrations(tmp_path / "m", m1=MOVE)
    assert migrated(project, folder).is_empty
    folder = migrations(tmp_path / "n", m1=MOVE, m2=MOVE)
    migrated(project, folder)
    assert (project / "b").read_text() == "Mine.\n"
    assert (project / RECORD).read_text() == "schema: 2\n"


def test_a_recorded_number_rises_even_if_there_was_nothing_to_do(
    project: Path, tmp_path: Path
) -> None:
    write(project, RECORD, "schema: 1\n")
    migrated(project, migrations(tmp_path / "m", m2=MOVE))
    assert (project / RECORD).read_text() == "schema: 2\n"


def test_a_newer_record_is_refused(project: Path) -> None:
    write(project, RECORD, "schema: 2\n")
    with pytest.raises(CubError, match="newer cub"):
        Project.load(project)


def test_init_and_update_take_them_from_the_same_plan(project: Path, tmp_path: Path) -> None:
    """A target that a migration adds is one that the rest of the plan knows already."""
    step = "config_from_json: {path: old.json, keep_as: old.json.old, keys: {files: targets}}"
    adopt = f"where: {{files: [old.json]}}\nsteps: [{{{step}}}]\n"
    folder = migrations(tmp_path / "m", m1=MOVE, m2=adopt)
    write(project, RECORD, "schema: 1\n")
    write(project, "old.json", '{"files": ["AGENTS.md"]}\n')
    plan = plan_init(Project.load(project), InitOptions(migrations=folder))
    assert "CLAUDE.md" not in [edit.path for edit in plan.edits]
    assert next(e.after for e in plan.edits if e.path == RECORD) == (
        b"schema: 2\ntargets: [AGENTS.md]\n"
    )
