"""Describe what a work tree held at one time, and compare two such snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from cub.errors import CubError
from cub.git.file_modes import FileModes
from cub.git.objects import SUBMODULE_MODE
from cub.git.process import run_git, split_nul
from cub.git.tool_artifacts import is_rebuildable
from cub.git.worktree import Worktree, make_index_environment


class RefState(NamedTuple):
    """Hold the objects that refs name, and the log of the stash, which has all its entries."""

    names: Mapping[str, str]
    stash: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Hold HEAD and all files of a work tree except those that are ignored or excluded.

    - head: a commit ("" if unborn); branch: a full name ("" if detached); tree: an oid
    - untracked_paths: neither in HEAD nor in the index; untracked_modes: their permission bits, if
      the tree holds them byte for byte
    - submodules: those with files, by path
    - operations: git's files that show a merge, a rebase and the like
    - missing_paths: tracked, although there was no file
    - flagged_paths: git is told not to look at them; None if that is not known
    - file_modes: of what the tree holds; refs: branches, tags and the like; None after an attempt
    - ignored_paths: what git passes over: ignored files, folders with a "/" at their end, nested
      repositories; after an attempt, only what is new of that
    - exposed_paths: ignored before the attempt, and not any more; not in the tree
    - conflicts: paths with a conflict; oversized_files: too large to be read, not in the tree;
      these and the exposed ones are not written to disk
    """

    head: str
    branch: str
    tree: str
    untracked_paths: tuple[str, ...] = ()
    submodules: Mapping[str, Snapshot] = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    missing_paths: tuple[str, ...] = ()
    untracked_modes: Mapping[str, int] = field(default_factory=dict)
    flagged_paths: tuple[str, ...] | None = None
    file_modes: FileModes | None = None
    refs: RefState | None = None
    ignored_paths: tuple[str, ...] = field(default=(), compare=False)
    conflicts: tuple[str, ...] = ()
    oversized_files: tuple[str, ...] = ()
    exposed_paths: tuple[str, ...] = ()

    def select_ignored(self, paths: Iterable[str], *, forced: bool = False) -> set[str]:
        """Return those of the paths that git ignored, themselves or a folder on the way to them.

        If they were `forced` into git, what is in folders such as `build/` does not count: tools
        fill those, and an agent may mean it.
        """
        ignored = {path.rstrip("/") for path in self.ignored_paths}
        if forced:
            ignored = {path for path in ignored if not is_rebuildable(path)}
        return {path for path in paths if ignored and not ignored.isdisjoint(_list_ancestry(path))}

    def to_json(self) -> dict[str, Any]:
        """Return a value for json.dumps, which escapes bytes that are not UTF-8."""
        return {
            "head": self.head,
            "branch": self.branch,
            "tree": self.tree,
            "untracked": list(self.untracked_paths),
            "inner": {path: inner.to_json() for path, inner in self.submodules.items()},
            "begun": list(self.operations),
            "absent": list(self.missing_paths),
            "modes": dict(self.untracked_modes),
            "flagged": None if self.flagged_paths is None else list(self.flagged_paths),
            "rights": None if self.file_modes is None else list(self.file_modes),
            "refs": None if self.refs is None else list(self.refs),
            "ignored": list(self.ignored_paths),
        }

    @staticmethod
    def from_json(value: Any) -> Snapshot:
        """Parse what to_json returned. Raises CubError for anything else."""
        try:
            return _parse_snapshot(value)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise CubError("this is not a snapshot of a checkout") from None


class FileChange(NamedTuple):
    """Describe a path that differs: added, modified or deleted; was it untracked before."""

    path: str
    kind: Literal["A", "M", "D"]
    is_submodule: bool = False
    is_untracked: bool = False


def _list_ancestry(path: str) -> Iterator[str]:
    """Return the folders on the way to a path, and itself."""
    return accumulate(path.rstrip("/").split("/"), lambda folder, name: f"{folder}/{name}")


def _parse_snapshot(value: Any) -> Snapshot:
    return Snapshot(
        _require_text(value["head"]),
        _require_text(value["branch"]),
        _require_text(value["tree"]),
        tuple(map(_require_text, value["untracked"])),
        {_require_text(path): _parse_snapshot(inner) for path, inner in value["inner"].items()},
        tuple(map(_require_text, value["begun"])),
        tuple(map(_require_text, value["absent"])),
        {_require_text(path): _require_int(mode) for path, mode in value.get("modes", {}).items()},
        None if value.get("flagged") is None else tuple(map(_require_text, value["flagged"])),
        None if value.get("rights") is None else _parse_file_modes(*value["rights"]),
        None if value.get("refs") is None else _parse_ref_state(*value["refs"]),
        tuple(map(_require_text, value.get("ignored", ()))),
    )


def _parse_ref_state(names: Any, stash: Any) -> RefState:
    return RefState(
        {_require_text(name): _require_text(oid) for name, oid in names.items()},
        _require_text(stash),
    )


def _parse_file_modes(file: Any, program: Any, folder: Any, others: Any) -> FileModes:
    usual = [None if mode is None else _require_int(mode) for mode in (file, program, folder)]
    odd = {_require_text(path): _require_int(mode) for path, mode in others.items()}
    return FileModes(usual[0], usual[1], usual[2], odd)


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _require_int(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


class DiffEntry(NamedTuple):
    """Hold a path with its modes before and after, 0 for nothing; and its object before."""

    path: str
    old_mode: int
    new_mode: int
    oid: str = ""

    @property
    def kind(self) -> Literal["A", "M", "D"]:
        """Return whether it is added, modified or deleted."""
        if not self.old_mode:
            return "A"
        return "M" if self.new_mode else "D"

    @property
    def is_submodule(self) -> bool:
        """Return whether it is, or was, a commit of another repository."""
        return SUBMODULE_MODE in (self.old_mode, self.new_mode)


class TreeDiff(NamedTuple):
    """Hold the paths that differ between two trees, and the lines added and removed."""

    entries: tuple[DiffEntry, ...]
    added: int
    removed: int


def list_changes(worktree: Worktree, before: Snapshot, after: Snapshot) -> list[FileChange]:
    """List the paths that differ; of submodules only whether their commit does."""
    untracked = frozenset(before.untracked_paths)
    return [
        FileChange(pair.path, pair.kind, pair.is_submodule, pair.path in untracked)
        for pair in diff_trees(worktree, before.tree, after.tree).entries
    ]


def count_changed_lines(worktree: Worktree, before: Snapshot, after: Snapshot) -> tuple[int, int]:
    """Count lines added and removed, those in submodules too; binary files have none."""
    diff = diff_trees(worktree, before.tree, after.tree)
    added, removed = diff.added, diff.removed
    for path, *both in _iter_submodules(before, after):
        more, less = count_changed_lines(worktree.submodule(path), *both)
        added, removed = added + more, removed + less
    return added, removed


def write_patch(worktree: Worktree, before: Snapshot, after: Snapshot, target: Path) -> bool:
    """Write a patch for `git apply` to a file; no file, and False, if nothing differs."""
    try:
        with target.open("wb") as file:
            _write(worktree, before, after, "", file)
            file.flush()
            is_empty = file.tell() == 0 and target.stat().st_size == 0
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    if is_empty:
        target.unlink()
    return not is_empty


def list_changed_submodules(before: Snapshot, after: Snapshot) -> list[str]:
    """List the submodules whose files differ although their commit does not: no commit of the
    outer repository can hold that.
    """
    return [
        path
        for path, old, new in _iter_submodules(before, after)
        if old.head == new.head and (old.tree != new.tree or list_changed_submodules(old, new))
    ]


@lru_cache(maxsize=8)
def diff_trees(worktree: Worktree, before: str, after: str) -> TreeDiff:
    """Compare two trees; the result is cached, since a tree's name never changes."""
    if before == after:
        return TreeDiff((), 0, 0)
    pairs, added, removed = list[DiffEntry](), 0, 0
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--numstat", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", before, after)
    # git looks for attributes in an index, too, and an attempt may have broken the person's.
    environ = make_index_environment(worktree)
    output = run_git(worktree.toplevel, *words, *plain, *worktree.pathspecs, environ=environ)
    parts = iter(split_nul(output))
    modules = set[str]()
    for part in parts:
        if part.startswith(":"):
            old, new, oid, _ = part[1:].split(" ", 3)
            pairs.append(DiffEntry(next(parts), int(old, 8), int(new, 8), oid))
            if pairs[-1].is_submodule:
                modules.add(pairs[-1].path)
            continue
        more, less, path = part.split("\t", 2)
        if more != "-" and path not in modules:
            added, removed = added + int(more), removed + int(less)
    return TreeDiff(tuple(pairs), added, removed)


def write_tree_patch(
    worktree: Worktree,
    before: str,
    after: str,
    file: IO[bytes],
    prefix: str = "",
    paths: Sequence[str] = (),
) -> None:
    """Write a patch from one tree to the other, with `prefix` before each path."""
    words = ("diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-renames")
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short")
    named = (f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}", before, after)
    environ = make_index_environment(worktree)
    run_git(worktree.toplevel, *words, *plain, *named, *paths, environ=environ, stdout=file)


def _write(
    worktree: Worktree, before: Snapshot, after: Snapshot, prefix: str, file: IO[bytes]
) -> None:
    if before.tree != after.tree:
        write_tree_patch(worktree, before.tree, after.tree, file, prefix, worktree.pathspecs)
    for path, old, new in _iter_submodules(before, after):
        _write(worktree.submodule(path), old, new, f"{prefix}{path}/", file)


def _iter_submodules(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Snapshot, Snapshot]]:
    for path, old in before.submodules.items():
        if path in after.submodules:
            yield path, old, after.submodules[path]
