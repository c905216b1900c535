"""Read both commits of a review, the projects in them, and the files that differ."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

from cub.actions.project_state import ProjectState, load_project_state
from cub.edit.document import decode_with_lf
from cub.edit.unified_diff import diff_texts
from cub.errors import CubError
from cub.git.commit_tree import CommitTree, EntryChange, PathError
from cub.git.objects import TreeEntry
from cub.project.project import Project
from cub.project.targets import TARGETS, is_nested_target
from cub.prompt.section_text import SectionSpec
from cub.prompt.templates import TemplateSet

_FILE_MODE = 0o100644


@dataclass(frozen=True)
class RevisionPair:
    """Hold `old` and `new` of the project at `root`, and what the projects of `new` ask for."""

    root: Path
    old: CommitTree
    new: CommitTree
    templates: TemplateSet
    _states: dict[str, ProjectState] = field(default_factory=dict)

    def read_files(self, path: str) -> tuple[bytes | None, bytes | None]:
        """Return the contents of `path` before and after, with links followed."""
        return _read_or_none(self.old, path), _read_or_none(self.new, path)

    @cached_property
    def linked_paths(self) -> frozenset[str]:
        """Return the targets of the root's instruction files that are links to other names."""
        names, paths = {row.path for row in TARGETS}, set[str]()
        for side, name in product((self.old, self.new), names):
            with suppress(PathError):
                paths.add(side.resolve_path(name))
        return frozenset(paths - names)

    def load_state(self, project_folder: str) -> ProjectState:
        """Return what the project in a folder of the new commit asks for."""
        if project_folder not in self._states:
            prefix = posixpath.join(self.new.prefix, project_folder)
            tree = CommitTree(self.new.objects, self.new.commit, prefix)
            try:
                project = Project.from_tree(self.root / project_folder, tree, is_commit=True)
            except CubError as error:
                path = posixpath.join(project_folder, error.where)
                where = f"{self.new.commit[:12]}:{path}"
                raise CubError(error.message, where=where, hint=error.hint) from None
            self._states[project_folder] = load_project_state(project, templates=self.templates)
        return self._states[project_folder]


@dataclass(frozen=True)
class ChangedFile:
    """Hold a file that differs between the commits of a review."""

    commits: RevisionPair
    path: str
    change: EntryChange

    @cached_property
    def versions(self) -> tuple[bytes | None, bytes | None]:
        """Return the bytes before and after; of a link its target, of a submodule its commit."""
        return self._read_entry(self.change.old), self._read_entry(self.change.new)

    @cached_property
    def project_folder(self) -> str:
        """Return the nearest folder above it with a `.cub/`, "" for the root's."""
        side = self.commits.old if self.change.new is None else self.commits.new
        folder = posixpath.dirname(self.path)
        while folder and not side.has_folder(f"{folder}/.cub"):
            folder = posixpath.dirname(folder)
        return folder

    @property
    def local_path(self) -> str:
        """Return its path in that folder."""
        return posixpath.relpath(self.path, self.project_folder or ".")

    @property
    def mode_change(self) -> tuple[str, ...]:
        """Return git's words about modes in a diff; nothing for a plain new file."""
        old, new = (entry and entry.mode for entry in self.change)
        if old is not None and new is not None and old != new:
            return f"old mode {old:06o}", f"new mode {new:06o}"
        if old is None and new not in (None, _FILE_MODE):
            return (f"new file mode {new:06o}",)
        return ()

    def format_diff(self) -> tuple[str, ...]:
        """Return the difference of its versions."""
        return diff_versions(self.path, *self.versions)

    def find_section_spec(self) -> SectionSpec:
        """Return the spec of its section, or the one that it would have as a target."""
        state, path = self.commits.load_state(self.project_folder), self.local_path
        file = state.files.get(path)
        if spec := state.find_spec(file.identity_key if file else state.tree.get_identity(path)):
            return spec
        if is_nested_target(path):
            root = posixpath.relpath("AGENTS.md", posixpath.dirname(path))
            return SectionSpec("nested", root=root)
        return SectionSpec("agents")

    def _read_entry(self, entry: TreeEntry | None) -> bytes | None:
        if entry and entry.is_submodule:
            return f"Subproject commit {entry.oid}\n".encode()  # git's words for it
        return self.commits.new.objects.read_blob(entry.oid) if entry else None


def _read_or_none(side: CommitTree, path: str) -> bytes | None:
    try:
        return side.read(path)
    except PathError:
        return None


def diff_versions(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Return a unified diff; None means no file, and a change of line endings only is one line."""
    old, new = (decode_with_lf(side or b"") for side in (before, after))
    if old != new:
        return tuple(diff_texts(old, new, path, "before", "after"))
    return ("only line endings changed",) if before and before != after else ()
