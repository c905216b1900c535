"""Find the migrations that a project is due, and plan them together."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path

from cub.actions.managed_files import MANAGED_FILES
from cub.actions.migration.steps import (
    PlanBuilder,
    apply_migration,
    has_prunable_files,
    prune_leftover_files,
    warn_unpruned_files,
)
from cub.edit.file_header import parse_file_header
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files.file_tree import FileTree
from cub.project.config import CONFIG_FILE
from cub.project.config_writer import set_config_value
from cub.project.migrations import (
    LayoutTraces,
    Migration,
    find_newest_number,
    get_migrations_folder,
    load_migrations,
)
from cub.project.project import Project

FIRST_SCHEMA = 1  # the layout of the first release, which recorded no number


def plan_migrations(
    project: Project, *, prune: bool = False, folder: Path | None = None
) -> tuple[Plan, Project]:
    """Plan the migrations in `folder` (or the shipped ones), before everything else is planned.

    The project comes back as the plan leaves it.
    """
    folder = folder or get_migrations_folder()
    builder = _build_plan(project, folder, prune=prune)
    if builder.plan.is_empty:
        return builder.plan, project
    schema, is_commit = find_newest_number(folder), project.is_commit
    migrated = Project.from_tree(project.root, builder.tree, is_commit=is_commit, schema=schema)
    return builder.plan, migrated


def _build_plan(project: Project, folder: Path, *, prune: bool) -> PlanBuilder:
    schema = find_newest_number(folder)
    builder, is_adopted, summaries = PlanBuilder(project), False, list[str]()
    applied, applied_numbers = _list_applied(project, folder) if prune else [], set[int]()
    for migration in _list_pending(project, folder):
        if _has_traces(migration.traces, builder.tree):
            applied_numbers.add(migration.number)
            builder.label = f"migrate to schema {migration.number}"
            is_adopted |= has_prunable_files(migration, builder)
            apply_migration(migration, builder, schema, prune=prune)
            is_adopted |= bool(builder.edits)
            summaries.append(f"schema {migration.number}: {migration.summary}")
    recorded = project.config.schema
    if is_adopted or (recorded is not None and recorded < schema):
        _record_schema(builder, schema, summaries)
    for migration in load_migrations(folder) if prune else ():
        builder.label = f"migrate to schema {migration.number}"
        if migration in applied:
            prune_leftover_files(migration, builder)
        elif migration.number not in applied_numbers:
            warn_unpruned_files(migration, builder)
    return builder


def list_due_migrations(project: Project, folder: Path | None = None) -> tuple[Migration, ...]:
    """Return the migrations that the next `cub update` carries out."""
    pending = _list_pending(project, folder or get_migrations_folder())
    return tuple(m for m in pending if _has_traces(m.traces, project.tree))


def warn_due_migrations(project: Project) -> list[PlanWarning]:
    """Return a warning for each migration that is due."""
    hint = "run `cub update --diff` to see the changes"
    due = list_due_migrations(project)
    return [PlanWarning(f"schema {m.number} is due: {m.summary}", ".cub", None, hint) for m in due]


def _list_pending(project: Project, folder: Path) -> list[Migration]:
    """Return the migrations after the current number; read no file if there is none."""
    current = _get_current_number(project)
    if current >= find_newest_number(folder):
        return []
    return [migration for migration in load_migrations(folder) if current < migration.number]


def _list_applied(project: Project, folder: Path) -> list[Migration]:
    """Return the earlier migrations that had something to do here once, or might have had."""
    current, recorded = _get_current_number(project), project.config.schema is not None
    earlier = (m for m in load_migrations(folder) if m.number <= current)
    return [m for m in earlier if recorded or _has_traces(m.traces, project.tree)]


def _get_current_number(project: Project) -> int:
    """Return the recorded schema; else the first one if a file of cub's own exists; else 0."""
    if project.config.schema is not None:
        return project.config.schema
    has_files = any(_has_header(project.tree, file.path) for file in MANAGED_FILES)
    return FIRST_SCHEMA if has_files else 0


def _has_header(tree: FileTree, path: str) -> bool:
    try:
        data = tree.read(path)
    except CubError:  # the step that writes this file reports what is wrong with it
        return False
    return data is not None and parse_file_header(data) is not None


def _has_traces(traces: LayoutTraces, tree: FileTree) -> bool:
    def exists(paths: tuple[str, ...]) -> bool:
        return any(posixpath.basename(p) in tree.list_names(posixpath.dirname(p)) for p in paths)

    has_shared = exists(traces.shared_paths) and not exists(traces.current_paths)
    return has_shared or exists(traces.old_paths)


def _record_schema(builder: PlanBuilder, schema: int, summaries: list[str]) -> None:
    builder.label = f"migrate to schema {schema}"
    data = set_config_value(builder.read(CONFIG_FILE), "schema", schema)
    builder.write(CONFIG_FILE, data, "record the schema number")
    real = builder.tree.resolve_path(CONFIG_FILE)
    builder.edits[real] = replace(builder.edits[real], changelog=tuple(summaries))
