"""What each verb of a migration does to a draft. What is not cub's for certain stays or moves."""

from __future__ import annotations

from collections.abc import Iterator

from cub.actions.migration.draft import Draft
from cub.actions.migration.movable import (
    UNREAD,
    drop_links,
    follow_instruction_files,
    movable,
    move_to,
)
from cub.edit.older import is_older, modernized
from cub.edit.owned import unseal
from cub.project import json_config
from cub.project.config import CONFIG
from cub.project.config_edit import renamed
from cub.project.migrations import Migration, content_hash
from cub.project.survey import distinct, look
from cub.project.verbs import (
    ConfigFromJson,
    ConfigRename,
    Delete,
    Move,
    Note,
    RewriteMarker,
    Step,
)

PRUNES = "`cub update --prune` deletes it"


def carry_out(migration: Migration, draft: Draft, schema: int, *, prune: bool) -> None:
    """All steps of a migration, then the links that would be left dangling.

    `schema` is the newest one, which a configuration may have.
    """
    follow_instruction_files(draft)
    for step in migration.steps:
        _carry_out(step, draft, schema, prune)
    for step in migration.steps:
        drop_links(_paths(step), draft)


def prune_again(migration: Migration, draft: Draft) -> None:
    """What a migration that was carried out before has left for --prune."""
    follow_instruction_files(draft)
    for step in migration.steps:
        if isinstance(step, Delete) and step.only_with_prune:
            _delete(step, draft, prune=True)
            drop_links(_paths(step), draft)


def left_for_prune(migration: Migration, draft: Draft) -> bool:
    """Whether something still stands that only --prune deletes."""
    return any(map(draft.stands, _prunable(migration)))


def explain_unpruned(migration: Migration, draft: Draft) -> None:
    """Warn of what --prune leaves where nothing shows that the older layout ever was."""
    for path in filter(draft.stands, _prunable(migration)):
        message = "left by --prune: nothing here shows that it is of the older layout"
        hint = f"there is no trace of it in .cub/, nor a schema in {CONFIG}: delete it by hand"
        draft.warn(path, message, hint)


def _prunable(migration: Migration) -> Iterator[str]:
    """The paths that only --prune deletes."""
    for step in migration.steps:
        if isinstance(step, Delete) and step.only_with_prune:
            yield from step.paths


def _carry_out(step: Step, draft: Draft, schema: int, prune: bool) -> None:
    match step:
        case Move():
            _move(step, draft)
        case Delete():
            _delete(step, draft, prune=prune)
        case RewriteMarker():
            _rewrite_markers(draft)
        case ConfigRename():
            _rename(step, draft)
        case ConfigFromJson():
            _adopt_json(step, draft, schema)
        case Note():
            _note(step, draft)


def _move(step: Move, draft: Draft) -> None:
    for path in step.sources:
        data = movable(path, draft)
        if data is None or unseal(data):
            continue
        if content_hash(data) in step.known:
            draft.write(path, None, "nobody edited it, and today's text takes its place")
        else:
            move_to(path, data, step.keep_as or step.to, draft)


def _delete(step: Delete, draft: Draft, *, prune: bool) -> None:
    for path in step.paths:
        data = movable(path, draft, even_imported=step.only_with_prune)
        if data is None:
            continue
        if step.only_with_prune and prune:
            draft.write(path, None, "deleted as --prune asks")
        elif step.only_with_prune:
            draft.warn(path, "left: a file of the older layout, without a use now", PRUNES)
        elif content_hash(data) in step.known:
            draft.write(path, None, "a placeholder that nobody edited")
        else:
            draft.warn(path, "left, because it is not as cub wrote it", step.hint)


def _paths(step: Step) -> tuple[str, ...]:
    """The names of files that a step may let go."""
    match step:
        case Move():
            return step.sources
        case Delete():
            return step.paths
        case ConfigFromJson():
            return (step.path,)
    return ()


def _rewrite_markers(draft: Draft) -> None:
    """In targets only: elsewhere the older text would stay, with a digest of no text of cub's."""
    for file in distinct(look(draft.tree, draft.project.config.targets).values()):
        if file.document and file.section and is_older(file.section):
            draft.write(file.real, modernized(file.document, file.section), "today's digest line")


def _rename(step: ConfigRename, draft: Draft) -> None:
    data = draft.read(CONFIG)
    if data is None or json_config.value_at(data, step.source) is json_config.UNSET:
        return
    if json_config.value_at(data, step.to) is not json_config.UNSET:
        message = f"left: {step.source!r}, because {step.to!r} is there too, and counts"
        draft.warn(CONFIG, message, f"delete {step.source!r}")
        return
    draft.write(CONFIG, renamed(data, step.source, step.to), f"{step.source} is {step.to} now")


def _adopt_json(step: ConfigFromJson, draft: Draft, schema: int) -> None:
    data = movable(step.path, draft)
    if data is None:
        return
    try:
        tree = json_config.parse(data)
    except ValueError as error:
        what, line = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        draft.warn(step.path, f"left: its settings can't be read: {what}", UNREAD, line)
        return
    before = draft.read(CONFIG)
    found = json_config.adopt(tree, step, before, schema)
    if found.config is not None and found.config != before:
        draft.write(CONFIG, found.config, f"settings of {step.path}")
    if not found.left or content_hash(data) in step.known:
        draft.write(step.path, None, f"{CONFIG} takes its place")
    elif move_to(step.path, data, step.keep_as, draft):
        message = f"kept for what {CONFIG} does not say: {', '.join(found.left)}"
        draft.warn(step.keep_as, message, UNREAD)


def _note(step: Note, draft: Draft) -> None:
    if draft.stands(step.path) and (not step.to or draft.leads(step.path) == step.to):
        draft.warn(step.path, step.message, step.hint)
