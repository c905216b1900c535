"""Untracked files in a snapshot: kept byte for byte, and written back with the rights they had.

As git stores what it tracks, line ends, filters and keywords would come back changed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from hashlib import sha1, sha256
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from cub.errors import CubError
from cub.git.calling import call, text
from cub.git.place import Place, is_too_large, kind

# Nanoseconds after which a change of a file is sure to change its times as well.
_SETTLED = 2_000_000_000
_CHUNK = 1 << 20
_SMALL = 1 << 16  # bytes
_SHA1 = 40  # digits
# Of the name of a temporary file: characters of the file's own, and what mkstemp ends it with.
_LONGEST = 50
_TEMP = re.compile(r"\.(.+)\.cub-[a-z0-9_]{8}\.tmp", re.DOTALL)


class Raw(NamedTuple):
    """A file whose bytes are kept: their object, its rights, and what an edit of it changes.

    It is `settled` if no edit can have come so soon after the last one that the times are the same.
    """

    oid: str
    rights: int
    times: tuple[int, int]
    size: int
    inode: int
    settled: bool

    @property
    def mode(self) -> str:
        """What git knows of its rights."""
        return "100755" if self.rights & 0o100 else "100644"


def is_readable(place: Place, path: str) -> bool:
    """Whether a path is a file, and no link, that can be read, and is not too large for that."""
    is_file = kind(place.top, path) == stat.S_IFREG and not is_too_large(place, path)
    return is_file and os.access(place.top / path, os.R_OK)


def stored(place: Place, paths: Iterable[str], known: Mapping[str, Raw]) -> dict[str, Raw]:
    """Keep the bytes of files; what is known, and did not change since, is not read again."""
    found = {path: _seen(place.top / path) for path in paths}
    todo = []
    for path, seen in found.items():
        old = known.get(path)
        if old and old.settled and old == seen._replace(oid=old.oid, settled=True):
            found[path] = old
        elif old and seen.size == old.size <= _SMALL and _has_bytes(place.top / path, old.oid):
            found[path] = seen._replace(oid=old.oid)
        else:
            todo.append(path)
    if todo:
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        oids = text(call(place.top, *words, stdin=b"".join(map(_line, todo)))).split()
        for path, oid in zip(todo, oids, strict=True):
            found[path] = found[path]._replace(oid=oid)
    return found


def _has_bytes(path: Path, oid: str) -> bool:
    """Whether a small file is the object; cheaper than a process of git's (git-hash-object(1))."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    method = sha1 if len(oid) == _SHA1 else sha256
    return method(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == oid


def write_raw(place: Place, blobs: Mapping[str, str], rights: Mapping[str, int]) -> None:
    """Make files hold objects again. What fails shows in the look afterwards."""
    if not blobs:
        return
    place.index.parent.mkdir(parents=True, exist_ok=True)
    names: dict[Path, set[str]] = {}
    for path in blobs:
        target = place.top / path
        names.setdefault(target.parent, set()).add(target.name[:_LONGEST])
    # On disk, not in memory: nobody knows how large they are.
    with tempfile.TemporaryFile(dir=place.index.parent) as answers:
        stdin = "".join(f"{oid}\n" for oid in blobs.values()).encode()
        call(place.top, "cat-file", "--batch", stdin=stdin, into=answers)
        answers.seek(0)
        for path in blobs:
            size = answers.readline().split()[-1]
            if not size.isdigit():  # "missing"
                continue
            end = answers.tell() + int(size) + 1
            with suppress(OSError):
                make_way(place.top, path)
                folder = (place.top / path).parent
                # Once for each folder, and never behind a link. What was there before stays.
                _sweep(place.top, folder, names.pop(folder, ()), rights)
                _write(place.top / path, answers, int(size), rights[path])
            answers.seek(end)


def give_rights(place: Place, rights: Mapping[str, int], leave: Collection[str]) -> None:
    """Give files the rights they had, but for those to `leave`."""
    for path, mode in rights.items():
        if path in leave or kind(place.top, path) != stat.S_IFREG:
            continue
        with suppress(OSError):
            if stat.S_IMODE((place.top / path).lstat().st_mode) != mode:
                (place.top / path).chmod(mode)


def _seen(path: Path) -> Raw:
    try:
        found = path.lstat()
    except OSError:
        raise CubError("a file changed while it was looked at", where=path.as_posix()) from None
    times = found.st_mtime_ns, found.st_ctime_ns
    settled = time.time_ns() - max(times) > _SETTLED
    return Raw("", stat.S_IMODE(found.st_mode), times, found.st_size, found.st_ino, settled)


def _line(path: str) -> bytes:
    """A path as hash-object reads it: in quotes if it has what would end or begin a line."""
    data = path.encode("utf-8", "surrogateescape")
    if not set(data) & set(b'"\r\n'):
        return data + b"\n"
    return b'"' + b"".join(b"\\%03o" % byte for byte in data) + b'"\n'


def make_way(top: Path, path: str) -> None:
    """Have the folders that lead to a path, and no folder in its place."""
    for folder in reversed(PurePosixPath(path).parents[:-1]):
        if kind(top, str(folder)) not in (0, stat.S_IFDIR):
            (top / folder).unlink()
        (top / folder).mkdir(exist_ok=True)
    if kind(top, path) == stat.S_IFDIR:
        shutil.rmtree(top / path)


def _sweep(top: Path, folder: Path, names: Collection[str], spared: Collection[str]) -> None:
    """Remove what writers of files that begin with `names` left that were killed."""
    for left in folder.iterdir() if names else ():
        found = _TEMP.fullmatch(left.name)
        if found and found[1] in names and left.relative_to(top).as_posix() not in spared:
            with suppress(OSError):
                left.unlink()


def _write(target: Path, source: IO[bytes], size: int, mode: int) -> None:
    """Nobody else may read it before it has its rights."""
    prefix = f".{target.name[:_LONGEST]}.cub-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            while size > 0:
                data = source.read(min(size, _CHUNK))
                file.write(data)
                size -= len(data) or size
            file.flush()
            os.fchmod(file.fileno(), mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
