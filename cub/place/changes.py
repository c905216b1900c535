"""Compare trees, read files in them, and make trees in which some files differ."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from cub.git.objects import FOLDER_MODE, SUBMODULE_MODE, ObjectReader, TreeEntry
from cub.git.process import decode_output, join_nul
from cub.git.worktree import get_file_type
from cub.place.checkout import TreeGit

_EXECUTABLE = 0o100


class FileChange(NamedTuple):
    """Describe a path that differs between two trees: added, modified or deleted.

    Modes are 0 for nothing; `oid` is the object before.
    """

    path: str
    kind: Literal["A", "M", "D"]
    old_mode: int = 0o100644
    new_mode: int = 0o100644
    oid: str = ""

    @property
    def is_submodule(self) -> bool:
        """Return whether it is, or was, a commit of another repository."""
        return SUBMODULE_MODE in (self.old_mode, self.new_mode)


class TreeDiff(NamedTuple):
    """Hold the paths that differ between two trees, and the lines added and removed."""

    changes: tuple[FileChange, ...]
    added: int = 0
    removed: int = 0


class FileVersion(NamedTuple):
    """Hold a file's content, None for no file, and its permissions; 0 for the usual ones."""

    data: bytes | None
    mode: int = 0


@lru_cache(maxsize=8)
def diff_trees(git: TreeGit, before: str, after: str) -> TreeDiff:
    """Compare two trees; the result is cached, since a tree's name never changes."""
    if before == after:
        return TreeDiff(())
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--numstat", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", before, after)
    parts = iter(git.list_items(*words, *plain))
    changes, modules, added, removed = list[FileChange](), set[str](), 0, 0
    for part in parts:
        if part.startswith(":"):
            old, new, oid, _ = part[1:].split(" ", 3)
            kind: Literal["A", "M", "D"] = "M"
            if not int(old, 8) or not int(new, 8):
                kind = "D" if int(old, 8) else "A"
            changes.append(FileChange(next(parts), kind, int(old, 8), int(new, 8), oid))
            modules.update([changes[-1].path] if changes[-1].is_submodule else ())
            continue
        more, less, path = part.split("\t", 2)
        if more != "-" and path not in modules:
            added, removed = added + int(more), removed + int(less)
    return TreeDiff(tuple(changes), added, removed)


def write_patch(git: TreeGit, before: str, after: str, target: Path) -> bool:
    """Write a patch for `git apply` to a file; no file, and False, if nothing differs."""
    if before == after:
        return False
    words = ("diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    try:
        with target.open("wb") as file:
            git.run(*words, *plain, *prefixes, before, after, stdout=file)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return True


def open_objects(git: TreeGit) -> ObjectReader:
    """Return a reader of the objects that git finds from a tree."""
    return ObjectReader(git.tree, {**os.environ, **git.environ})


def read_files(git: TreeGit, tree: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Read files as they are in a tree; b"" for those that are not there."""
    names = list(paths)
    if not names:
        return {}
    with open_objects(git) as objects:
        blobs = {path: objects.find_object(f"{tree}:{path}") for path in names}
    return {path: blob.data if blob else b"" for path, blob in blobs.items()}


def list_tree_files(git: TreeGit, tree: str) -> Mapping[str, TreeEntry]:
    """Return the files, links and submodules of a tree by path, those in folders included."""
    entries = {}
    for line in git.list_items("ls-tree", "-r", "-z", "--full-tree", tree):
        description, _, path = line.partition("\t")
        mode, _, oid = description.split(" ")
        entries[path] = TreeEntry(int(mode, 8), oid)
    return entries


def drop_paths(git: TreeGit, tree: str, paths: Collection[str]) -> str:
    """Return a tree that lacks some paths of `tree`."""
    return _edit_tree(git, tree, dict.fromkeys(paths))


def replace_files(git: TreeGit, tree: str, files: Mapping[str, FileVersion]) -> str:
    """Return a tree like `tree` in which some files have another content, or are gone."""
    entries = dict[str, TreeEntry | None]()
    for path, version in files.items():
        if version.data is None:
            entries[path] = None
            continue
        words = ("hash-object", "-w", "--stdin", f"--path={path}")
        mode = 0o100755 if version.mode & _EXECUTABLE else 0o100644
        entries[path] = TreeEntry(mode, git.read_line(*words, stdin=version.data))
    return _edit_tree(git, tree, entries)


def add_checkout_files(git: TreeGit, tree: str, paths: Sequence[str]) -> str:
    """Return `tree` with some regular files as they are in the person's checkout."""
    own = replace(git, tree=git.checkout.toplevel)
    present = [path for path in paths if get_file_type(own.tree, path) == stat.S_IFREG]
    names = "".join(f"{path}\n" for path in present).encode("utf-8", "surrogateescape")
    oids = decode_output(own.run("hash-object", "-w", "--stdin-paths", stdin=names)).split()
    entries = {p: TreeEntry(0o100644, oid) for p, oid in zip(present, oids, strict=True)}
    return _edit_tree(git, tree, entries)


def _edit_tree(git: TreeGit, tree: str, entries: Mapping[str, TreeEntry | None]) -> str:
    """Return a tree with some entries, None for no entry, instead of those under their paths."""
    if not entries:
        return tree
    with open_objects(git) as objects:
        return _write_entries(git, _edit_entries(git, objects, tree, entries))


def _edit_entries(
    git: TreeGit, objects: ObjectReader, tree: str, entries: Mapping[str, TreeEntry | None]
) -> dict[str, TreeEntry]:
    """Return what a tree ("" for none) contains with these entries; write the trees in it."""
    rows = dict[str, TreeEntry | None](objects.read_tree(tree) if tree else {})
    inner = defaultdict[str, dict[str, TreeEntry | None]](dict)
    for path, entry in entries.items():
        name, _, rest = path.partition("/")
        if rest:
            inner[name][rest] = entry
        else:
            rows[name] = entry
    for name, below in inner.items():
        old = rows.get(name)
        left = _edit_entries(git, objects, old.oid if old and old.is_folder else "", below)
        # Git has no folder with nothing in it.
        rows[name] = TreeEntry(FOLDER_MODE, _write_entries(git, left)) if left else None
    return {name: entry for name, entry in rows.items() if entry}


def _write_entries(git: TreeGit, entries: Mapping[str, TreeEntry]) -> str:
    """Write one tree, without those in it; return its id."""
    kinds = {FOLDER_MODE: "tree", SUBMODULE_MODE: "commit"}
    rows = [
        f"{entry.mode:06o} {kinds.get(entry.mode, 'blob')} {entry.oid}\t{name}"
        for name, entry in entries.items()
    ]
    return decode_output(git.run("mktree", "-z", stdin=join_nul(rows))).strip()
