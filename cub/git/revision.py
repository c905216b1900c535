"""A commit's files as a tree to read, and which two commits a review compares."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError, UsageError
from cub.files import Missing
from cub.git.calling import ask_read_only
from cub.git.objects import FOLDER, LINK, Entry, Objects

_LIST = "`git log` and `git branch --all` list what there is; `git fetch` gets what is new"
_UNRELATED = "`git fetch` gets history that is missing; or compare them as they are: {}"
_HOPS = 40  # as many links as Linux follows before it says that they loop


class Endpoints(NamedTuple):
    """The commits of a range (hex), and how the person named them."""

    base: str
    head: str
    base_name: str
    head_name: str


class PathError(CubError):
    """What a commit has under a path is no file: a folder, or a link that leads nowhere."""


class Change(NamedTuple):
    """A path whose entry differs between two trees; None where it is not there."""

    old: Entry | None
    new: Entry | None


@dataclass(frozen=True, slots=True)
class Revision:
    """The files of one commit, below `prefix` (the project's root in the repository)."""

    objects: Objects
    commit: str
    prefix: str = ""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, links inside the project followed."""
        real = self._follow(path)
        entry = self.entry(real)
        if entry is None:
            folder, name = posixpath.split(path)
            if self.entry(posixpath.join(self._follow(folder), name)) is not None:
                raise _dangling(path, real)
            return None
        if entry.is_folder or entry.is_submodule:
            what = "a folder" if entry.is_folder else "another repository"
            raise PathError(f"this is {what}, not a text file", where=path)
        return self.objects.blob(entry.oid)

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder; none where a link leads out of the commit."""
        entry = self._folder(folder)
        return frozenset(self.objects.tree(entry.oid)) if entry else frozenset()

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return self._folder(folder) is not None

    def real(self, path: str) -> str:
        """Where `path` leads behind links."""
        return self._follow(path)

    def identity(self, path: str) -> str | None:
        """The path behind links: commits know no other way to give one file two names."""
        real = self._follow(path)
        return real if self.entry(real) else None

    def missing(self, path: str) -> Missing | None:  # noqa: ARG002
        """A commit is whole."""
        return None

    def entry(self, path: str) -> Entry | None:
        """What stands under exactly this path; links are entries of their own."""
        found: Entry | None = Entry(FOLDER, f"{self.commit}^{{tree}}")
        for name in posixpath.join(self.prefix, path).split("/"):
            if name in ("", "."):
                continue
            if found is None or not found.is_folder:
                return None
            found = self.objects.tree(found.oid).get(name)
        return found

    def _folder(self, path: str) -> Entry | None:
        try:
            entry = self.entry(self._follow(path))
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
            entry = self.entry(step)
            if entry is None or entry.mode != LINK:
                done = "" if step == "." else step
                continue
            hops += 1
            if hops > _HOPS:
                raise PathError("this symbolic link leads back to itself", where=path)
            target = self.objects.blob(entry.oid).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise PathError("this leads out of the project", where=path)
            todo[:0] = target.split("/")
        return done

    def _is_folder(self, path: str) -> bool:
        entry = self.entry(path)
        return entry is not None and entry.is_folder


def endpoints(objects: Objects, text: str) -> Endpoints:
    """`A..B` and `A...B` (from their merge base) as in git; `A` alone means `A..HEAD`."""
    dots = "..." if "..." in text else ".."
    base_name, _, head_name = text.partition(dots)
    if not (base_name or head_name):  # what a script with an empty variable asks for
        raise UsageError("this names no commit", where=text, hint="write it like main..my-branch")
    base_name, head_name = base_name or "HEAD", head_name or "HEAD"
    base, head = (_commit(objects, name) for name in (base_name, head_name))
    if dots == "...":
        base = _merge_base(objects, base, head, text)
    return Endpoints(base, head, base_name, head_name)


def changed(objects: Objects, old: Entry | None, new: Entry | None) -> Iterator[tuple[str, Change]]:
    """Every path below two entries that differs, with both entries, in the order of names.

    Equal subtrees are never read, so the cost goes with the change and not with the tree.
    """
    todo = [("", Change(old, new))]
    while todo:
        path, change = todo.pop()
        if path and any(entry and not entry.is_folder for entry in change):
            yield path, Change(*(None if e and e.is_folder else e for e in change))
        before, after = (objects.tree(e.oid) if e and e.is_folder else {} for e in change)
        for name in sorted({*before, *after}, reverse=True):
            below = Change(before.get(name), after.get(name))
            if below.old != below.new:
                todo.append((f"{path}/{name}" if path else name, below))


def _dangling(path: str, target: str) -> PathError:
    return PathError(f"this symbolic link points to {target}, which does not exist", where=path)


def _commit(objects: Objects, name: str) -> str:
    if name.startswith("-"):
        raise UsageError("this is no name of a commit", where=name)
    found = objects.get(f"{name}^{{commit}}")
    if found is None and (named := objects.get(name)):  # `:/words` takes no suffix
        found = objects.get(f"{named.oid}^{{commit}}")
    if found is None:
        raise CubError(
            "git knows no such commit", where=name, hint=_missing_history(objects.folder)
        )
    return found.oid


def _merge_base(objects: Objects, base: str, head: str, text: str) -> str:
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
    answer = ask_read_only(folder, *arguments)
    return answer.out.decode("ascii", "replace") if answer else ""
