"""Both commits of a review: their bytes, and the projects that lie in them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cub.actions.view import View, view
from cub.errors import CubError
from cub.git import Change, Entry, PathError, Revision
from cub.project.project import Project
from cub.project.targets import TARGETS, is_nested
from cub.prompt.instructions import Need
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True)
class Commits:
    """`old` and `new` of the project at `root`, and what the projects of `new` ask for."""

    root: Path
    old: Revision
    new: Revision
    templates: TemplateSet
    _views: dict[str, View] = field(default_factory=dict)

    def data(self, change: Change) -> tuple[bytes | None, bytes | None]:
        """The bytes before and after; of a link its target, of a submodule its commit."""
        return self._data(change.old), self._data(change.new)

    def read(self, path: str) -> tuple[bytes | None, bytes | None]:
        """What a reader finds under `path` before and after, links followed."""
        return _read(self.old, path), _read(self.new, path)

    @cached_property
    def linked(self) -> frozenset[str]:
        """Files under names of their own that an instruction file of the root is a link to."""
        found = (_real(side, row.path) for side in (self.old, self.new) for row in TARGETS)
        return frozenset(found) - {row.path for row in TARGETS}

    def home(self, path: str, change: Change) -> str:
        """The folder of the project that `path` belongs to, "" for the root's.

        It is the nearest one with a `.cub/`, as for every other command.
        """
        side = self.old if change.new is None else self.new
        folder = posixpath.dirname(path)
        while folder and not side.has_folder(f"{folder}/.cub"):
            folder = posixpath.dirname(folder)
        return folder

    def need(self, path: str, home: str) -> Need:
        """What the section of a file has to say, or would have to if the file were a target."""
        seen, path = self._seen(home), posixpath.relpath(path, home or ".")
        key = seen.files[path].key if path in seen.files else seen.tree.identity(path)
        if need := seen.need_of(key):
            return need
        if is_nested(path):
            return Need("nested", root=posixpath.relpath("AGENTS.md", posixpath.dirname(path)))
        return Need("agents")

    def wanted(self, path: str, home: str) -> Need | None:
        """What a whole file has to say; None where it is no target."""
        return self._seen(home).needs.get(posixpath.relpath(path, home or "."))

    def _seen(self, home: str) -> View:
        """A project of the new commit, looked at only where a section of its has changed."""
        if home not in self._views:
            tree = Revision(
                self.new.objects, self.new.commit, posixpath.join(self.new.prefix, home)
            )
            try:
                project = Project.of(self.root / home, tree, committed=True)
            except CubError as error:
                where = posixpath.join(home, error.where)
                raise CubError(
                    error.message, where=f"{self.new.commit[:12]}:{where}", hint=error.hint
                ) from None
            self._views[home] = view(project, templates=self.templates)
        return self._views[home]

    def _data(self, entry: Entry | None) -> bytes | None:
        if entry and entry.is_submodule:
            return f"Subproject commit {entry.oid}\n".encode()  # git's words for it
        return self.new.objects.blob(entry.oid) if entry else None


def _read(side: Revision, path: str) -> bytes | None:
    try:
        return side.read(path)
    except PathError:
        return None


def _real(side: Revision, path: str) -> str:
    try:
        return side.real(path)
    except PathError:
        return path
