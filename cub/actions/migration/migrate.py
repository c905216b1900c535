"""Which migrations a project is due, and the plan that they make together."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cub.actions.migration.draft import Draft
from cub.actions.migration.steps import (
    carry_out,
    explain_unpruned,
    left_for_prune,
    prune_again,
)
from cub.actions.own_files import OWN_FILES
from cub.edit.owned import unseal
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files import Tree
from cub.project.config import CONFIG
from cub.project.config_edit import with_value
from cub.project.migrations import Migration, Traces, load, newest, shipped
from cub.project.project import Project

FIRST = 1  # the layout of the first release, which recorded no number


class Migrated(NamedTuple):
    """What migrations write, and the project as they leave it."""

    plan: Plan
    project: Project


def migrate(project: Project, *, prune: bool = False, folder: Path | None = None) -> Migrated:
    """Plan the migrations in `folder` (the shipped ones) for what else is planned behind them."""
    folder = folder or shipped()
    draft = _drafted(project, folder, prune=prune)
    if draft.plan.empty:
        return Migrated(draft.plan, project)
    schema, committed = newest(folder), project.committed
    after = Project.of(project.root, draft.tree, committed=committed, schema=schema)
    return Migrated(draft.plan, after)


def _drafted(project: Project, folder: Path, *, prune: bool) -> Draft:
    """Every migration of the window whose traces stand, in order, as one plan in the making.

    With `prune`, also what earlier ones have left for it.
    """
    schema = newest(folder)
    draft, adopted, summaries = Draft(project), False, list[str]()
    done, carried = _done(project, folder) if prune else [], set[int]()
    for migration in _window(project, folder):
        if _stand(migration.where, draft.tree):
            carried.add(migration.number)
            draft.label = _label(migration)
            adopted |= left_for_prune(migration, draft)
            carry_out(migration, draft, schema, prune=prune)
            adopted |= bool(draft.edits)
            summaries.append(f"schema {migration.number}: {migration.summary}")
    recorded = project.config.schema
    if adopted or (recorded is not None and recorded < schema):
        _record(draft, schema, summaries)
    for migration in load(folder) if prune else ():
        draft.label = _label(migration)
        if migration in done:
            prune_again(migration, draft)
        elif migration.number not in carried:
            explain_unpruned(migration, draft)
    return draft


def due(project: Project, folder: Path | None = None) -> tuple[Migration, ...]:
    """The migrations that the next `cub update` carries out."""
    window = _window(project, folder or shipped())
    return tuple(m for m in window if _stand(m.where, project.tree))


def announced(project: Project) -> list[PlanWarning]:
    """A warning for each migration that is due."""
    hint = "`cub update --diff` shows what it changes"
    return [
        PlanWarning(f"schema {found.number} is due: {found.summary}", ".cub", None, hint)
        for found in due(project)
    ]


def _window(project: Project, folder: Path) -> list[Migration]:
    """Those with current < n <= newest; no file of the folder is opened where that is empty."""
    current = _current(project)
    if current >= newest(folder):
        return []
    return [migration for migration in load(folder) if current < migration.number]


def _done(project: Project, folder: Path) -> list[Migration]:
    """Migrations below the window that had something to do here once, or might have had."""
    current, recorded = _current(project), project.config.schema is not None
    return [
        migration
        for migration in load(folder)
        if migration.number <= current and (recorded or _stand(migration.where, project.tree))
    ]


def _current(project: Project) -> int:
    """The recorded schema; else the first one, where a file of cub's own stands; else none."""
    if project.config.schema is not None:
        return project.config.schema
    return FIRST if any(_sealed(project.tree, file.path) for file in OWN_FILES) else 0


def _sealed(tree: Tree, path: str) -> bool:
    try:
        data = tree.read(path)
    except CubError:  # whoever writes this file says what is wrong with it
        return False
    return data is not None and unseal(data) is not None


def _stand(where: Traces, tree: Tree) -> bool:
    """Whether a trace of the older layout is there."""

    def there(paths: tuple[str, ...]) -> bool:
        return any(posixpath.basename(p) in tree.names(posixpath.dirname(p)) for p in paths)

    return there(where.files) or (there(where.shared) and not there(where.ours))


def _label(migration: Migration) -> str:
    return f"migrate to schema {migration.number}"


def _record(draft: Draft, schema: int, summaries: list[str]) -> None:
    """Write down the schema, which shows what has been migrated, too."""
    draft.label = f"migrate to schema {schema}"
    draft.write(CONFIG, with_value(draft.read(CONFIG), "schema", schema), "record it")
    real = draft.tree.real(CONFIG)
    draft.edits[real] = replace(draft.edits[real], notes=tuple(summaries))
