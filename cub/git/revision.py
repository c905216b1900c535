"""A commit's files as a tree to read, and which two commits a review compares."""

from __future__ import annotations

import posixpath
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError, UsageError
from cub.git.objects import FOLDER, LINK, Entry, Objects

_HOPS = 40  # as many links as Linux follows before it says that they loop


class Endpoints(NamedTuple):
    """The commits of a range (hex), and how the person named them."""

    base: str
    head: str
    base_name: str
    head_name: str


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
            if real != path and self.entry(path) is not None:
                raise CubError(
                    f"this symbolic link points to {real}, which does not exist", where=path
                )
            return None
        if entry.is_folder or entry.is_submodule:
            what = "a folder" if entry.is_folder else "another repository"
            raise CubError(f"this is {what}, not a text file", where=path)
        return self.objects.blob(entry.oid)

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder."""
        entry = self.entry(self._follow(folder))
        return frozenset(self.objects.tree(entry.oid)) if entry and entry.is_folder else frozenset()

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""
        entry = self.entry(self._follow(folder))
        return entry is not None and entry.is_folder

    def real(self, path: str) -> str:
        """Where `path` leads behind links."""
        return self._follow(path)

    def identity(self, path: str) -> str | None:
        """The path behind links: commits know no other way to give one file two names."""
        real = self._follow(path)
        return real if self.entry(real) else None

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

    def _follow(self, path: str) -> str:
        """`path` with every link in it resolved, as far as there is something to resolve."""
        todo, done, hops = path.split("/") if path else [], "", 0
        while todo:
            step = posixpath.normpath(posixpath.join(done, todo.pop(0)))
            if step == ".." or step.startswith("../"):
                raise CubError("this leads out of the project", where=path)
            entry = self.entry(step)
            if entry is None or entry.mode != LINK:
                done = "" if step == "." else step
                continue
            hops += 1
            if hops > _HOPS:
                raise CubError("this symbolic link leads back to itself", where=path)
            target = self.objects.blob(entry.oid).decode("utf-8", "surrogateescape")
            if target.startswith("/"):
                raise CubError("this leads out of the project", where=path)
            todo[:0] = target.split("/")
        return done


def endpoints(objects: Objects, text: str) -> Endpoints:
    """`A..B` and `A...B` (from their merge base) as in git; `A` alone means `A..HEAD`."""
    dots = "..." if "..." in text else ".."
    base_name, _, head_name = text.partition(dots)
    base_name, head_name = base_name or "HEAD", head_name or "HEAD"
    base, head = (_commit(objects, name) for name in (base_name, head_name))
    if dots == "..." and dots in text:
        base = _merge_base(objects, base, head, text)
    return Endpoints(base, head, base_name, head_name)


def changed(objects: Objects, old: Entry | None, new: Entry | None) -> Iterator[tuple[str, Change]]:
    """Every path below two entries that differs, with both entries, in the order of names.

    Equal subtrees are never read, so the cost goes with the change and not with the tree.
    """
    if old == new:
        return
    before = objects.tree(old.oid) if old and old.is_folder else {}
    after = objects.tree(new.oid) if new and new.is_folder else {}
    for name in sorted({*before, *after}):
        change = Change(before.get(name), after.get(name))
        if change.old == change.new:
            continue
        if any(entry and not entry.is_folder for entry in change):
            yield name, Change(*(None if e and e.is_folder else e for e in change))
        if any(entry and entry.is_folder for entry in change):
            for path, deeper in changed(objects, *change):
                yield f"{name}/{path}", deeper


def _commit(objects: Objects, name: str) -> str:
    if name.startswith("-"):
        raise UsageError("this is no name of a commit", where=name)
    found = objects.get(f"{name}^{{commit}}")
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
            hint=_missing_history(objects.folder),
        )
    return done.split()[0]


def _missing_history(folder: Path) -> str:
    if _git(folder, "rev-parse", "--is-shallow-repository").strip() == "true":
        return (
            "this clone is shallow: get the missing history with `git fetch --unshallow` "
            "(in CI: a fetch depth of 0)"
        )
    return "`git log` and `git branch --all` list what there is; `git fetch` gets what is new"


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607 - the user's own git
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout
