"""Both commits of a review: their bytes, and the projects that lie in them.

How a file differs between two commits, as lines: its text, and its mode.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cub.actions.project_state import ProjectState, load_project_state
from cub.edit.document import decode_with_lf
from cub.edit.unified_diff import diff_texts
from cub.errors import CubError
from cub.git import CommitTree, EntryChange, PathError, TreeEntry
from cub.project.project import Project
from cub.project.targets import TARGETS, is_nested_target
from cub.prompt.section_text import SectionSpec
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True)
class RevisionPair:
    """`old` and `new` of the project at `root`, and what the projects of `new` ask for."""

    root: Path
    old: CommitTree
    new: CommitTree
    templates: TemplateSet
    _views: dict[str, ProjectState] = field(default_factory=dict)

    def read_entries(self, change: EntryChange) -> tuple[bytes | None, bytes | None]:
        """The bytes before and after; of a link its target, of a submodule its commit."""
        return self._data(change.old), self._data(change.new)

    def read_files(self, path: str) -> tuple[bytes | None, bytes | None]:
        """What a reader finds under `path` before and after, links followed."""
        return _read(self.old, path), _read(self.new, path)

    @cached_property
    def linked_paths(self) -> frozenset[str]:
        """Files under names of their own that an instruction file of the root is a link to."""
        found = (_real(side, row.path) for side in (self.old, self.new) for row in TARGETS)
        return frozenset(found) - {row.path for row in TARGETS}

    def find_project_folder(self, path: str, change: EntryChange) -> str:
        """The folder of the project that `path` belongs to, "" for the root's.

        It is the nearest one with a `.cub/`, as for every other command.
        """
        side = self.old if change.new is None else self.new
        folder = posixpath.dirname(path)
        while folder and not side.has_folder(f"{folder}/.cub"):
            folder = posixpath.dirname(folder)
        return folder

    def find_section_spec(self, path: str, project_folder: str) -> SectionSpec:
        """What the section of a file has to say, or would have to if the file were a target."""
        seen, path = (
            self._load_state(project_folder),
            posixpath.relpath(path, project_folder or "."),
        )
        key = seen.files[path].identity_key if path in seen.files else seen.tree.get_identity(path)
        if need := seen.find_spec(key):
            return need
        if is_nested_target(path):
            return SectionSpec(
                "nested", root=posixpath.relpath("AGENTS.md", posixpath.dirname(path))
            )
        return SectionSpec("agents")

    def find_file_spec(self, path: str, project_folder: str) -> SectionSpec | None:
        """What a whole file has to say; None where it is no target."""
        return self._load_state(project_folder).specs.get(
            posixpath.relpath(path, project_folder or ".")
        )

    def _load_state(self, project_folder: str) -> ProjectState:
        """A project of the new commit, looked at only where a section of its has changed."""
        if project_folder not in self._views:
            tree = CommitTree(
                self.new.objects, self.new.commit, posixpath.join(self.new.prefix, project_folder)
            )
            try:
                project = Project.from_tree(self.root / project_folder, tree, is_commit=True)
            except CubError as error:
                where = posixpath.join(project_folder, error.where)
                raise CubError(
                    error.message, where=f"{self.new.commit[:12]}:{where}", hint=error.hint
                ) from None
            self._views[project_folder] = load_project_state(project, templates=self.templates)
        return self._views[project_folder]

    def _data(self, entry: TreeEntry | None) -> bytes | None:
        if entry and entry.is_submodule:
            return f"Subproject commit {entry.oid}\n".encode()  # git's words for it
        return self.new.objects.read_blob(entry.oid) if entry else None


def _read(side: CommitTree, path: str) -> bytes | None:
    try:
        return side.read(path)
    except PathError:
        return None


def _real(side: CommitTree, path: str) -> str:
    try:
        return side.resolve_path(path)
    except PathError:
        return path


_FILE = 0o100644


def diff_versions(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """A unified diff; None stands for no file, and line ends alone for a line that says so."""
    old, new = (decode_with_lf(side or b"") for side in (before, after))
    if old != new:
        return tuple(diff_texts(old, new, path, "before", "after"))
    return ("only line ends have changed",) if before and before != after else ()


def describe_mode_change(change: EntryChange) -> tuple[str, ...]:
    """What git says of modes in a diff; nothing of a plain new file."""
    old, new = (entry and entry.mode for entry in change)
    if old is not None and new is not None and old != new:
        return f"old mode {old:06o}", f"new mode {new:06o}"
    if old is None and new not in (None, _FILE):
        return (f"new file mode {new:06o}",)
    return ()
