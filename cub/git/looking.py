"""Taking a snapshot of a checkout, with cub's own index and no change to the person's."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable
from dataclasses import replace
from fnmatch import translate
from functools import cache
from typing import NamedTuple, NoReturn

from cub.errors import CubError
from cub.git.calling import call, split, text
from cub.git.flags import unflag
from cub.git.named import Named, named_since
from cub.git.own_index import Note, closed, has_changed, opened, put, put_objects, variables
from cub.git.place import Place, git_folder, is_too_large, kind, submodule_paths
from cub.git.raw import Raw, is_readable, stored
from cub.git.refs import note_refs
from cub.git.rights import note_rights, open_folders
from cub.git.snapshot import Snapshot
from cub.git.status import Status, status

# What tools leave lying about, and nobody means to keep; only while git does not track it.
LITTER = (
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".aider*",
    "node_modules/",
    ".DS_Store",
)
# Files and folders in a repository that tell of an operation which has not ended.
OPERATIONS = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
)
# Paths that git does not look at; in a sparse checkout of a giant there are far more.
_NOTED = 10_000
# A ref of this work tree alone, that keeps `git gc` from the files of a snapshot.
GUARD = "refs/worktree/cub/snapshot"


class UnmergedError(CubError):
    """The index holds conflicts, so there is no tree of it."""


class OversizedError(CubError):
    """There is a file, not ignored, that is too large to be read."""


class _Sorted(NamedTuple):
    """Paths to put into the index, to take out of it, and those that can't be read or are too
    large for it.
    """

    there: list[str]
    gone: list[str]
    closed: list[str]
    oversized: list[str]


def look(place: Place, since: Snapshot | None = None) -> Snapshot:
    """What the checkout holds now.

    `since` is the snapshot before an attempt: what was untracked then is looked at even if git
    ignores it now, and conflicts are content like any other. Without it they are an
    UnmergedError, and git keeps the files of the snapshot until the next one.
    """
    for anew in (False, True):
        try:
            return _look(place, since, anew=anew)
        except (UnmergedError, OversizedError):
            raise
        except CubError:  # a broken index of ours, or files that changed just now
            continue
    return _look(place, since, anew=True)


def is_litter(path: str) -> bool:
    """Whether a path is one that tools leave behind."""
    *folders, name = path.split("/")
    return any(map(_litter_folders().match, folders)) or bool(_litter_files().match(name))


@cache
def _litter_folders() -> re.Pattern[str]:
    return re.compile("|".join(translate(name.rstrip("/")) for name in LITTER))


@cache
def _litter_files() -> re.Pattern[str]:
    return re.compile("|".join(translate(name) for name in LITTER if not name.endswith("/")))


def _look(place: Place, since: Snapshot | None, *, anew: bool) -> Snapshot:
    note, found = _compared(place, since, anew=anew)
    if found.unmerged and since is None:
        raise UnmergedError(
            f"git is in the middle of a merge with conflicts in {len(found.unmerged)} files",
            where=found.unmerged[0],
            hint="resolve them and commit, or give it up with `git merge --abort` and the like",
        )
    unknown = [path for path in found.unknown if _counts(place, path)]
    unknown += _hidden(place, since, {*note.untracked, *unknown}) if since else []
    persons = since.modes if since else {*note.untracked, *unknown} - found.removed
    raw = stored(place, _raw(place, persons), note.raw or note.known)
    others = dict.fromkeys([*unknown, *(path for path in note.raw if path not in raw)], False)
    named = Named({}, [])
    if since:
        named = named_since(place, since, found.removed, is_changed=has_changed(place, note))
        others = named.added | others
    todo = _sorted(place, {**found.differing, **others}, raw, named.dropped)
    if todo.oversized and since is None:
        _refuse(place, todo.oversized[0])
    changed = {
        path: (file.mode, file.oid)
        for path, file in raw.items()
        if _is_new(file, note.raw.get(path))
    }
    # The tree is of what is looked at alone: else it would change with what stays apart.
    apart = [name for name in place.apart if note.fresh and not name.endswith("/")]
    cleaned = [path for path in todo.there if path in note.raw]
    put_objects(place, changed, [*todo.gone, *cleaned, *apart], variables(place))
    put(place, todo.there, [], variables(place))
    unchanged = note.tree and not (todo.there or todo.gone or changed)
    tree = note.tree if unchanged else _tree(place)
    if since is None and (unknown or note.untracked or found.differing or found.staged):
        call(place.top, "update-ref", GUARD, tree)
    untracked = {*note.untracked, *unknown} - found.removed - set(todo.gone)
    absent = {*note.absent, *found.removed, *todo.gone} - set(note.untracked)
    result = Snapshot(
        found.head,
        found.branch,
        tree,
        tuple(sorted(untracked)),
        _inner(place, since),
        begun(place),
        tuple(sorted(path for path in absent if not kind(place.top, path))),
        {path: file.rights for path, file in raw.items()},
        tuple(note.flags) if len(note.flags) <= _NOTED else None,
        None if since else note_rights(place, tree),
        None if since else note_refs(place.top),
        tuple(path for path in found.ignored if not is_litter(path))[:_NOTED],
        found.unmerged or named.unmerged,
        tuple(todo.oversized),
    )
    if not found.unmerged:
        closed(
            place,
            Note(note.source, found.head, result.untracked, tree, result.absent, raw, note.flags),
        )
    return result


def _refuse(place: Place, path: str) -> NoReturn:
    raise OversizedError(
        f"this file has more than {place.largest} bytes, and git does not ignore it",
        where=path,
        hint="have git ignore it, or set run.max_file_size",
    )


def begun(place: Place) -> tuple[str, ...]:
    """The operations of git's that are under way, by the names of their files."""
    folder = git_folder(place.top)
    return tuple(name for name in OPERATIONS if os.path.lexists(folder / name))


def _compared(place: Place, since: Snapshot | None, *, anew: bool) -> tuple[Note, Status]:
    ignored = "no" if since else "matching"
    options = ("--untracked-files=all", f"--ignored={ignored}", "--ignore-submodules=dirty")
    note = opened(place, since, anew=anew)
    if since and since.flagged is not None:  # what was flagged meanwhile would hide edits
        note = replace(note, flags=unflag(place, note.flags, since.flagged, variables(place)))
    found = status(place, *options, environ=variables(place))
    if since and open_folders(place, found.unreadable):  # an attempt could hide what is in them
        found = status(place, *options, environ=variables(place))
    if since or note.fresh or note.head == found.head:
        return note, found
    return _compared(place, since, anew=True)  # HEAD moved and left the index as it was


def _counts(place: Place, path: str) -> bool:
    nested = path.endswith("/")  # a repository of its own
    return not (nested or place.is_apart(path) or is_litter(path))


def _hidden(place: Place, since: Snapshot, known: set[str]) -> list[str]:
    """The files that were untracked before, are there, and are ignored by now."""
    there = (stat.S_IFREG, stat.S_IFLNK)
    paths = [path for path in since.untracked if path not in known and _counts(place, path)]
    paths = [path for path in paths if kind(place.top, path) in there]
    if not paths:
        return []
    tracked = set(split(call(place.top, "ls-files", "-z", environ=variables(place))))
    return [path for path in paths if path not in tracked]


def _raw(place: Place, paths: Iterable[str]) -> list[str]:
    """The files that the person did not give to git: they have to come back as they are."""
    return sorted(path for path in paths if _counts(place, path) and is_readable(place, path))


def _is_new(file: Raw, known: Raw | None) -> bool:
    return known is None or (file.oid, file.mode) != (known.oid, known.mode)


def _sorted(
    place: Place, paths: dict[str, bool], raw: Collection[str], dropped: list[str]
) -> _Sorted:
    result = _Sorted([], dropped, [], [])
    for path, submodule in paths.items():
        if path in raw or path in dropped or place.is_apart(path):
            continue
        match kind(place.top, path):
            case stat.S_IFREG if is_too_large(place, path):
                result.gone.append(path)
                result.oversized.append(path)
            case stat.S_IFREG if not os.access(place.top / path, os.R_OK):
                result.closed.append(path)
            case stat.S_IFREG | stat.S_IFLNK:
                result.there.append(path)
            case stat.S_IFDIR if submodule:
                result.there.append(path)
            case _:  # nothing, or what git has no word for
                result.gone.append(path)
    return result


def _tree(place: Place) -> str:
    return text(call(place.top, "write-tree", environ=variables(place))).strip()


def _inner(place: Place, since: Snapshot | None) -> dict[str, Snapshot]:
    """The submodules that have files; one that an attempt broke is left out."""
    before = since.inner if since else {}
    result = {}
    for path in sorted({*submodule_paths(place.top), *before}):
        populated = os.path.lexists(place.top / path / ".git")
        if not populated or place.is_apart(path) or kind(place.top, path) != stat.S_IFDIR:
            continue
        try:
            result[path] = look(place.inner(path), before.get(path))
        except CubError:
            if since is None:
                raise
    return result
