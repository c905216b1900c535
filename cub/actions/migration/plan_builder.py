"""Build a plan step by step: each step reads what the steps before it leave."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError
from cub.files import FileTree, PlannedTree, read_link_text
from cub.project.project import Project


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
