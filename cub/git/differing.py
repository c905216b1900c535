"""What differs between two snapshots: a list, the lines, a patch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal, NamedTuple

from cub.git.calling import call, split
from cub.git.objects import SUBMODULE
from cub.git.place import Place
from cub.git.snapshot import FileChange, Snapshot


class Pair(NamedTuple):
    """A path with its mode before and after, 0 where it is not there; and its object before."""

    path: str
    old: int
    new: int
    oid: str = ""

    @property
    def kind(self) -> Literal["A", "M", "D"]:
        """Added, modified or deleted."""
        if not self.old:
            return "A"
        return "M" if self.new else "D"

    @property
    def is_submodule(self) -> bool:
        """Whether it is, or was, a commit of another repository."""
        return SUBMODULE in (self.old, self.new)


class Compared(NamedTuple):
    """The paths that differ between two trees, and the lines added and removed."""

    pairs: tuple[Pair, ...]
    added: int
    removed: int


def changes(place: Place, before: Snapshot, after: Snapshot) -> list[FileChange]:
    """The paths that differ, without the files in submodules."""
    untracked = frozenset(before.untracked)
    return [
        FileChange(pair.path, pair.kind, pair.is_submodule, pair.path in untracked)
        for pair in compared(place, before.tree, after.tree).pairs
    ]


def counts(place: Place, before: Snapshot, after: Snapshot) -> tuple[int, int]:
    """Lines added and removed, those in submodules too; binary files have none."""
    found = compared(place, before.tree, after.tree)
    inner = [counts(place.inner(path), *both) for path, *both in _inner(before, after)]
    return found.added + sum(a for a, _ in inner), found.removed + sum(r for _, r in inner)


def write_patch(place: Place, before: Snapshot, after: Snapshot, into: Path) -> bool:
    """Write what `git apply` understands into a file; no file, and False, if nothing differs."""
    try:
        with into.open("wb") as file:
            _write(place, before, after, "", file)
            file.flush()
            empty = file.tell() == 0 and into.stat().st_size == 0
    except BaseException:
        into.unlink(missing_ok=True)
        raise
    if empty:
        into.unlink()
    return not empty


def submodules_with_changes(before: Snapshot, after: Snapshot) -> list[str]:
    """The submodules whose files differ although their commit does not.

    No commit of the outer repository can hold that.
    """
    return [
        path
        for path, old, new in _inner(before, after)
        if old.head == new.head and (old.tree != new.tree or submodules_with_changes(old, new))
    ]


@lru_cache(maxsize=8)
def compared(place: Place, before: str, after: str) -> Compared:
    """Compare two trees; what they are named by never changes, so the answer may be kept."""
    if before == after:
        return Compared((), 0, 0)
    pairs, added, removed = list[Pair](), 0, 0
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--numstat", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", before, after)
    parts = iter(split(call(place.top, *words, *plain, *place.pathspecs)))
    modules = set[str]()
    for part in parts:
        if part.startswith(":"):
            old, new, oid, _ = part[1:].split(" ", 3)
            pairs.append(Pair(next(parts), int(old, 8), int(new, 8), oid))
            modules.update(pair.path for pair in pairs[-1:] if pair.is_submodule)
            continue
        more, less, path = part.split("\t", 2)
        if more != "-" and path not in modules:
            added, removed = added + int(more), removed + int(less)
    return Compared(tuple(pairs), added, removed)


def write_tree_patch(
    place: Place,
    before: str,
    after: str,
    into: IO[bytes],
    prefix: str = "",
    paths: Sequence[str] = (),
) -> None:
    """Write what `git apply` makes of one tree the other with; `prefix` stands before each path."""
    words = ("diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short")
    named = (f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}", before, after)
    call(place.top, *words, *plain, *named, *paths, into=into)


def _write(place: Place, before: Snapshot, after: Snapshot, prefix: str, file: IO[bytes]) -> None:
    if before.tree != after.tree:
        write_tree_patch(place, before.tree, after.tree, file, prefix, place.pathspecs)
    for path, old, new in _inner(before, after):
        _write(place.inner(path), old, new, f"{prefix}{path}/", file)


def _inner(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Snapshot, Snapshot]]:
    for path, old in before.inner.items():
        if path in after.inner:
            yield path, old, after.inner[path]
