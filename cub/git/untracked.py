"""Files that a person has not given to git, restored after an attempt, whatever came of it.

What the attempt had made of them is kept as a patch.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.git.calling import call, text
from cub.git.differing import write_tree_patch
from cub.git.objects import LINK, Entry
from cub.git.own_index import kept_raw, put, put_objects
from cub.git.place import Place, is_beyond_link, kind
from cub.git.raw import give_rights, is_readable, make_way, stored, write_raw
from cub.git.snapshot import Snapshot
from cub.git.trees import files_of

_MANY = 1000  # files of a folder that stands in the place of a file


class Restored(NamedTuple):
    """The files that are as they were again, and those that could not be put back."""

    files: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def restore_untracked(
    place: Place, before: Snapshot, patch: Path, spared: Collection[str] = ()
) -> Restored:
    """Make the files that were untracked what they were, but for those `spared`.

    A file with the `patch` to what they were made of is written if its content differs; nothing is
    touched that is as it was.
    """
    paths = [path for path in before.untracked if path not in spared]
    if not paths:
        return Restored()
    rights = {path: before.modes[path] for path in paths if path in before.modes}
    give_rights(place, rights, ())  # an attempt may have made them unreadable
    changed = _changed(place, before, paths)
    if not changed:
        return Restored()
    files = files_of(place.top, before.tree)
    old = {path: files[path] for path in changed if path in files}
    _write_patch(place, old, changed, patch)
    _move_repositories(place, changed, patch.parent / "replaced")
    blobs = {path: entry.oid for path, entry in old.items() if path in rights}
    write_raw(place, blobs, rights)
    for path, entry in old.items():
        if entry.mode == LINK:
            _write_link(place, path, entry.oid)
    failed = _changed(place, before, changed)
    return Restored(tuple(path for path in changed if path not in failed), tuple(failed))


def _changed(place: Place, before: Snapshot, paths: Sequence[str]) -> list[str]:
    """The paths that do not hold what they held."""
    wanted = files_of(place.top, before.tree)
    readable = [path for path in paths if is_readable(place, path)]
    now = stored(place, readable, kept_raw(place))
    different = []
    for path in paths:
        entry = wanted.get(path)
        if entry is None:  # it could not be read before: all that is known is that it was there
            same = kind(place.top, path) != 0
        elif entry.mode == LINK:
            same = _link_at(place, path) == _content(place, entry.oid)
        else:
            same = path in now and now[path].oid == entry.oid
        if not same:
            different.append(path)
    return different


def _write_patch(
    place: Place, old: Mapping[str, Entry], changed: Sequence[str], patch: Path
) -> None:
    """Write what `git apply` takes, to make of the files again what the attempt had made."""
    index = place.index.with_name(f"{place.index.name}.untracked")
    environ = {"GIT_INDEX_FILE": str(index)}
    index.parent.mkdir(parents=True, exist_ok=True)
    trees = []
    try:
        for entries in (old, None):
            index.unlink(missing_ok=True)
            if entries is not None:
                objects = {path: (f"{one.mode:o}", one.oid) for path, one in entries.items()}
                put_objects(place, objects, [], environ)
            else:
                _put_files(place, changed, environ)
            trees.append(text(call(place.top, "write-tree", environ=environ)).strip())
    finally:
        index.unlink(missing_ok=True)
    then, now = trees
    if then == now:
        return
    patch.parent.mkdir(parents=True, exist_ok=True)
    with patch.open("ab") as file:
        write_tree_patch(place, then, now, file)


def _put_files(place: Place, paths: Sequence[str], environ: Mapping[str, str]) -> None:
    """What stands in the place of files: their bytes, links, folders, or what blocks the way."""
    there = list(dict.fromkeys(name for path in paths for name in _standing(place, path)))
    readable = [path for path in there if is_readable(place, path)]
    files = stored(place, readable, {})
    put_objects(place, {path: (raw.mode, raw.oid) for path, raw in files.items()}, [], environ)
    put(place, [path for path in there if kind(place.top, path) == stat.S_IFLNK], [], environ)


def _standing(place: Place, path: str) -> Iterator[str]:
    match kind(place.top, path):
        case stat.S_IFREG | stat.S_IFLNK:
            yield path
        case stat.S_IFDIR if not _holds_repository(place.top / path):
            yield from list(_below(place.top, path))[:_MANY]
        case 0:
            for folder in reversed(PurePosixPath(path).parents[:-1]):
                if kind(place.top, str(folder)) in (stat.S_IFREG, stat.S_IFLNK):
                    yield str(folder)


def _below(top: Path, path: str) -> Iterator[str]:
    for folder, _, names in os.walk(top / path):
        for name in names:
            yield (Path(folder) / name).relative_to(top).as_posix()


def _holds_repository(folder: Path) -> bool:
    return any(".git" in (*folders, *names) for _, folders, names in os.walk(folder))


def _move_repositories(place: Place, paths: Sequence[str], aside: Path) -> None:
    """A repository that stands in the place of a file is kept as a whole."""
    for path in paths:
        if kind(place.top, path) == stat.S_IFDIR and _holds_repository(place.top / path):
            target = aside / path.replace("/", "-")
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                shutil.move(place.top / path, target)


def _link_at(place: Place, path: str) -> bytes | None:
    if is_beyond_link(place.top, path):
        return None
    try:
        return os.fsencode((place.top / path).readlink())
    except (OSError, ValueError):
        return None


def _content(place: Place, oid: str) -> bytes:
    return call(place.top, "cat-file", "blob", oid)


def _write_link(place: Place, path: str, oid: str) -> None:
    with suppress(OSError):
        make_way(place.top, path)
        (place.top / path).unlink(missing_ok=True)
        (place.top / path).symlink_to(os.fsdecode(_content(place, oid)))
