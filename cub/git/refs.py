"""Branches, tags, notes and the stash: noted before an attempt, and put back where it lost them.

The branch that is checked out is not looked at here: see heads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.git.process import decode_output, run_git, try_git
from cub.git.snapshot import RefState, Snapshot
from cub.git.worktree import Worktree, find_common_dir, get_file_type
from cub.text import join_first

# Where commits are that no branch has any more.
RESCUED_REF_PREFIX = "refs/cub/kept/"
# Others' business, or of a work tree alone.
_PASSED_OVER = (
    "refs/remotes/",
    "refs/cub/",
    "refs/worktree/",
    "refs/bisect/",
    "refs/rewritten/",
    "refs/prefetch/",
)
_REPLACE = "refs/replace/"
_STASH = "refs/stash"
_MOST = 20_000  # refs; where there are more, nobody looks after them
_LARGEST = 8 << 20  # bytes of packed refs
_LONGEST = 1 << 12  # bytes of a ref's file
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NONE = "0" * 40


class _StashEntry(NamedTuple):
    """An entry of the stash: its commit, and what the log says of it after both commits."""

    oid: str
    words: str


def read_refs(toplevel: Path) -> RefState | None:
    """All refs as they are now; None where there are too many."""
    found = _refs(toplevel)
    return RefState(found, _stash_log(toplevel)) if len(found) <= _MOST else None


def restore_refs(worktree: Worktree, before: RefState, own: str) -> list[str]:
    """Put back the refs that are gone, and keep what others were before they left it; what there is
    to tell. `own` is the branch that the attempt worked on.
    """
    now = _refs(worktree.toplevel)
    if now == before.names and _stash_log(worktree.toplevel) == before.stash:
        return []
    said = []
    if new := [name for name in now if name.startswith(_REPLACE) and name not in before.names]:
        _update(worktree.toplevel, dict.fromkeys(new, ""))
        said.append(f"the attempt replaced objects of git's, which is undone: {join_first(new)}")
    gone = {name: oid for name, oid in before.names.items() if _is_gone(name, oid, now, own)}
    back, failed = _update(worktree.toplevel, gone)
    if back:
        said.append(f"the attempt deleted what is back now: {join_first(back)}")
    left = [name for name in before.names if name not in (own, *gone) and name in now]
    left = [
        name
        for name in left
        if _has_diverged(worktree.toplevel, name, before.names[name], now[name])
    ]
    for name in [*failed, *left]:
        kept = f"{RESCUED_REF_PREFIX}{before.names[name][:12]}"
        run_git(worktree.toplevel, "update-ref", kept, before.names[name])
        said.append(f"the attempt moved {name}: what it was is kept as {kept}")
    return said + _restore_stash(worktree.toplevel, before.stash)


def restore_snapshot_refs(worktree: Worktree, before: Snapshot) -> list[str]:
    """The same for a snapshot, with its submodules."""
    said = restore_refs(worktree, before.refs, before.branch) if before.refs else []
    for path, inner in before.submodules.items():
        if get_file_type(worktree.toplevel, f"{path}/.git"):
            said += [
                f"{path}: {line}" for line in restore_snapshot_refs(worktree.submodule(path), inner)
            ]
    return said


def _refs(toplevel: Path) -> dict[str, str]:
    common = find_common_dir(toplevel)
    found = _read_ref_files(common) if common else None
    if found is None:
        lines = decode_output(
            run_git(toplevel, "for-each-ref", "--format=%(objectname) %(refname)")
        ).splitlines()
        found = {name: oid for oid, _, name in (line.partition(" ") for line in lines)}
    passed_over = (*_PASSED_OVER, _STASH)
    return {name: oid for name, oid in found.items() if not name.startswith(passed_over)}


def _read_ref_files(common: Path) -> dict[str, str] | None:
    """The refs of a repository, without a process of git's; None where they are in other files, or
    one is none that can be read so (gitrepository-layout(5), git-pack-refs(1)).
    """
    if (common / "reftable").exists():
        return None
    found: dict[str, str] = {}
    try:
        packed = decode_output(read_prefix(os.fspath(common), "packed-refs", _LARGEST + 1))
    except OSError:
        packed = ""
        if os.path.lexists(common / "packed-refs"):
            return None
    rows = (line.partition(" ") for line in packed.splitlines() if line[:1] not in ("#", "^"))
    found |= {name: oid for oid, _, name in rows}
    for folder, _, names in os.walk(common / "refs"):
        below = os.path.relpath(folder, common).replace(os.sep, "/")
        for name in names:
            try:
                value = decode_output(read_prefix(folder, name, _LONGEST)).strip()
            except OSError:
                return None
            if not name.endswith(".lock"):
                found[f"{below}/{name}"] = value
    broken = len(packed) > _LARGEST or not all(map(_OID.fullmatch, found.values()))
    return None if broken else dict(sorted(found.items()))


def _is_gone(name: str, oid: str, now: Mapping[str, str], own: str) -> bool:
    if name == own:
        return False
    return name not in now or (name.startswith(_REPLACE) and now[name] != oid)


def _has_diverged(toplevel: Path, name: str, old: str, new: str) -> bool:
    """Whether a ref was moved to what does not lead to where it was; a tag never is."""
    if old == new or name.startswith("refs/tags/"):
        return old != new
    return try_git(toplevel, "merge-base", "--is-ancestor", old, new).exit_code != 0


def _update(toplevel: Path, refs: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Point refs at objects, or delete those without one; which could be, and which not."""
    done, failed = list[str](), list[str]()
    if refs and _try_update(toplevel, refs.items()):
        return list(refs), failed
    for name, oid in refs.items():  # one that can't be must not keep the others from it
        (done if _try_update(toplevel, [(name, oid)]) else failed).append(name)
    return done, failed


def _try_update(toplevel: Path, refs: Iterable[tuple[str, str]]) -> bool:
    rows = (f"update {name}\0{oid}\0\0" if oid else f"delete {name}\0\0" for name, oid in refs)
    stdin = "".join(rows).encode("utf-8", "surrogateescape")
    return (
        try_git(toplevel, "update-ref", "--no-deref", "-z", "--stdin", stdin=stdin).exit_code == 0
    )


def _restore_stash(toplevel: Path, before: str) -> list[str]:
    """Put back the entries that are gone, below those that came."""
    old, now = _entries(before), _entries(_stash_log(toplevel))
    known, there = {one.oid for one in old}, {one.oid for one in now}
    added = [one for one in now if one.oid not in known]
    gone = [one for one in old if one.oid not in there]
    said = []
    if gone and _write_stash(toplevel, [*old, *added]):
        what = "an entry" if len(gone) == 1 else f"{len(gone)} entries"
        said.append(f"the attempt took {what} off the stash: back again")
    if added:
        what = "an entry" if len(added) == 1 else f"{len(added)} entries"
        said.append(f"the attempt left {what} on the stash: `git stash list`")
    return said


def _write_stash(toplevel: Path, entries: Sequence[_StashEntry]) -> bool:
    """The stash is a ref and the log of what it was."""
    log = _stash_file(toplevel)
    if log is None or try_git(toplevel, "update-ref", _STASH, entries[-1].oid).exit_code:
        return False
    log.parent.mkdir(parents=True, exist_ok=True)
    new = log.with_name("stash.cub")
    new.write_bytes("".join(_lines(entries)).encode("utf-8", "surrogateescape"))
    new.replace(log)
    return True


def _lines(entries: Iterable[_StashEntry]) -> Iterator[str]:
    last = _NONE
    for one in entries:
        yield f"{last[: len(one.oid)].ljust(len(one.oid), '0')} {one.oid} {one.words}\n"
        last = one.oid


def _entries(log: str) -> list[_StashEntry]:
    rows = (line.split(" ", 2) for line in log.split("\n"))
    return [_StashEntry(row[1], row[2]) for row in rows if len(row) == 3]


def _stash_log(toplevel: Path) -> str:
    log = _stash_file(toplevel)
    try:
        return decode_output(log.read_bytes()) if log else ""
    except OSError:
        return ""


def _stash_file(toplevel: Path) -> Path | None:
    common = find_common_dir(toplevel)
    return common / "logs" / "refs" / "stash" if common else None
