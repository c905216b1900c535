"""A commit's files as a tree to read, and which two commits a review compares."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError, UsageError
from cub.files import MissingFile
from cub.git.objects import FOLDER_MODE, LINK_MODE, ObjectReader, TreeEntry
from cub.git.process import query_git

_LIST = "`git log` and `git branch --all` list what there is; `git fetch` gets what is new"
_UNRELATED = "`git fetch` gets history that is missing; or compare them as they are: {}"
_HOPS = 40  # as many links as Linux follows before it says that they loop


class CommitRange(NamedTuple):
    """The commits of a range (hex), and how the person named them."""

    base: str
    head: str
    base_name: str
    head_name: str


class PathError(CubError):
    """What a commit has under a path is no file: a folder, or a link that leads nowhere."""


class EntryChange(NamedTuple):
    """A path whose entry differs between two trees; None where it is not there."""

    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(frozen=True, slots=True)
class CommitTree:
    """The files of one commit, below `prefix` (the project's root in the repository)."""

    objects: ObjectReader
    commit: str
    prefix: str = ""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, links inside the project followed."""
        real = self._follow(path)
        entry = self.find_entry(real)
        if entry is None:
            folder, name = posixpath.split(path)
            if self.find_entry(posixpath.join(self._follow(folder), name)) is not None:
                raise _dangling(path, real)
            return None
        if entry.is_folder or entry.is_submodule:
            what = "a folder" if entry.is_folder else "another repository"
            raise PathError(f"this is {what}, not a text file", where=path)
        return self.objects.read_blob(entry.oid)

    def list_names(self, folder: str) -> frozenset[str]:
        """The names in a folder; none where a link leads out of the commit."""
        entry = self._folder(folder)
        return frozenset(self.objects.read_tree(entry.oid)) if entry else frozenset()

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return self._folder(folder) is not None

    def resolve_path(self, path: str) -> str:
        """Where `path` leads behind links."""
        return self._follow(path)

    def get_identity(self, path: str) -> str | None:
        """The path behind links: commits know no other way to give one file two names."""
        real = self._follow(path)
        return real if self.find_entry(real) else None

    def find_missing(self, path: str) -> MissingFile | None:  # noqa: ARG002
        """A commit is whole."""
        return None

    def find_entry(self, path: str) -> TreeEntry | None:
        """What stands under exactly this path; links are entries of their own."""
        found: TreeEntry | None = TreeEntry(FOLDER_MODE, f"{self.commit}^{{tree}}")
        for name in posixpath.join(self.prefix, path).split("/"):
            if name in ("", "."):
                continue
            if found is None or not found.is_folder:
                return None
            found = self.objects.read_tree(found.oid).get(name)
        return found

    def _folder(self, path: str) -> TreeEntry | None:
        try:
            entry = self.find_entry(self._follow(path))
        except PathError:
            return None
        return entry if entry and entry.is_folder else None

    def _follow(self, path: str) -> str:
        """`path` with every link in it resolved, as far as there is something to resolve."""
        todo, done, hops = path.split("/") if path else [], "", 0
        while todo:
            name = todo.pop(0)
            if name in ("", ".", "..") and not self._is_folder(done):
                raise _dangling(path, posixpath.join(done, name, *todo))
            step = posixpath.normpath(posixpath.join(done, name))
            if step == "..":
                raise PathError("this leads out of the project", where=path)
            entry = self.find_entry(step)
            if entry is None or entry.mode != LINK_MODE:
                done = "" if step == "." else step
                continue
            hops += 1
            if hops > _HOPS:
                raise PathError("this symbolic link leads back to itself", where=path)
            target = self.objects.read_blob(entry.oid).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise PathError("this leads out of the project", where=path)
            todo[:0] = target.split("/")
        return done

    def _is_folder(self, path: str) -> bool:
        entry = self.find_entry(path)
        return entry is not None and entry.is_folder


def resolve_range(objects: ObjectReader, text: str) -> CommitRange:
    """`A..B` and `A...B` (from their merge base) as in git; `A` alone means `A..HEAD`."""
    dots = "..." if "..." in text else ".."
    base_name, _, head_name = text.partition(dots)
    if not (base_name or head_name):  # what a script with an empty variable asks for
        raise UsageError("this names no commit", where=text, hint="write it like main..my-branch")
    base_name, head_name = base_name or "HEAD", head_name or "HEAD"
    base, head = (_commit(objects, name) for name in (base_name, head_name))
    if dots == "...":
        base = _merge_base(objects, base, head, text)
    return CommitRange(base, head, base_name, head_name)


def iter_changed_entries(
    objects: ObjectReader, old: TreeEntry | None, new: TreeEntry | None
) -> Iterator[tuple[str, EntryChange]]:
    """Every path below two entries that differs, with both entries, in the order of names.

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


def _dangling(path: str, target: str) -> PathError:
    return PathError(f"this symbolic link points to {target}, which does not exist", where=path)


def _commit(objects: ObjectReader, name: str) -> str:
    if name.startswith("-"):
        raise UsageError("this is no name of a commit", where=name)
    found = objects.find_object(f"{name}^{{commit}}")
    if found is None and (named := objects.find_object(name)):  # `:/words` takes no suffix
        found = objects.find_object(f"{named.oid}^{{commit}}")
    if found is None:
        raise CubError(
            "git knows no such commit", where=name, hint=_missing_history(objects.folder)
        )
    return found.oid


def _merge_base(objects: ObjectReader, base: str, head: str, text: str) -> str:
    done = _git(objects.folder, "merge-base", base, head)
    if not done:
        raise CubError(
            "these commits have no common ancestor here",
            where=text,
            hint=_missing_history(objects.folder, _UNRELATED.format(text.replace("...", ".."))),
        )
    return done.split()[0]


def _missing_history(folder: Path, else_: str = _LIST) -> str:
    if _git(folder, "rev-parse", "--is-shallow-repository").strip() == "true":
        return (
            "this clone is shallow: get the missing history with `git fetch --unshallow` "
            "(in CI: a fetch depth of 0)"
        )
    return else_


def _git(folder: Path, *arguments: str) -> str:
    answer = query_git(folder, *arguments)
    return answer.stdout.decode("ascii", "replace") if answer else ""
