"""Store untracked files of a snapshot byte for byte, and write them back with their modes.

Stored as git stores what it tracks, line ends, filters and keywords would come back changed.
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
from cub.files.stat_signature import StatSignature
from cub.git.process import decode_output, run_git
from cub.git.worktree import Worktree, get_file_type, is_oversized

# Nanoseconds after which a change of a file is sure to change its times as well.
_SETTLED_NANOSECONDS = 2_000_000_000
_CHUNK_BYTES = 1 << 20
# Of the name of a temporary file: characters of the file's own, and what mkstemp ends it with.
_MAX_NAME = 50
_TEMP = re.compile(r"\.(.+)\.cub-[a-z0-9_]{8}\.tmp", re.DOTALL)


class UntrackedBlob(NamedTuple):
    """Describe a file whose bytes are stored: their object, its mode, and its signature.

    It is settled if no later edit can have the same times.
    """

    oid: str
    mode: int
    signature: StatSignature
    is_settled: bool

    @property
    def git_mode(self) -> str:
        """Return the part of its mode that git stores."""
        return "100755" if self.mode & 0o100 else "100644"


def is_readable(worktree: Worktree, path: str) -> bool:
    """Return whether a path is a regular file that can be read, and is not too large for that."""
    is_file = get_file_type(worktree.toplevel, path) == stat.S_IFREG
    is_small = is_file and not is_oversized(worktree, path)
    return is_small and os.access(worktree.toplevel / path, os.R_OK)


def store_blobs(
    worktree: Worktree, paths: Iterable[str], known: Mapping[str, UntrackedBlob]
) -> dict[str, UntrackedBlob]:
    """Store the bytes of files; those that did not change since `known` are not read again."""
    blobs = {path: _stat_blob(worktree.toplevel / path) for path in paths}
    changed = []
    for path, blob in blobs.items():
        old = known.get(path)
        if old and old.is_settled and old == blob._replace(oid=old.oid, is_settled=True):
            blobs[path] = old
        else:
            changed.append(path)
    if changed:
        words = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        stdin = b"".join(map(_quote_line, changed))
        oids = decode_output(run_git(worktree.toplevel, *words, stdin=stdin)).split()
        for path, oid in zip(changed, oids, strict=True):
            blobs[path] = blobs[path]._replace(oid=oid)
    return blobs


def write_blobs(worktree: Worktree, blobs: Mapping[str, str], modes: Mapping[str, int]) -> None:
    """Make files hold objects again. What fails shows in the next snapshot."""
    if not blobs:
        return
    worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
    names: dict[Path, set[str]] = {}
    for path in blobs:
        target = worktree.toplevel / path
        names.setdefault(target.parent, set()).add(target.name[:_MAX_NAME])
    # On disk, not in memory: they may be large.
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
                # Once for each folder, and never beyond a link. What was there before stays.
                _remove_stale_temps(worktree.toplevel, folder, names.pop(folder, ()), modes)
                _write(worktree.toplevel / path, answers, int(size), modes[path])
            answers.seek(end)


def set_modes(
    worktree: Worktree, modes: Mapping[str, int], excluded_paths: Collection[str]
) -> None:
    """Give files the modes they had, except `excluded_paths`."""
    for path, mode in modes.items():
        if path in excluded_paths or get_file_type(worktree.toplevel, path) != stat.S_IFREG:
            continue
        with suppress(OSError):
            if stat.S_IMODE((worktree.toplevel / path).lstat().st_mode) != mode:
                (worktree.toplevel / path).chmod(mode)


def _stat_blob(path: Path) -> UntrackedBlob:
    try:
        status = path.lstat()
    except OSError:
        raise CubError("a file changed while it was looked at", where=path.as_posix()) from None
    times = status.st_mtime_ns, status.st_ctime_ns
    settled = time.time_ns() - max(times) > _SETTLED_NANOSECONDS
    mode = stat.S_IMODE(status.st_mode)
    return UntrackedBlob("", mode, StatSignature.from_stat(status), settled)


def _quote_line(path: str) -> bytes:
    """Return a path as hash-object reads it: in quotes if it has a quote or a line ending."""
    data = path.encode("utf-8", "surrogateescape")
    if not set(data) & set(b'"\r\n'):
        return data + b"\n"
    return b'"' + b"".join(b"\\%03o" % byte for byte in data) + b'"\n'


def clear_path(toplevel: Path, path: str) -> None:
    """Create the folders that lead to a path, and remove a folder in its place."""
    for folder in reversed(PurePosixPath(path).parents[:-1]):
        if get_file_type(toplevel, str(folder)) not in (0, stat.S_IFDIR):
            (toplevel / folder).unlink()
        (toplevel / folder).mkdir(exist_ok=True)
    if get_file_type(toplevel, path) == stat.S_IFDIR:
        shutil.rmtree(toplevel / path)


def _remove_stale_temps(
    toplevel: Path, folder: Path, names: Collection[str], excluded_paths: Collection[str]
) -> None:
    """Remove the temporary files of killed writers of files that start with `names`."""
    for left in folder.iterdir() if names else ():
        match = _TEMP.fullmatch(left.name)
        is_temp = match is not None and match[1] in names
        if is_temp and left.relative_to(toplevel).as_posix() not in excluded_paths:
            with suppress(OSError):
                left.unlink()


def _write(target: Path, source: IO[bytes], size: int, mode: int) -> None:
    """Write a file that no other user may read before it has its mode."""
    prefix = f".{target.name[:_MAX_NAME]}.cub-"
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            while size > 0:
                data = source.read(min(size, _CHUNK_BYTES))
                file.write(data)
                size -= len(data) or size
            file.flush()
            os.fchmod(file.fileno(), mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
