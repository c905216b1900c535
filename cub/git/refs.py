"""Restore branches, tags, notes and stash entries that an attempt lost.

branches.py restores the branch that is checked out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.git.process import decode_output, run_git, try_git
from cub.git.snapshot import RefState, Snapshot
from cub.git.worktree import Worktree, find_common_dir, get_file_type
from cub.text import join_first

# Where commits are that no branch has any more.
RESCUED_REF_PREFIX = "refs/cub/kept/"
# Others' business, or of a work tree alone.
_SKIPPED_PREFIXES = (
    "refs/remotes/", "refs/cub/", "refs/worktree/", "refs/bisect/", "refs/rewritten/",
    "refs/prefetch/",
)  # fmt: skip
_REPLACE = "refs/replace/"
_STASH = "refs/stash"
_MAX_REFS = 20_000  # where there are more, none is restored
_NULL_OID = "0" * 40


class _StashEntry(NamedTuple):
    """Hold an entry of the stash: its commit, and the text after both commits in the log."""

    oid: str
    words: str


def read_refs(toplevel: Path) -> RefState | None:
    """Read all refs; None where there are too many."""
    refs = _list_refs(toplevel)
    return RefState(refs, _read_stash_log(toplevel)) if len(refs) <= _MAX_REFS else None


def restore_refs(worktree: Worktree, before: RefState, own: str) -> list[str]:
    """Restore the refs that are gone, and rescue what others pointed to before they moved away.

    `own` is the branch that the attempt worked on. Return lines for the person.
    """
    now = _list_refs(worktree.toplevel)
    if now == before.names and _read_stash_log(worktree.toplevel) == before.stash:
        return []
    lines = []
    if new := [name for name in now if name.startswith(_REPLACE) and name not in before.names]:
        _update(worktree.toplevel, dict.fromkeys(new, ""))
        lines.append(f"the attempt replaced git objects, which is undone: {join_first(new)}")
    gone = {name: oid for name, oid in before.names.items() if _is_gone(name, oid, now, own)}
    back, failed = _update(worktree.toplevel, gone)
    if back:
        lines.append(f"the attempt deleted what is back now: {join_first(back)}")
    left = [name for name in before.names if name not in (own, *gone) and name in now]
    ends = {name: (before.names[name], now[name]) for name in left}
    left = [name for name in left if _has_diverged(worktree.toplevel, name, *ends[name])]
    for name in [*failed, *left]:
        rescued = f"{RESCUED_REF_PREFIX}{before.names[name][:12]}"
        run_git(worktree.toplevel, "update-ref", rescued, before.names[name])
        lines.append(f"the attempt moved {name}: what it was is kept as {rescued}")
    return lines + _restore_stash(worktree.toplevel, before.stash)


def restore_snapshot_refs(worktree: Worktree, before: Snapshot) -> list[str]:
    """Restore the refs of a snapshot, and those of its submodules; return lines for the person."""
    lines = restore_refs(worktree, before.refs, before.branch) if before.refs else []
    for path, inner in before.submodules.items():
        if get_file_type(worktree.toplevel, f"{path}/.git"):
            below = restore_snapshot_refs(worktree.submodule(path), inner)
            lines += [f"{path}: {line}" for line in below]
    return lines


def _list_refs(toplevel: Path) -> dict[str, str]:
    listed = run_git(toplevel, "for-each-ref", "--format=%(objectname) %(refname)")
    rows = (line.partition(" ") for line in decode_output(listed).splitlines())
    skipped = (*_SKIPPED_PREFIXES, _STASH)
    return {name: oid for oid, _, name in rows if not name.startswith(skipped)}


def _is_gone(name: str, oid: str, now: Mapping[str, str], own: str) -> bool:
    if name == own:
        return False
    return name not in now or (name.startswith(_REPLACE) and now[name] != oid)


def _has_diverged(toplevel: Path, name: str, old: str, new: str) -> bool:
    """Return whether a ref was moved to a commit that does not contain the old one."""
    if old == new or name.startswith("refs/tags/"):
        return old != new
    return try_git(toplevel, "merge-base", "--is-ancestor", old, new).exit_code != 0


def _update(toplevel: Path, refs: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Point refs at objects, or delete those without one; return those done, and those not."""
    updated, failed = list[str](), list[str]()
    if refs and _try_update(toplevel, refs.items()):
        return list(refs), failed
    for name, oid in refs.items():  # one that can't be must not keep the others from it
        (updated if _try_update(toplevel, [(name, oid)]) else failed).append(name)
    return updated, failed


def _try_update(toplevel: Path, refs: Iterable[tuple[str, str]]) -> bool:
    rows = (f"update {name}\0{oid}\0\0" if oid else f"delete {name}\0\0" for name, oid in refs)
    stdin = "".join(rows).encode("utf-8", "surrogateescape")
    words = ("update-ref", "--no-deref", "-z", "--stdin")
    return try_git(toplevel, *words, stdin=stdin).exit_code == 0


def _restore_stash(toplevel: Path, before: str) -> list[str]:
    """Put back the entries that are gone, below those that came; return lines for the person."""
    old, now = _parse_stash_log(before), _parse_stash_log(_read_stash_log(toplevel))
    old_oids, oids = {entry.oid for entry in old}, {entry.oid for entry in now}
    added = [entry for entry in now if entry.oid not in old_oids]
    gone = [entry for entry in old if entry.oid not in oids]
    lines = []
    if gone and _write_stash(toplevel, [*old, *added]):
        what = "an entry" if len(gone) == 1 else f"{len(gone)} entries"
        lines.append(f"the attempt took {what} off the stash: back again")
    if added:
        what = "an entry" if len(added) == 1 else f"{len(added)} entries"
        lines.append(f"the attempt left {what} on the stash: `git stash list`")
    return lines


def _write_stash(toplevel: Path, entries: Sequence[_StashEntry]) -> bool:
    """Write the stash, which is a ref and its log; return whether that worked."""
    log = _find_stash_log(toplevel)
    if log is None or try_git(toplevel, "update-ref", _STASH, entries[-1].oid).exit_code:
        return False
    log.parent.mkdir(parents=True, exist_ok=True)
    new = log.with_name("stash.cub")
    new.write_bytes("".join(_format_stash_log(entries)).encode("utf-8", "surrogateescape"))
    new.replace(log)
    return True


def _format_stash_log(entries: Iterable[_StashEntry]) -> Iterator[str]:
    last = _NULL_OID
    for oid, words in entries:
        yield f"{last[: len(oid)].ljust(len(oid), '0')} {oid} {words}\n"
        last = oid


def _parse_stash_log(log: str) -> list[_StashEntry]:
    rows = (line.split(" ", 2) for line in log.split("\n"))
    return [_StashEntry(row[1], row[2]) for row in rows if len(row) == 3]


def _read_stash_log(toplevel: Path) -> str:
    log = _find_stash_log(toplevel)
    try:
        return decode_output(log.read_bytes()) if log else ""
    except OSError:
        return ""


def _find_stash_log(toplevel: Path) -> Path | None:
    common = find_common_dir(toplevel)
    return common / "logs" / "refs" / "stash" if common else None
