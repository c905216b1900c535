"""Which migrations run: current < n <= newest, in order, and what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.actions.migration.migrate import plan_migrations
from cub.edit.plan import Plan
from cub.errors import CubError, InternalError
from cub.files import DiskTree, apply_plan, lock_project
from cub.project.project import Project
from tests.actions.helpers import init, write
from tests.actions.migrating import RECORD, migrations, said, whole

RENAME = "where: {files: [.cub/config.yaml]}\nsteps: [{config_rename: {from: old, to: new}}]\n"
AGAIN = RENAME.replace("from: old, to: new", "from: new, to: newest")
MOVE = "where: {files: [a]}\nsteps: [{move: {from: a, to: b}}]\n"


def migrated(root: Path, folder: Path, schema: int = 3) -> Plan:
    with lock_project(root) as held:
        project = Project.from_tree(root, DiskTree(root), schema=schema)
        plan = plan_migrations(project, folder=folder).plan
        apply_plan(plan, held)
    return plan


def test_all_that_are_due_run_in_order(project: Path, tmp_path: Path) -> None:
    folder = migrations(tmp_path / "m", m2=RENAME, m3=AGAIN)
    write(project, RECORD, "# ours\nschema: 1\nold: 5  # five\n")
    plan = migrated(project, folder)
    assert (project / RECORD).read_text() == "# ours\nschema: 3\nnewest: 5  # five\n"
    assert [edit.changelog for edit in plan.edits] == [("schema 2: step 2", "schema 3: step 3")]
    assert migrated(project, folder).is_empty


@pytest.mark.parametrize(("schema", "key"), [(0, "newest"), (1, "newest"), (2, "old"), (3, "")])
def test_those_of_the_past_do_not_run_again(
    project: Path, tmp_path: Path, schema: int, key: str
) -> None:
    folder = migrations(tmp_path / "m", m2=RENAME, m3=AGAIN)
    before = f"schema: {schema}\nold: 5\n"
    write(project, RECORD, before)
    migrated(project, folder)
    after = f"schema: 3\n{key}: 5\n" if key else before
    assert (project / RECORD).read_text() == after


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


def test_a_key_inside_a_mapping_is_renamed_there(project: Path, tmp_path: Path) -> None:
    rename = RENAME.replace("from: old, to: new", "from: run.client, to: run.harness")
    write(project, RECORD, "schema: 1\nrun:\n  client: a  # ours\nclient: b\n")
    migrated(project, migrations(tmp_path / "m", m2=rename))
    assert (project / RECORD).read_text() == ("schema: 2\nrun:\n  harness: a  # ours\nclient: b\n")


def test_a_key_that_both_names_have_is_left(project: Path, tmp_path: Path) -> None:
    folder = migrations(tmp_path / "m", m2=RENAME)
    write(project, RECORD, "schema: 1\nold: 5\nnew: 6\n")
    plan = migrated(project, folder)
    assert "'new' is there too" in said(plan)[RECORD]
    assert (project / RECORD).read_text() == "schema: 2\nold: 5\nnew: 6\n"


def test_a_fault_in_a_migration_stops_before_anything_is_read(
    project: Path, tmp_path: Path
) -> None:
    folder = migrations(tmp_path / "m", m1="where: {files: [a]}\nsteps: [{run: {}}]\n")
    with pytest.raises(InternalError, match="unknown verb 'run'"):
        plan_update(Project.load(project), migrations=folder)


def test_init_and_update_take_them_from_the_same_plan(project: Path, tmp_path: Path) -> None:
    """A target under its new key is one that the rest of the plan knows already."""
    rename = RENAME.replace("from: old, to: new", "from: files, to: targets")
    folder = migrations(tmp_path / "m", m1=MOVE, m2=rename)
    write(project, RECORD, "files: [AGENTS.md]\n")
    plan = plan_init(Project.load(project), InitOptions(migrations=folder))
    assert "CLAUDE.md" not in [edit.path for edit in plan.edits]
    assert next(e.after for e in plan.edits if e.path == RECORD) == (
        b"targets: [AGENTS.md]\nschema: 2\n"
    )
