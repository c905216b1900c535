"""cub's own index of a checkout: a copy of the person's, with what it was made from noted beside.

It is kept from one look to the next, so that files which did not change are not read again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.git.calling import call, joined
from cub.git.flags import flagged
from cub.git.place import Place, git_folder
from cub.git.raw import Raw

_ADD = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries")


@dataclass(frozen=True, slots=True)
class Note:
    """What the index was copied from, and what has been added to it since; `raw` byte for byte."""

    source: tuple[int, ...] = ()
    head: str = ""
    untracked: tuple[str, ...] = ()
    tree: str = ""
    absent: tuple[str, ...] = ()
    raw: Mapping[str, Raw] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    fresh: bool = False


def variables(place: Place) -> dict[str, str]:
    """What makes git use this index."""
    return {"GIT_INDEX_FILE": str(place.index)}


def opened(place: Place, *, anew: bool = False) -> Note:
    """Have the index ready: the one of last time, or a fresh copy if the person's has changed.

    The note is taken away meanwhile, so that a crash leads to a fresh copy.
    """
    note = _noted(place)
    _note_path(place).unlink(missing_ok=True)
    if note is not None and not anew and note.source == _signature(place) and _is_there(place):
        return note
    source = _copied(place)
    return Note(source, flags=flagged(place, place.index, variables(place)), fresh=True)


def closed(place: Place, note: Note) -> None:
    """Note how it was left."""
    note = replace(note, fresh=False)
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
        for name in (place.index, place.index.with_name(f"{place.index.name}.lock")):
            name.unlink(missing_ok=True)
        with suppress(FileNotFoundError), (git_folder(place.top) / "index").open("rb") as source:
            found = os.fstat(source.fileno())
            with place.index.open("wb") as target:
                shutil.copyfileobj(source, target)
            os.utime(place.index, ns=(found.st_atime_ns, found.st_mtime_ns))
            return _marks(found)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CubError(f"cub's index of this checkout can't be made: {reason}") from error
    return ()
