"""Which migrations a project is due, and the plan that they make together."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cub.actions.managed_files import MANAGED_FILES
from cub.actions.migration.plan_builder import PlanBuilder
from cub.actions.migration.steps import (
    apply_migration,
    has_prunable_files,
    prune_leftover_files,
    warn_unpruned_files,
)
from cub.edit.file_header import parse_file_header
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files import FileTree
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


class MigrationResult(NamedTuple):
    """What migrations write, and the project as they leave it."""

    plan: Plan
    project: Project


def plan_migrations(
    project: Project, *, prune: bool = False, folder: Path | None = None
) -> MigrationResult:
    """Plan the migrations in `folder` (the shipped ones) for what else is planned behind them."""
    folder = folder or get_migrations_folder()
    draft = _build_plan(project, folder, prune=prune)
    if draft.plan.is_empty:
        return MigrationResult(draft.plan, project)
    schema, committed = find_newest_number(folder), project.is_commit
    after = Project.from_tree(project.root, draft.tree, is_commit=committed, schema=schema)
    return MigrationResult(draft.plan, after)


def _build_plan(project: Project, folder: Path, *, prune: bool) -> PlanBuilder:
    """Every migration of the window whose traces stand, in order, as one plan in the making.

    With `prune`, also what earlier ones have left for it.
    """
    schema = find_newest_number(folder)
    draft, adopted, summaries = PlanBuilder(project), False, list[str]()
    done, carried = _list_applied(project, folder) if prune else [], set[int]()
    for migration in _window(project, folder):
        if _has_traces(migration.traces, draft.tree):
            carried.add(migration.number)
            draft.label = _label(migration)
            adopted |= has_prunable_files(migration, draft)
            apply_migration(migration, draft, schema, prune=prune)
            adopted |= bool(draft.edits)
            summaries.append(f"schema {migration.number}: {migration.summary}")
    recorded = project.config.schema
    if adopted or (recorded is not None and recorded < schema):
        _record(draft, schema, summaries)
    for migration in load_migrations(folder) if prune else ():
        draft.label = _label(migration)
        if migration in done:
            prune_leftover_files(migration, draft)
        elif migration.number not in carried:
            warn_unpruned_files(migration, draft)
    return draft


def list_due_migrations(project: Project, folder: Path | None = None) -> tuple[Migration, ...]:
    """The migrations that the next `cub update` carries out."""
    window = _window(project, folder or get_migrations_folder())
    return tuple(m for m in window if _has_traces(m.traces, project.tree))


def warn_due_migrations(project: Project) -> list[PlanWarning]:
    """A warning for each migration that is due."""
    hint = "`cub update --diff` shows what it changes"
    return [
        PlanWarning(f"schema {found.number} is due: {found.summary}", ".cub", None, hint)
        for found in list_due_migrations(project)
    ]


def _window(project: Project, folder: Path) -> list[Migration]:
    """Those with current < n <= newest; no file of the folder is opened where that is empty."""
    current = _current(project)
    if current >= find_newest_number(folder):
        return []
    return [migration for migration in load_migrations(folder) if current < migration.number]


def _list_applied(project: Project, folder: Path) -> list[Migration]:
    """Migrations below the window that had something to do here once, or might have had."""
    current, recorded = _current(project), project.config.schema is not None
    return [
        migration
        for migration in load_migrations(folder)
        if migration.number <= current and (recorded or _has_traces(migration.traces, project.tree))
    ]


def _current(project: Project) -> int:
    """The recorded schema; else the first one, where a file of cub's own stands; else none."""
    if project.config.schema is not None:
        return project.config.schema
    return (
        FIRST_SCHEMA if any(_has_header(project.tree, file.path) for file in MANAGED_FILES) else 0
    )


def _has_header(tree: FileTree, path: str) -> bool:
    try:
        data = tree.read(path)
    except CubError:  # whoever writes this file says what is wrong with it
        return False
    return data is not None and parse_file_header(data) is not None


def _has_traces(where: LayoutTraces, tree: FileTree) -> bool:
    """Whether a trace of the older layout is there."""

    def there(paths: tuple[str, ...]) -> bool:
        return any(posixpath.basename(p) in tree.list_names(posixpath.dirname(p)) for p in paths)

    return there(where.old_paths) or (there(where.shared_paths) and not there(where.current_paths))


def _label(migration: Migration) -> str:
    return f"migrate to schema {migration.number}"


def _record(builder: PlanBuilder, schema: int, summaries: list[str]) -> None:
    """Write down the schema, which shows what has been migrated, too."""
    builder.label = f"migrate to schema {schema}"
    builder.write(
        CONFIG_FILE, set_config_value(builder.read(CONFIG_FILE), "schema", schema), "record it"
    )
    real = builder.tree.resolve_path(CONFIG_FILE)
    builder.edits[real] = replace(builder.edits[real], changelog=tuple(summaries))
