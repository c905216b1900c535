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
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from cub.errors import CubError
from cub.git.process import decode_output, run_git
from cub.git.worktree import Worktree, get_file_type, is_oversized

# Nanoseconds after which a change of a file is sure to change its times as well.
_SETTLED_NANOSECONDS = 2_000_000_000
_CHUNK = 1 << 20
# Of the name of a temporary file: characters of the file's own, and what mkstemp ends it with.
_LONGEST = 50
_TEMP = re.compile(r"\.(.+)\.cub-[a-z0-9_]{8}\.tmp", re.DOTALL)


class UntrackedBlob(NamedTuple):
    """A file whose bytes are kept: their object, its rights, and what an edit of it changes.

    It is `is_settled` if no edit can have come so soon after the last one that the times are the
    same.
    """

    oid: str
    mode: int
    times: tuple[int, int]
    size: int
    inode: int
    is_settled: bool

    @property
    def git_mode(self) -> str:
        """What git knows of its rights."""
        return "100755" if self.mode & 0o100 else "100644"


def is_readable(worktree: Worktree, path: str) -> bool:
    """Whether a path is a file, and no link, that can be read, and is not too large for that."""
    is_file = get_file_type(worktree.toplevel, path) == stat.S_IFREG and not is_oversized(
        worktree, path
    )
    return is_file and os.access(worktree.toplevel / path, os.R_OK)


def store_blobs(
    worktree: Worktree, paths: Iterable[str], known: Mapping[str, UntrackedBlob]
) -> dict[str, UntrackedBlob]:
    """Keep the bytes of files; what is known, and did not change since, is not read again."""
    found = {path: _stat_blob(worktree.toplevel / path) for path in paths}
    todo = []
    for path, seen in found.items():
        old = known.get(path)
        if old and old.is_settled and old == seen._replace(oid=old.oid, is_settled=True):
            found[path] = old
        else:
            todo.append(path)
    if todo:
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        oids = decode_output(
            run_git(worktree.toplevel, *words, stdin=b"".join(map(_line, todo)))
        ).split()
        for path, oid in zip(todo, oids, strict=True):
            found[path] = found[path]._replace(oid=oid)
    return found


def write_blobs(worktree: Worktree, blobs: Mapping[str, str], modes: Mapping[str, int]) -> None:
    """Make files hold objects again. What fails shows in the look afterwards."""
    if not blobs:
        return
    worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
    names: dict[Path, set[str]] = {}
    for path in blobs:
        target = worktree.toplevel / path
        names.setdefault(target.parent, set()).add(target.name[:_LONGEST])
    # On disk, not in memory: nobody knows how large they are.
    with tempfile.TemporaryFile(dir=worktree.index_file.parent) as answers:
        stdin = "".join(f"{oid}\n" for oid in blobs.values()).encode()
        run_git(worktree.toplevel, "cat-file", "--batch", stdin=stdin, stdout=answers)
        answers.seek(0)
        for path in blobs:
            size = answers.readline().split()[-1]
            if not size.isdigit():  # "missing"
                continue
            end = answers.tell() + int(size) + 1
            with suppress(OSError):
                clear_path(worktree.toplevel, path)
                folder = (worktree.toplevel / path).parent
                # Once for each folder, and never behind a link. What was there before stays.
                _remove_stale_temps(worktree.toplevel, folder, names.pop(folder, ()), modes)
                _write(worktree.toplevel / path, answers, int(size), modes[path])
            answers.seek(end)


def set_modes(
    worktree: Worktree, modes: Mapping[str, int], excluded_paths: Collection[str]
) -> None:
    """Give files the rights they had, but for those to `excluded_paths`."""
    for path, mode in modes.items():
        if path in excluded_paths or get_file_type(worktree.toplevel, path) != stat.S_IFREG:
            continue
        with suppress(OSError):
            if stat.S_IMODE((worktree.toplevel / path).lstat().st_mode) != mode:
                (worktree.toplevel / path).chmod(mode)


def _stat_blob(path: Path) -> UntrackedBlob:
    try:
        found = path.lstat()
    except OSError:
        raise CubError("a file changed while it was looked at", where=path.as_posix()) from None
    times = found.st_mtime_ns, found.st_ctime_ns
    settled = time.time_ns() - max(times) > _SETTLED_NANOSECONDS
    return UntrackedBlob(
        "", stat.S_IMODE(found.st_mode), times, found.st_size, found.st_ino, settled
    )


def _line(path: str) -> bytes:
    """A path as hash-object reads it: in quotes if it has what would end or begin a line."""
    data = path.encode("utf-8", "surrogateescape")
    if not set(data) & set(b'"\r\n'):
        return data + b"\n"
    return b'"' + b"".join(b"\\%03o" % byte for byte in data) + b'"\n'


def clear_path(toplevel: Path, path: str) -> None:
    """Have the folders that lead to a path, and no folder in its place."""
    for folder in reversed(PurePosixPath(path).parents[:-1]):
        if get_file_type(toplevel, str(folder)) not in (0, stat.S_IFDIR):
            (toplevel / folder).unlink()
        (toplevel / folder).mkdir(exist_ok=True)
    if get_file_type(toplevel, path) == stat.S_IFDIR:
        shutil.rmtree(toplevel / path)


def _remove_stale_temps(
    toplevel: Path, folder: Path, names: Collection[str], excluded_paths: Collection[str]
) -> None:
    """Remove what writers of files that begin with `names` left that were killed."""
    for left in folder.iterdir() if names else ():
        found = _TEMP.fullmatch(left.name)
        if (
            found
            and found[1] in names
            and left.relative_to(toplevel).as_posix() not in excluded_paths
        ):
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
