"""Making a work tree hold a snapshot again; only the paths that differ are touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.git import heads
from cub.git.calling import ask, call, failure, joined, split
from cub.git.differing import Pair, compared
from cub.git.looking import is_litter, look
from cub.git.objects import SUBMODULE
from cub.git.own_index import reset_index
from cub.git.place import Place, is_beyond_link, kind
from cub.git.raw import give_rights, write_raw
from cub.git.rights import restore_rights
from cub.git.snapshot import Snapshot

# They say how other files are written, and which are nobody's business: they come first.
_RULES = (".gitattributes", ".gitignore")


class Restored(NamedTuple):
    """Refs to commits that no branch has any more, and paths that could not be put back.

    Those of submodules have the submodule's path in front: `path/file`, `path:refs/…`.
    """

    kept: tuple[str, ...]
    failed: tuple[str, ...]


def restore(
    place: Place, before: Snapshot, now: Snapshot, spared: Collection[str] = ()
) -> Restored:
    """Undo what came between two snapshots: files, HEAD, the index, merges that were begun.

    Paths that are `spared` stay as they are.

    A second call, or one after a crash, gives the same. Files that git ignores by the rules of
    before stay, even if they were added to the index meanwhile: nobody knows whose they are.
    """
    kept, failed = list[str](), list[str]()
    for path, inner in before.inner.items():
        found = _restore_inner(place, path, inner, now.inner.get(path))
        kept += found.kept
        failed += found.failed
    leave = {*failed, *spared}
    pairs = [pair for pair in _pairs(place, before, now) if pair.path not in leave]
    _remove(place.top, [path for path in now.oversized if path not in leave])
    ours = _put_back(place, before, pairs)
    if any(PurePosixPath(pair.path).name in _RULES for pair in pairs):
        # What was ignored by rules that are gone shows now.
        shown = [pair for pair in _pairs(place, before, look(place, before)) if not pair.old]
        ours |= _put_back(place, before, [pair for pair in shown if pair.path not in leave])
    kept += heads.put_back(place, before)
    heads.quit_operations(place, before)
    reset_index(place)
    for _ in range(2):
        left = _left(place, before, pairs, ours)
        if not left:
            break
        for path in left:
            _loosen(place.top, path)
        for pair in pairs:  # one by one: what stops one must not stop the others
            if pair.path in left:
                _put_back(place, before, [pair])
    failed += _left(place, before, pairs, ours)
    restore_rights_of(place, before, exactly=True, spared={*failed, *spared})
    give_rights(place, before.modes, {*failed, *spared})
    return Restored(tuple(kept), tuple(failed))


def restore_rights_of(
    place: Place, before: Snapshot, *, exactly: bool, spared: Collection[str] = ()
) -> list[str]:
    """Give what a snapshot has, and what its submodules have, the rights that it had."""
    found = []
    if before.rights is not None and os.name == "posix":
        rights, tree = before.rights, before.tree
        found = restore_rights(place, rights, tree, exactly=exactly, spared=spared)
    for path, inner in before.inner.items():
        if kind(place.top, path) == stat.S_IFDIR:
            below = restore_rights_of(place.inner(path), inner, exactly=exactly)
            found += [f"{path}/{name}" for name in below]
    return found


def _restore_inner(place: Place, path: str, before: Snapshot, now: Snapshot | None) -> Restored:
    if now is None:
        return Restored((), (path,))
    done = restore(place.inner(path), before, now)
    return Restored(
        tuple(f"{path}:{ref}" for ref in done.kept),
        tuple(f"{path}/{name}" for name in done.failed),
    )


def _pairs(place: Place, before: Snapshot, now: Snapshot) -> list[Pair]:
    """What is to be done. A submodule that is there, or came, is left to itself."""
    unread = frozenset(before.untracked)  # not in the tree: it could not be read then
    return [
        pair
        for pair in compared(place, before.tree, now.tree).pairs
        if pair.new != SUBMODULE or pair.old not in (0, SUBMODULE)
        if pair.old or pair.path not in unread
    ]


def _put_back(place: Place, before: Snapshot, pairs: Sequence[Pair]) -> frozenset[str]:
    """Returns the added paths that stay."""
    added = [pair.path for pair in pairs if not pair.old]
    rules = [path for path in added if PurePosixPath(path).name in _RULES]
    others = [path for path in added if path not in rules]
    written = [pair for pair in pairs if pair.old and not _is_nested(place.top, pair.path)]
    first = [pair for pair in written if PurePosixPath(pair.path).name in _RULES]
    absent = frozenset(before.absent)
    stay = _ignored(place, rules) - absent
    _remove(place.top, [path for path in rules if path not in stay])
    _write(place, before, first)
    stay |= _ignored(place, others) - absent
    _remove(place.top, [path for path in others if path not in stay])
    _write(place, before, [pair for pair in written if pair not in first])
    _prune(place.top, [path for path in added if path not in stay])
    return stay


def _ignored(place: Place, paths: Sequence[str]) -> frozenset[str]:
    litter = {path for path in paths if is_litter(path)}
    asked = [path for path in paths if not is_beyond_link(place.top, path)]
    if not asked:
        return frozenset(litter)
    answer = ask(place.top, "check-ignore", "-z", "--stdin", "--no-index", stdin=joined(asked))
    if answer.code > 1:
        raise failure("check-ignore", answer)
    return frozenset(litter.union(split(answer.out)))


def _remove(top: Path, paths: Iterable[str]) -> None:
    """What fails shows in the look afterwards."""
    for path in paths:
        if kind(top, path) not in (0, stat.S_IFDIR):
            with suppress(OSError):
                (top / path).unlink()


def _write(place: Place, before: Snapshot, pairs: Sequence[Pair]) -> None:
    raw = {pair.path: pair.oid for pair in pairs if pair.path in before.modes}
    write_raw(place, raw, before.modes)
    _check_out(place, before.tree, [pair.path for pair in pairs if pair.path not in raw])


def _check_out(place: Place, tree: str, paths: Sequence[str]) -> None:
    """Write files as git would check them out; what others may do to them never grows."""
    if not paths:
        return
    index = {"GIT_INDEX_FILE": f"{place.index}.back"}
    call(place.top, "read-tree", tree, environ=index)
    modes = {path: mode for path in paths if (mode := _mode(place.top / path))}
    words = ("checkout-index", "--force", "--quiet", "-z", "--stdin")
    ask(place.top, *words, stdin=joined(paths), environ=index)
    Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    for path, mode in modes.items():
        new = _mode(place.top / path)
        if new & ~(mode | 0o700):
            with suppress(OSError):
                (place.top / path).chmod(new & (mode | 0o700))


def _mode(path: Path) -> int:
    """The rights of a regular file; 0 for anything else."""
    try:
        found = path.lstat().st_mode
    except OSError:
        return 0
    return stat.S_IMODE(found) if stat.S_ISREG(found) else 0


def _prune(top: Path, paths: Iterable[str]) -> None:
    """Remove the folders that became empty."""
    for path in paths:
        for folder in PurePosixPath(path).parents[:-1]:
            if kind(top, str(folder)) != stat.S_IFDIR:
                continue
            try:
                (top / folder).rmdir()
            except OSError:
                break


def _left(place: Place, before: Snapshot, pairs: Sequence[Pair], ours: frozenset[str]) -> list[str]:
    """The paths that still are not what they were."""
    todo = {pair.path for pair in pairs} - ours
    if not todo:
        return []
    now = look(place, before)
    found = compared(place, before.tree, now.tree).pairs
    return [pair.path for pair in found if pair.path in todo]


def _is_nested(top: Path, path: str) -> bool:
    """Whether a repository of its own has come in the place of a file."""
    return kind(top, path) == stat.S_IFDIR and os.path.lexists(top / path / ".git")


def _loosen(top: Path, path: str) -> None:
    """Let the owner change what is on the way to a path."""
    for step in (*reversed(PurePosixPath(path).parents[:-1]), PurePosixPath(path)):
        if kind(top, str(step)) in (stat.S_IFDIR, stat.S_IFREG):
            with suppress(OSError):
                (top / step).chmod((top / step).lstat().st_mode | 0o700)
