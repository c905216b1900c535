"""A plan in the making, step by step: each step reads what the ones before it leave."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError
from cub.files import FileTree, PlannedTree, read_link_text
from cub.project.project import Project


@dataclass(slots=True)
class PlanBuilder:
    """What is planned for `project` so far: `edits` by real path, or by a link's own.

    `label` begins the reason of every edit; `link_sources`, `import_sources`: files that an
    instruction file leads to, by real path, with its name.
    """

    project: Project
    label: str = ""
    warnings: list[PlanWarning] = field(default_factory=list)
    edits: dict[str, FileEdit] = field(default_factory=dict)
    link_sources: dict[str, str] = field(default_factory=dict)
    import_sources: dict[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """All of it; a file that ends as it began is left out."""
        edits = (edit for edit in self.edits.values() if edit.before != edit.after)
        return Plan(tuple(edits), tuple(self.warnings))

    @property
    def tree(self) -> FileTree:
        """The project's files as the plan leaves them."""
        files = {path: edit.after for path, edit in self.edits.items()}
        return PlannedTree(self.project.tree, files)

    def exists(self, path: str) -> bool:
        """Whether there is something under exactly this name."""
        planned = self.edits.get(self.resolve_parent(path))
        folder, name = posixpath.split(path)
        return (
            planned.after is not None if planned else name in self.project.tree.list_names(folder)
        )

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none, or where a warning says why it stays."""
        try:
            return self.tree.read(path) if self.exists(path) else None
        except CubError as error:
            self.warn(path, f"left: {error.message}", error.hint)
            return None

    def write(self, path: str, data: bytes | None, why: str) -> None:
        """Plan the new bytes of a file, None for a deletion."""
        real = self.project.tree.resolve_path(path)
        edit = self.edits.get(real) or FileEdit(
            path, self.project.tree.read(path), None, f"{self.label}: {why}"
        )
        self.edits[real] = replace(edit, after=data)

    def unlink(self, path: str, why: str) -> None:
        """Plan that a link goes, whose file goes."""
        own = self.resolve_parent(path)
        text = None if self.project.is_commit else read_link_text(self.project.root, own)
        if text is not None:
            self.edits[own] = FileEdit(path, text, None, f"{self.label}: {why}", is_link=True)

    def resolve_parent(self, path: str) -> str:
        """Where a name itself stands: only the folder around it is looked for behind links."""
        folder, name = posixpath.split(path)
        return posixpath.normpath(posixpath.join(self.project.tree.resolve_path(folder), name))

    def resolve_link(self, path: str) -> str | None:
        """Where a symbolic link leads; None for what is no link, or leads out of the project."""
        try:
            real, own = self.project.tree.resolve_path(path), self.resolve_parent(path)
        except (CubError, ValueError):  # a name that no file can have
            return None
        return None if real == own else real

    def is_deleted(self, real: str) -> bool:
        """Whether the plan deletes the file of this real path."""
        return real in self.edits and self.edits[real].after is None

    def warn(self, path: str, message: str, hint: str = "", line: int | None = None) -> None:
        """Something to know about a file."""
        self.warnings.append(PlanWarning(message, path, line, hint))
