"""Read a commit's files as a tree, and find the two commits that a review compares."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError, UsageError
from cub.files.file_tree import MissingFile
from cub.git.objects import FOLDER_MODE, LINK_MODE, ObjectReader, TreeEntry
from cub.git.process import query_git

_LIST_HINT = "`git log` and `git branch --all` list what there is; `git fetch` gets what is new"
_UNRELATED = "`git fetch` gets history that is missing; or compare them as they are: {}"
_MAX_LINKS = 40  # as many as Linux follows before it reports a loop


class CommitRange(NamedTuple):
    """Hold the commits of a range (hex), and how the person named them."""

    base: str
    head: str
    base_name: str
    head_name: str


class PathError(CubError):
    """Report that a path in a commit is not a file: a folder, or a link that leads nowhere."""


class EntryChange(NamedTuple):
    """Hold the entries of a path in two trees, which differ; None for nothing."""

    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(frozen=True, slots=True)
class CommitTree:
    """Read the files of a commit below `prefix`, the project's root in the repository."""

    objects: ObjectReader
    commit: str
    prefix: str = ""

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, links inside the project followed; None for nothing."""
        real = self._follow(path)
        entry = self.find_entry(real)
        if entry is None:
            folder, name = posixpath.split(path)
            if self.find_entry(posixpath.join(self._follow(folder), name)) is not None:
                raise _make_dangling_error(path, real)
            return None
        if entry.is_folder or entry.is_submodule:
            kind = "a directory" if entry.is_folder else "another repository"
            raise PathError(f"this is {kind}, not a text file", where=path)
        return self.objects.read_blob(entry.oid)

    def list_names(self, folder: str) -> frozenset[str]:
        """List the names in a folder; none where a link leads out of the commit."""
        entry = self._find_folder(folder)
        return frozenset(self.objects.read_tree(entry.oid)) if entry else frozenset()

    def has_folder(self, folder: str) -> bool:
        """Return whether there is such a folder."""
        return self._find_folder(folder) is not None

    def resolve_path(self, path: str) -> str:
        """Return where `path` leads, links followed."""
        return self._follow(path)

    def get_identity(self, path: str) -> str | None:
        """Return the path, links followed: a commit has no hard links. None for nothing."""
        real = self._follow(path)
        return real if self.find_entry(real) else None

    def find_missing(self, path: str) -> MissingFile | None:  # noqa: ARG002
        """Return None: a commit is complete."""
        return None

    def find_entry(self, path: str) -> TreeEntry | None:
        """Return the entry under exactly this path, links not followed; None for nothing."""
        entry: TreeEntry | None = TreeEntry(FOLDER_MODE, f"{self.commit}^{{tree}}")
        for name in posixpath.join(self.prefix, path).split("/"):
            if name in ("", "."):
                continue
            if entry is None or not entry.is_folder:
                return None
            entry = self.objects.read_tree(entry.oid).get(name)
        return entry

    def _find_folder(self, path: str) -> TreeEntry | None:
        try:
            entry = self.find_entry(self._follow(path))
        except PathError:
            return None
        return entry if entry and entry.is_folder else None

    def _follow(self, path: str) -> str:
        """Resolve every link in `path`, as far as there is something to resolve."""
        names, resolved, links = path.split("/") if path else [], "", 0
        while names:
            name = names.pop(0)
            if name in ("", ".", "..") and not self._is_folder(resolved):
                raise _make_dangling_error(path, posixpath.join(resolved, name, *names))
            step = posixpath.normpath(posixpath.join(resolved, name))
            if step == "..":
                raise PathError("this leads out of the project", where=path)
            entry = self.find_entry(step)
            if entry is None or entry.mode != LINK_MODE:
                resolved = "" if step == "." else step
                continue
            links += 1
            if links > _MAX_LINKS:
                raise PathError("this symbolic link leads back to itself", where=path)
            target = self.objects.read_blob(entry.oid).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise PathError("this leads out of the project", where=path)
            names[:0] = target.split("/")
        return resolved

    def _is_folder(self, path: str) -> bool:
        entry = self.find_entry(path)
        return entry is not None and entry.is_folder


def resolve_range(objects: ObjectReader, text: str) -> CommitRange:
    """Resolve `A..B` and `A...B` (from their merge base) as git does; `A` means `A..HEAD`."""
    dots = "..." if "..." in text else ".."
    base_name, _, head_name = text.partition(dots)
    if not (base_name or head_name):  # a script with an empty variable
        raise UsageError("this names no commit", where=text, hint="write it like main..my-branch")
    base_name, head_name = base_name or "HEAD", head_name or "HEAD"
    base, head = (_resolve_commit(objects, name) for name in (base_name, head_name))
    if dots == "...":
        base = _find_merge_base(objects, base, head, text)
    return CommitRange(base, head, base_name, head_name)


def iter_changed_entries(
    objects: ObjectReader, old: TreeEntry | None, new: TreeEntry | None
) -> Iterator[tuple[str, EntryChange]]:
    """Yield every path below two entries that differs, with both entries, in the order of names.

    Equal subtrees are never read, so the cost goes with the change and not with the tree.
    """
    todo = [("", EntryChange(old, new))]
    while todo:
        path, change = todo.pop()
        if path and any(entry and not entry.is_folder for entry in change):
            yield path, EntryChange(*(None if e and e.is_folder else e for e in change))
        before, after = (objects.read_tree(e.oid) if e and e.is_folder else {} for e in change)
        for name in sorted({*before, *after}, reverse=True):
            below = EntryChange(before.get(name), after.get(name))
            if below.old != below.new:
                todo.append((f"{path}/{name}" if path else name, below))


def _make_dangling_error(path: str, target: str) -> PathError:
    return PathError(f"this symbolic link points to {target}, which does not exist", where=path)


def _resolve_commit(objects: ObjectReader, name: str) -> str:
    if name.startswith("-"):
        raise UsageError("not a valid commit name", where=name)
    commit = objects.find_object(f"{name}^{{commit}}")
    if commit is None and (named := objects.find_object(name)):  # `:/words` takes no suffix
        commit = objects.find_object(f"{named.oid}^{{commit}}")
    if commit is None:
        hint = _explain_missing_history(objects.folder, _LIST_HINT)
        raise CubError("git knows no such commit", where=name, hint=hint)
    return commit.oid


def _find_merge_base(objects: ObjectReader, base: str, head: str, text: str) -> str:
    answer = _query(objects.folder, "merge-base", base, head)
    if not answer:
        unrelated = _UNRELATED.format(text.replace("...", ".."))
        hint = _explain_missing_history(objects.folder, unrelated)
        raise CubError("these commits have no common ancestor here", where=text, hint=hint)
    return answer.split()[0]


def _explain_missing_history(folder: Path, other_hint: str) -> str:
    if _query(folder, "rev-parse", "--is-shallow-repository").strip() == "true":
        return (
            "this clone is shallow: get the missing history with `git fetch --unshallow` "
            "(in CI: a fetch depth of 0)"
        )
    return other_hint


def _query(folder: Path, *words: str) -> str:
    result = query_git(folder, *words)
    return result.stdout.decode("ascii", "replace") if result else ""
