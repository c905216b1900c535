"""What each verb of a migration does to a draft. What is not cub's for certain stays or moves.

Which files a migration may let go, where they go to, and what goes with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.actions.managed_files import MANAGED_FILES
from cub.actions.migration.plan_builder import PlanBuilder
from cub.edit.file_header import parse_file_header
from cub.edit.sections import has_legacy_digest, rewrite_legacy_digest
from cub.project import config_writer
from cub.project.config import CONFIG_FILE
from cub.project.instruction_files import read_instruction_files, remove_duplicates
from cub.project.migration_steps import (
    DeleteStep,
    ImportJsonStep,
    MigrationStep,
    MoveStep,
    RewriteMarkerStep,
    WarnStep,
)
from cub.project.migrations import Migration, hash_content
from cub.project.targets import TARGETS

PRUNE_HINT = "`cub update --prune` deletes it"


def apply_migration(
    migration: Migration, builder: PlanBuilder, schema: int, *, prune: bool
) -> None:
    """All steps of a migration, then the links that would be left dangling.

    `schema` is the newest one, which a configuration may have.
    """
    record_referenced_files(builder)
    for step in migration.steps:
        _carry_out(step, builder, schema, prune)
    for step in migration.steps:
        unlink_leftover_links(_paths(step), builder)


def prune_leftover_files(migration: Migration, builder: PlanBuilder) -> None:
    """What a migration that was carried out before has left for --prune."""
    record_referenced_files(builder)
    for step in migration.steps:
        if isinstance(step, DeleteStep) and step.only_with_prune:
            _delete(step, builder, prune=True)
            unlink_leftover_links(_paths(step), builder)


def has_prunable_files(migration: Migration, builder: PlanBuilder) -> bool:
    """Whether something still stands that only --prune deletes."""
    return any(map(builder.exists, _prunable(migration)))


def warn_unpruned_files(migration: Migration, builder: PlanBuilder) -> None:
    """Warn of what --prune leaves where nothing shows that the older layout ever was."""
    for path in filter(builder.exists, _prunable(migration)):
        message = "left by --prune: nothing here shows that it is of the older layout"
        hint = f"there is no trace of it in .cub/, nor a schema in {CONFIG_FILE}: delete it by hand"
        builder.warn(path, message, hint)


def _prunable(migration: Migration) -> Iterator[str]:
    """The paths that only --prune deletes."""
    for step in migration.steps:
        if isinstance(step, DeleteStep) and step.only_with_prune:
            yield from step.paths


def _carry_out(step: MigrationStep, builder: PlanBuilder, schema: int, prune: bool) -> None:
    match step:
        case MoveStep():
            _move(step, builder)
        case DeleteStep():
            _delete(step, builder, prune=prune)
        case RewriteMarkerStep():
            _rewrite_markers(builder)
        case ImportJsonStep():
            _import_json(step, builder, schema)
        case WarnStep():
            _warn(step, builder)


def _move(step: MoveStep, builder: PlanBuilder) -> None:
    for path in step.sources:
        data = read_movable_file(path, builder)
        if data is None or parse_file_header(data):
            continue
        if hash_content(data) in step.known_hashes:
            builder.write(path, None, "nobody edited it, and today's text takes its place")
        else:
            move_file(path, data, step.keep_as or step.to, builder)


def _delete(step: DeleteStep, builder: PlanBuilder, *, prune: bool) -> None:
    for path in step.paths:
        data = read_movable_file(path, builder, even_imported=step.only_with_prune)
        if data is None:
            continue
        if step.only_with_prune and prune:
            builder.write(path, None, "deleted as --prune asks")
        elif step.only_with_prune:
            builder.warn(path, "left: a file of the older layout, without a use now", PRUNE_HINT)
        elif hash_content(data) in step.known_hashes:
            builder.write(path, None, "a placeholder that nobody edited")
        else:
            builder.warn(path, "left, because it is not as cub wrote it", step.hint)


def _paths(step: MigrationStep) -> tuple[str, ...]:
    """The names of files that a step may let go."""
    match step:
        case MoveStep():
            return step.sources
        case DeleteStep():
            return step.paths
        case ImportJsonStep():
            return (step.path,)
    return ()


def _rewrite_markers(builder: PlanBuilder) -> None:
    """In targets only: elsewhere the older text would stay, with a digest of no text of cub's."""
    for file in remove_duplicates(
        read_instruction_files(builder.tree, builder.project.config.targets).values()
    ):
        if file.document and file.section and has_legacy_digest(file.section):
            builder.write(
                file.real_path,
                rewrite_legacy_digest(file.document, file.section),
                "today's digest line",
            )


def _import_json(step: ImportJsonStep, builder: PlanBuilder, schema: int) -> None:
    data = read_movable_file(step.path, builder)
    if data is None:
        return
    try:
        tree = config_writer.parse_json_settings(data)
    except ValueError as error:
        what, line = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        builder.warn(step.path, f"left: its settings can't be read: {what}", UNREAD_HINT, line)
        return
    before = builder.read(CONFIG_FILE)
    found = config_writer.import_json_settings(tree, step, before, schema)
    if found.config is not None and found.config != before:
        builder.write(CONFIG_FILE, found.config, f"settings of {step.path}")
    if not found.unmapped_keys or hash_content(data) in step.known_hashes:
        builder.write(step.path, None, f"{CONFIG_FILE} takes its place")
    elif move_file(step.path, data, step.keep_as, builder):
        message = f"kept for what {CONFIG_FILE} does not say: {', '.join(found.unmapped_keys)}"
        builder.warn(step.keep_as, message, UNREAD_HINT)


def _warn(step: WarnStep, builder: PlanBuilder) -> None:
    if builder.exists(step.path) and (not step.to or builder.resolve_link(step.path) == step.to):
        builder.warn(step.path, step.message, step.hint)


UNREAD_HINT = "cub does not read it: move what you need of it elsewhere, then delete it"


def record_referenced_files(builder: PlanBuilder) -> None:
    """Find what instruction files of the root lead to: without it, their readers would miss it.

    The same goes for links under the names of cub's own files.
    """
    names = (*(target.path for target in TARGETS), *builder.project.config.targets)
    for path, file in read_instruction_files(builder.tree, dict.fromkeys(names)).items():
        if file.exists and (real := builder.resolve_link(path)):
            builder.link_sources.setdefault(real, path)
        for name in sorted(file.imported_paths if "/" not in path else ()):
            builder.import_sources.setdefault(name, path)
            builder.import_sources.setdefault(builder.resolve_link(name) or name, path)
    for own in MANAGED_FILES:
        if builder.exists(own.path) and (real := builder.resolve_link(own.path)):
            builder.link_sources.setdefault(real, own.path)


def read_movable_file(
    path: str, builder: PlanBuilder, *, even_imported: bool = False
) -> bytes | None:
    """The bytes of a file that may go: it is no link, and no instruction file leads to it."""
    if not builder.exists(path) or builder.resolve_link(path):
        return None
    own = builder.resolve_parent(path)
    if own in builder.link_sources:
        builder.warn(path, f"left: {builder.link_sources[own]} is a link to it")
    elif own in builder.import_sources and not even_imported:
        builder.warn(path, f"left: {builder.import_sources[own]} imports it")
    else:
        return builder.read(path)
    return None


def move_file(path: str, data: bytes, to: str, builder: PlanBuilder) -> bool:
    """Move a file, unless its new name is taken by other bytes; returns whether it moved."""
    there = builder.read(to)
    if there is None and builder.exists(to):
        return False  # a warning has said why it can't be read
    if there is not None and (there != data or builder.resolve_link(to)):
        builder.warn(path, f"left: {to} is there already", UNREAD_HINT)
        return False
    if there is None:
        builder.write(to, data, f"the text of {path}")
    builder.write(path, None, f"kept as {to}")
    return True


def unlink_leftover_links(paths: Sequence[str], builder: PlanBuilder) -> None:
    """Links under these names go with the files that they lead to, and only then."""
    for path in paths:
        real = builder.resolve_link(path) if builder.exists(path) else None
        if real and builder.is_deleted(real):
            builder.unlink(path, f"a link to {real}, which goes")
        elif real and not (real in paths and builder.exists(real)):
            builder.warn(path, f"left: a link to {real}")
