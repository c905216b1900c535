"""Copy files that git ignores, such as secrets and local settings, before an attempt, and put back
those that it deleted.

What tools can make again is passed over, and what they write all the time is not reported.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.files.internal_files import replace_file
from cub.files.stat_signature import StatSignature
from cub.git.tool_artifacts import (
    TRANSIENT_PATTERNS,
    is_often_written,
    is_rebuildable,
    matches_any,
)
from cub.git.worktree import Worktree, get_file_type, is_beyond_link

_MAX_FILE_BYTES = 1 << 20
_MAX_FILES = 5_000


class IgnoredFilesReport(NamedTuple):
    """List ignored files that were deleted and are back, those that are not, and those that were
    overwritten, of which the old content is kept.
    """

    restored_files: tuple[str, ...] = ()
    lost_files: tuple[str, ...] = ()
    overwritten_files: tuple[str, ...] = ()


class _IgnoredCopy(NamedTuple):
    """Hold a file's signature, its mode (of stat), and whether there is a copy of it."""

    signature: StatSignature
    mode: int
    is_copied: bool


def back_up_ignored(worktree: Worktree, ignored_paths: Sequence[str], max_bytes: int) -> None:
    """Copy ignored files, up to `max_bytes` in all; copies of the last time are used again."""
    folder = _make_backup_folder_path(worktree)
    old, copies, bytes_left = _read(folder), dict[str, _IgnoredCopy](), max_bytes
    for path in _list_files(worktree, ignored_paths):
        try:
            status = (worktree.toplevel / path).lstat()
        except OSError:
            continue
        signature = StatSignature.from_stat(status)
        is_small = stat.S_ISREG(status.st_mode) and status.st_size <= min(
            bytes_left, _MAX_FILE_BYTES
        )
        is_copied = is_small and _copy_file(worktree, folder, path, signature, old.get(path))
        bytes_left -= status.st_size if is_copied else 0
        copies[path] = _IgnoredCopy(signature, status.st_mode, is_copied)
    for path in old.keys() - copies.keys():
        _make_copy_path(folder, path).unlink(missing_ok=True)
    if copies or old:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "kept.json", [json.dumps(copies).encode()])


def restore_ignored(worktree: Worktree, rescue_folder: Path) -> IgnoredFilesReport:
    """Put back what is gone; what was overwritten stays, and its old content goes to
    `rescue_folder`.
    """
    folder = _make_backup_folder_path(worktree)
    restored, lost, overwritten = list[str](), list[str](), list[str]()
    for path, copy in _read(folder).items():
        if not get_file_type(worktree.toplevel, path.rstrip("/")):
            is_back = copy.is_copied and _restore_file(worktree, folder, path)
            (restored if is_back else lost).append(path)
            continue
        _restore_mode(worktree.toplevel / path, copy.mode)
        if copy.is_copied and not is_often_written(path) and _differs(worktree, path, copy):
            target = rescue_folder / path
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_make_copy_path(folder, path), target)
                overwritten.append(path)
    return IgnoredFilesReport(tuple(restored), tuple(lost), tuple(overwritten))


def delete_ignored_backup(worktree: Worktree) -> None:
    """Remove the copies."""
    shutil.rmtree(_make_backup_folder_path(worktree), ignore_errors=True)


def _list_files(worktree: Worktree, ignored_paths: Sequence[str]) -> Iterator[str]:
    """Yield the files to copy, and the folders of which only the loss is reported."""
    count = 0
    for entry in ignored_paths:
        if worktree.is_excluded(entry.rstrip("/")) or not _is_worth_copying(entry):
            continue
        for path in _walk(worktree.toplevel, entry) if entry.endswith("/") else (entry,):
            if worktree.is_excluded(path.rstrip("/")):
                continue
            count += 1
            if count > _MAX_FILES:
                return
            yield path


def _walk(toplevel: Path, entry: str) -> Iterator[str]:
    if is_rebuildable(entry.rstrip("/")) or os.path.lexists(toplevel / entry / ".git"):
        yield entry
        return
    for folder, folders, names in os.walk(toplevel / entry):
        below = Path(folder).relative_to(toplevel).as_posix()
        folders[:] = sorted(
            name
            for name in folders
            if not is_rebuildable(name) and not os.path.lexists(Path(folder, name, ".git"))
        )
        yield from (f"{below}/{name}" for name in sorted(names) if _is_worth_copying(name))


def _is_worth_copying(path: str) -> bool:
    return not matches_any(PurePosixPath(path).name, TRANSIENT_PATTERNS)


def _copy_file(
    worktree: Worktree, folder: Path, path: str, signature: StatSignature, old: _IgnoredCopy | None
) -> bool:
    copy = _make_copy_path(folder, path)
    if old and old.is_copied and old.signature == signature and copy.exists():
        return True
    return _try_copy(worktree.toplevel / path, copy)


def _restore_file(worktree: Worktree, folder: Path, path: str) -> bool:
    """Put a file back, unless a file or link of the attempt stands in the place of a folder."""
    if is_beyond_link(worktree.toplevel, path):
        return False
    return _try_copy(_make_copy_path(folder, path), worktree.toplevel / path)


def _try_copy(source: Path, target: Path) -> bool:
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        return True
    return False


def _restore_mode(path: Path, mode: int) -> None:
    """Give a file the mode that it had, if it is of the same kind, and no link."""
    with suppress(OSError):
        now = path.lstat().st_mode
        if now != mode and stat.S_IFMT(now) == stat.S_IFMT(mode) and not stat.S_ISLNK(now):
            path.chmod(stat.S_IMODE(mode))


def _differs(worktree: Worktree, path: str, copy: _IgnoredCopy) -> bool:
    try:
        status = (worktree.toplevel / path).lstat()
        if StatSignature.from_stat(status) == copy.signature:
            return False
        if not stat.S_ISREG(status.st_mode) or status.st_size != copy.signature.size:
            return True
        copied = _make_copy_path(_make_backup_folder_path(worktree), path)
        return (worktree.toplevel / path).read_bytes() != copied.read_bytes()
    except OSError:
        return True


def _make_backup_folder_path(worktree: Worktree) -> Path:
    return worktree.index_file.with_name(f"{worktree.index_file.name}.ignored")


def _make_copy_path(folder: Path, path: str) -> Path:
    name = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return folder / "files" / name


def _read(folder: Path) -> dict[str, _IgnoredCopy]:
    try:
        value = json.loads((folder / "kept.json").read_bytes())
        return {
            path: _IgnoredCopy(StatSignature(*signature), int(mode), bool(is_copied))
            for path, (signature, mode, is_copied) in value.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
