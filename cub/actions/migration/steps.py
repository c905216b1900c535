"""Apply the steps of a migration to a plan; what is not certainly cub's stays or moves."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cub.actions.managed_files import MANAGED_FILES
from cub.actions.section_edits import make_backup_name
from cub.edit.file_header import parse_file_header
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.edit.sections import has_legacy_digest, rewrite_legacy_digest
from cub.errors import CubError
from cub.files.file_tree import FileTree, PlannedTree
from cub.files.read_files import read_link_text
from cub.project import config_writer
from cub.project.config import CONFIG_FILE
from cub.project.instruction_files import read_instruction_files, remove_duplicates
from cub.project.migrations import Migration, MigrationStep, hash_content
from cub.project.project import Project
from cub.project.targets import TARGETS
from cub.syntax_errors import describe_json_error


@dataclass(slots=True)
class PlanBuilder:
    """Hold what is planned for `project` so far: `edits` by real path, or by a link's own path.

    `label` begins the reason of every edit. `link_sources` and `import_sources` map the real paths
    of files that an instruction file leads to, to its name.
    """

    project: Project
    label: str = ""
    warnings: list[PlanWarning] = field(default_factory=list)
    edits: dict[str, FileEdit] = field(default_factory=dict)
    link_sources: dict[str, str] = field(default_factory=dict)
    import_sources: dict[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """Return all of it, except files that end as they began."""
        edits = (edit for edit in self.edits.values() if edit.before != edit.after)
        return Plan(tuple(edits), tuple(self.warnings))

    @property
    def tree(self) -> FileTree:
        """Return the project's files as the plan leaves them."""
        files = {path: edit.after for path, edit in self.edits.items()}
        return PlannedTree(self.project.tree, files)

    def exists(self, path: str) -> bool:
        """Tell whether there is something under exactly this name."""
        planned = self.edits.get(self.resolve_parent(path))
        folder, name = posixpath.split(path)
        if planned:
            return planned.after is not None
        return name in self.project.tree.list_names(folder)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if there is none, or if a warning says why it stays."""
        try:
            return self.tree.read(path) if self.exists(path) else None
        except CubError as error:
            self.warn(path, f"kept: {error.message}", error.hint)
            return None

    def write(self, path: str, data: bytes | None, why: str, *, is_local: bool = False) -> None:
        """Plan the new bytes of a file, None for a deletion."""
        real = self.project.tree.resolve_path(path)
        reason = f"{self.label}: {why}"
        edit = self.edits.get(real) or FileEdit(path, self.project.tree.read(path), None, reason)
        self.edits[real] = replace(edit, after=data, is_local=is_local)

    def unlink(self, path: str, why: str) -> None:
        """Plan to delete a link whose target is deleted."""
        link_path = self.resolve_parent(path)
        text = None if self.project.is_commit else read_link_text(self.project.root, link_path)
        if text is not None:
            self.edits[link_path] = FileEdit(path, text, None, f"{self.label}: {why}", is_link=True)

    def resolve_parent(self, path: str) -> str:
        """Return the path of a name itself: only the folder around it is resolved through links."""
        folder, name = posixpath.split(path)
        return posixpath.normpath(posixpath.join(self.project.tree.resolve_path(folder), name))

    def resolve_link(self, path: str) -> str | None:
        """Return where a link leads; None if it is not a link, or leads out of the project."""
        try:
            real_path, link_path = self.project.tree.resolve_path(path), self.resolve_parent(path)
        except (CubError, ValueError):  # a name that no file can have
            return None
        return None if real_path == link_path else real_path

    def is_deleted(self, real: str) -> bool:
        """Tell whether the plan deletes the file with this real path."""
        return real in self.edits and self.edits[real].after is None

    def warn(self, path: str, message: str, hint: str = "", line: int | None = None) -> None:
        """Add a warning about a file."""
        self.warnings.append(PlanWarning(message, path, line, hint))


PRUNE_HINT = "run `cub update --prune` to delete it"
FOREIGN_HINT = "cub does not read it; if you don't need it, delete it"
UNREAD_HINT = "cub does not read it: move what you need elsewhere, then delete it"


def apply_migration(
    migration: Migration, builder: PlanBuilder, schema: int, *, prune: bool
) -> None:
    """Apply all steps of a migration, then delete the links that would be left dangling."""
    record_referenced_files(builder)
    for step in migration.steps:
        _apply_step(step, builder, schema, prune)
    for step in migration.steps:
        unlink_leftover_links(step.removed_paths, builder)


def prune_leftover_files(migration: Migration, builder: PlanBuilder) -> None:
    """Delete what a migration that was applied before has left for --prune."""
    record_referenced_files(builder)
    for step in migration.steps:
        if step.only_with_prune:
            _apply_delete(step, builder, prune=True)
            unlink_leftover_links(step.removed_paths, builder)


def has_prunable_files(migration: Migration, builder: PlanBuilder) -> bool:
    """Tell whether something is left that only --prune deletes."""
    return any(map(builder.exists, _list_prunable_paths(migration)))


def warn_unpruned_files(migration: Migration, builder: PlanBuilder) -> None:
    """Warn of what --prune leaves, because nothing shows that the older layout ever existed."""
    for path in filter(builder.exists, _list_prunable_paths(migration)):
        message = "kept by --prune: no sign that it comes from the older layout"
        hint = f"neither .cub/ nor {CONFIG_FILE} shows the older layout: delete it yourself"
        builder.warn(path, message, hint)


def _list_prunable_paths(migration: Migration) -> Iterator[str]:
    return (path for step in migration.steps if step.only_with_prune for path in step.paths)


def _apply_step(step: MigrationStep, builder: PlanBuilder, schema: int, prune: bool) -> None:
    match step.verb:
        case "move":
            _apply_move(step, builder)
        case "delete":
            _apply_delete(step, builder, prune=prune)
        case "rewrite_marker":
            _rewrite_markers(builder)
        case "config_from_json":
            _import_json(step, builder, schema)
        case "note":
            (path,) = step.paths
            if builder.exists(path) and step.to in ("", builder.resolve_link(path)):
                builder.warn(path, step.message, step.hint)


def _apply_move(step: MigrationStep, builder: PlanBuilder) -> None:
    for path in step.paths:
        data = read_movable_file(path, builder)
        if data is None or parse_file_header(data):
            continue
        if hash_content(data) in step.known:
            builder.write(path, None, "it was never edited, and the current version replaces it")
        else:
            move_file(path, data, step.keep_as or step.to, builder)


def _apply_delete(step: MigrationStep, builder: PlanBuilder, *, prune: bool) -> None:
    for path in step.paths:
        data = read_movable_file(path, builder, even_imported=step.only_with_prune)
        if data is None:
            continue
        if step.only_with_prune:
            _apply_prune(path, data, step, builder, prune=prune)
        elif hash_content(data) in step.known:
            builder.write(path, None, "a placeholder that was never edited")
        else:
            builder.warn(path, "kept, because it was edited", step.hint)


def _apply_prune(
    path: str, data: bytes, step: MigrationStep, builder: PlanBuilder, *, prune: bool
) -> None:
    """Delete a file that begins as the older layout began it, and keep a copy."""
    openings = tuple(text.encode() for text in step.begins_with)
    if not data.replace(b"\r\n", b"\n").startswith(openings):
        builder.warn(path, "kept: no sign that it comes from the older layout", FOREIGN_HINT)
    elif not prune:
        builder.warn(path, "kept: a file of the older layout that is no longer used", PRUNE_HINT)
    else:
        copy = make_backup_name(path, data)
        builder.write(copy, data, f"keep a copy of {path}", is_local=True)
        builder.write(path, None, f"deleted by --prune; {copy} is a copy")


def _rewrite_markers(builder: PlanBuilder) -> None:
    """Rewrite legacy digests in targets only: elsewhere, the older text would stay as it is."""
    files = read_instruction_files(builder.tree, builder.project.config.targets)
    for file in remove_duplicates(files.values()):
        if file.document and file.section and has_legacy_digest(file.section):
            data = rewrite_legacy_digest(file.document, file.section)
            builder.write(file.real_path, data, "current digest line")


def _import_json(step: MigrationStep, builder: PlanBuilder, schema: int) -> None:
    (path,) = step.paths
    data = read_movable_file(path, builder)
    if data is None:
        return
    try:
        settings = config_writer.parse_json_settings(data)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        reason = str(error) if line is None else describe_json_error(str(getattr(error, "msg", "")))
        builder.warn(path, f"kept: its settings cannot be read: {reason}", UNREAD_HINT, line)
        return
    before = builder.read(CONFIG_FILE)
    imported = config_writer.import_json_settings(settings, step, before, schema)
    if imported.config is not None and imported.config != before:
        builder.write(CONFIG_FILE, imported.config, f"settings of {path}")
    if not imported.unmapped_keys or hash_content(data) in step.known:
        builder.write(path, None, f"{CONFIG_FILE} replaces it")
    elif move_file(path, data, step.keep_as, builder):
        keys = ", ".join(imported.unmapped_keys)
        message = f"kept for settings that {CONFIG_FILE} does not have: {keys}"
        builder.warn(step.keep_as, message, UNREAD_HINT)


def record_referenced_files(builder: PlanBuilder) -> None:
    """Record the files that instruction files and links under cub's names lead to."""
    names = (*(target.path for target in TARGETS), *builder.project.config.targets)
    for path, file in read_instruction_files(builder.tree, dict.fromkeys(names)).items():
        if file.exists and (real_path := builder.resolve_link(path)):
            builder.link_sources.setdefault(real_path, path)
        for name in sorted(file.imported_paths if "/" not in path else ()):
            builder.import_sources.setdefault(name, path)
            builder.import_sources.setdefault(builder.resolve_link(name) or name, path)
    for path in (file.path for file in MANAGED_FILES):
        if builder.exists(path) and (real_path := builder.resolve_link(path)):
            builder.link_sources.setdefault(real_path, path)


def read_movable_file(
    path: str, builder: PlanBuilder, *, even_imported: bool = False
) -> bytes | None:
    """Return the bytes of a file that may go: not a link, and no instruction file leads to it."""
    if not builder.exists(path) or builder.resolve_link(path):
        return None
    own_path = builder.resolve_parent(path)
    if own_path in builder.link_sources:
        builder.warn(path, f"kept: {builder.link_sources[own_path]} is a link to it")
    elif own_path in builder.import_sources and not even_imported:
        builder.warn(path, f"kept: {builder.import_sources[own_path]} imports it")
    else:
        return builder.read(path)
    return None


def move_file(path: str, data: bytes, to: str, builder: PlanBuilder) -> bool:
    """Move a file unless its new name is taken by other bytes; return whether it moved."""
    existing = builder.read(to)
    if existing is None and builder.exists(to):
        return False  # a warning has said why it can't be read
    if existing is not None and (existing != data or builder.resolve_link(to)):
        builder.warn(path, f"kept: {to} already exists", UNREAD_HINT)
        return False
    if existing is None:
        builder.write(to, data, f"the content of {path}")
    builder.write(path, None, f"kept as {to}")
    return True


def unlink_leftover_links(paths: Sequence[str], builder: PlanBuilder) -> None:
    """Delete links under these names with the files that they lead to, and only then."""
    for path in paths:
        target = builder.resolve_link(path) if builder.exists(path) else None
        if target and builder.is_deleted(target):
            builder.unlink(path, f"a link to {target}, which is deleted")
        elif target and not (target in paths and builder.exists(target)):
            builder.warn(path, f"kept: a link to {target}")
