"""cub's own index of a checkout: a copy of the person's, with what it was made from noted beside.

It is kept from one look to the next, so that files which did not change are not read again. What
an attempt may have written into the person's index is never taken over: it could hide an edit.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.git.calling import call, joined
from cub.git.flags import flagged
from cub.git.locked import is_folder
from cub.git.place import Place, git_folder
from cub.git.raw import Raw
from cub.git.snapshot import Snapshot

_PATIENCE = 2.0  # seconds: somebody else's git holds a lock for milliseconds
_ADD = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries")


@dataclass(frozen=True, slots=True)
class Note:
    """What the index was copied from, and what has been added to it since; `raw` byte for byte.
    Of a fresh copy, `known` is what was `raw` in the one before.
    """

    source: tuple[int, ...] = ()
    head: str = ""
    untracked: tuple[str, ...] = ()
    tree: str = ""
    absent: tuple[str, ...] = ()
    raw: Mapping[str, Raw] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    fresh: bool = False
    known: Mapping[str, Raw] = field(default_factory=dict)


def variables(place: Place) -> dict[str, str]:
    """What makes git use this index."""
    return {"GIT_INDEX_FILE": str(place.index)}


def opened(place: Place, since: Snapshot | None, *, anew: bool = False) -> Note:
    """Have the index ready: the one of last time, or a fresh copy if the person's has changed.

    `since` an attempt began, the person's is not looked at: if the last one is lost, it is made
    anew from that snapshot.

    The note is taken away meanwhile, so that a crash leads to a fresh one.
    """
    note = _noted(place)
    _note_path(place).unlink(missing_ok=True)
    if (
        note is not None
        and not anew
        and _is_there(place)
        and (since or not has_changed(place, note))
    ):
        return note
    if since and since.flagged is not None:
        return _made(place, since)
    source, known = _copied(place), {} if note is None or anew else note.raw
    flags = flagged(place, place.index, variables(place))
    return Note(source, flags=flags, fresh=True, known=known)


def has_changed(place: Place, note: Note) -> bool:
    """Whether the person's index is another one than that which ours was copied from."""
    return note.source != _signature(place)


def kept_raw(place: Place) -> Mapping[str, Raw]:
    """What was found of untracked files at the last look."""
    note = _noted(place)
    return note.raw if note else {}


def forget(place: Place) -> None:
    """Have the index made anew for the next look."""
    _note_path(place).unlink(missing_ok=True)
    _remove(place.index)


def reset_index(place: Place, *, ends_operations: bool = False) -> None:
    """Make the person's index hold what HEAD does; no file changes, nor what git is amid, unless
    that `ends_operations`, such as a merge.

    What it knows of files is what cub has seen, and not what an attempt may have written there. It
    changes in one step: ours has files that are untracked, and a crash must not leave them staged.

    Raises CubError while another git holds the lock, or a folder has its name.
    """
    words = ("reset", "--quiet", *(() if ends_operations else ("--", ".")))
    copy = place.index.with_name(f"{place.index.name}.reset")
    try:
        _remove(copy)
        found = place.index.stat()
        shutil.copyfile(place.index, copy)
        # Files that changed after that may have been noted too early: git reads those again.
        os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    except FileNotFoundError:  # nobody has looked, so there was no attempt
        call(place.top, *words)
        return
    except OSError as error:
        raise CubError(f"git's index can't be copied: {_reason(error)}") from error
    call(place.top, *words, environ={"GIT_INDEX_FILE": str(copy)})
    _install(copy, git_folder(place.top) / "index")
    _remove(copy)


def _install(source: Path, target: Path) -> None:
    """Make one index a copy of another, times included: git compares those of files with it."""
    lock = target.with_name("index.lock")
    try:
        handle = _take_lock(lock)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(source.read_bytes())
            with suppress(FileNotFoundError):
                lock.chmod(stat.S_IMODE(target.stat().st_mode))
            found = source.stat()
            os.utime(lock, ns=(found.st_atime_ns, found.st_mtime_ns))
            lock.replace(target)
        except OSError:
            lock.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CubError(
            f"git's index can't be written: {_reason(error)}", where=lock.as_posix()
        ) from error


def _take_lock(lock: Path) -> int:
    """Make the lock of the index, once nobody else has it; its handle."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError as error:
            if is_folder(lock):
                raise CubError(
                    "git's index can't be written: a folder stands where git makes its lock",
                    where=lock.as_posix(),
                    hint="move it away",
                ) from error
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def _made(place: Place, since: Snapshot) -> Note:
    """The index of a snapshot; git has to read all files again."""
    _remove(place.index)
    place.index.parent.mkdir(parents=True, exist_ok=True)
    call(place.top, "read-tree", since.tree, environ=variables(place))
    flags = dict.fromkeys(since.flagged or (), True)
    if flags:
        words = ("update-index", "--skip-worktree", "-z", "--stdin")
        call(place.top, *words, stdin=joined(flags), environ=variables(place))
    return Note((), since.head, since.untracked, since.tree, since.absent, {}, flags)


def closed(place: Place, note: Note) -> None:
    """Note how it was left."""
    note = replace(note, fresh=False, known={})
    value = [note.source, note.head, note.untracked, note.tree, note.absent, note.raw, note.flags]
    _note_path(place).write_text(json.dumps(value), encoding="utf-8")


def put(
    place: Place, there: Sequence[str], gone: Sequence[str], environ: Mapping[str, str] | None
) -> None:
    """Make an index (the person's without `environ`) hold files as they are, ignored or not.

    Paths that are gone are taken out of it, and passed over if it does not have them.
    """
    # update-index obeys its options in turn. What goes makes room for what comes.
    for paths, options in ((gone, ("--force-remove",)), (there, _ADD)):
        if paths:
            words = ("update-index", *options, "-z", "--stdin")
            call(place.top, *words, stdin=joined(paths), environ=environ)


def put_objects(
    place: Place,
    objects: Mapping[str, tuple[str, str]],
    gone: Sequence[str],
    environ: Mapping[str, str] | None,
) -> None:
    """Make an index hold objects, whatever the files are, each by its path, mode and object id."""
    if not objects:
        put(place, [], gone, environ)
        return
    nothing = "0" * len(next(iter(objects.values()))[1])
    rows = [f"0 {nothing}\t{path}" for path in gone]
    rows += [f"{mode} {oid}\t{path}" for path, (mode, oid) in objects.items()]
    call(place.top, "update-index", "-z", "--index-info", stdin=joined(rows), environ=environ)


def _noted(place: Place) -> Note | None:
    try:
        value = json.loads(_note_path(place).read_bytes())
        source, head, untracked, tree, absent, files, flags = value
        raw = {path: _raw(*file) for path, file in files.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    words = tuple(map(_text, untracked)), _text(tree), tuple(map(_text, absent))
    return Note(tuple(source), _text(head), *words, raw, dict(flags))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _raw(oid: str, rights: int, times: list[int], size: int, inode: int, settled: bool) -> Raw:
    return Raw(oid, rights, (times[0], times[1]), size, inode, settled)


def _note_path(place: Place) -> Path:
    return place.index.with_name(f"{place.index.name}.json")


def _is_there(place: Place) -> bool:
    return place.index.exists() or not _signature(place)


def _signature(place: Place) -> tuple[int, ...]:
    try:
        found = (git_folder(place.top) / "index").stat()
    except OSError:
        return ()
    return _marks(found)


def _marks(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mtime_ns, found.st_size, found.st_ino


def _copied(place: Place) -> tuple[int, ...]:
    """Copy the person's index; git compares times with its own, so the copy keeps that."""
    try:
        place.index.parent.mkdir(parents=True, exist_ok=True)
        _remove(place.index)
        with suppress(FileNotFoundError), (git_folder(place.top) / "index").open("rb") as source:
            found = os.fstat(source.fileno())
            with place.index.open("wb") as target:
                shutil.copyfileobj(source, target)
            os.utime(place.index, ns=(found.st_atime_ns, found.st_mtime_ns))
            return _marks(found)
    except OSError as error:
        raise CubError(f"cub's index of this checkout can't be made: {_reason(error)}") from error
    return ()


def _remove(index: Path) -> None:
    for path in (index, index.with_name(f"{index.name}.lock")):
        path.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
