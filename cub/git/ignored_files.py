"""Files that git ignores, such as secrets and local settings: copied before an attempt, up to a
size, and put back where it deleted them.

What tools can make again is passed over, and what they write all the time is not told of.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.files.internal_files import replace_file
from cub.git.worktree import Worktree, get_file_type, is_beyond_link

_LARGEST = 1 << 20  # bytes of one file
_MOST = 5_000  # files
# Folders that tools fill, and fill again.
_REBUILDABLE = frozenset(
    (".venv", "venv", "env", "node_modules", "target", "build", "dist", "out", "vendor", ".tox",
     ".nox", ".gradle", ".next", ".nuxt", ".terraform", "coverage", "htmlcov", "bower_components",
     "__pycache__", ".eggs")
)  # fmt: skip
# What belongs to a process that is at work, or to nobody.
_PASSED_OVER = (
    "*.pyc", "*.lock", "*.pid", "*.sock", "*.tmp", "*.swp", "*-wal", "*-shm", "*-journal",
    ".DS_Store", ".aider*",
)  # fmt: skip
# What tools write whenever they run.
_OFTEN_WRITTEN = (
    "*.log", "*.db", "*.sqlite", "*.sqlite3", ".coverage*", "coverage.xml", "*.tsbuildinfo",
    ".eslintcache", "*.tfstate*", "*.egg-info/*", "*cache*",
)  # fmt: skip


class IgnoredFilesReport(NamedTuple):
    """Ignored files that were deleted and are back, those that are not, and those that were
    overwritten, of which the old content is kept.
    """

    restored_files: tuple[str, ...] = ()
    lost_files: tuple[str, ...] = ()
    overwritten_files: tuple[str, ...] = ()


class _IgnoredCopy(NamedTuple):
    """What changes with a file's content, its mode (of stat), and whether there is a copy of it."""

    signature: list[int]
    mode: int
    is_copied: bool


def back_up_ignored(worktree: Worktree, ignored: Sequence[str], most: int) -> None:
    """Copy the ignored files, up to `most` bytes in all; copies of the last time are used again."""
    folder = _folder(worktree)
    known, kept, left = _read(folder), dict[str, _IgnoredCopy](), most
    for path in _list_files(worktree, ignored):
        try:
            found = (worktree.toplevel / path).lstat()
        except OSError:
            continue
        marks = _make_signature(found)
        is_small = stat.S_ISREG(found.st_mode) and found.st_size <= min(left, _LARGEST)
        is_copied = is_small and _copy_file(worktree, folder, path, marks, known.get(path))
        left -= found.st_size if is_copied else 0
        kept[path] = _IgnoredCopy(marks, found.st_mode, is_copied)
    for path in known.keys() - kept.keys():
        _copy_of(folder, path).unlink(missing_ok=True)
    if kept or known:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "kept.json", [json.dumps(kept).encode()])


def restore_ignored(worktree: Worktree, rescue_folder: Path) -> IgnoredFilesReport:
    """Put back what is gone; what was overwritten stays, and its old content goes to
    `rescue_folder`.
    """
    folder = _folder(worktree)
    back, gone, changed = list[str](), list[str](), list[str]()
    for path, kept in _read(folder).items():
        there = get_file_type(worktree.toplevel, path.rstrip("/"))
        if not there:
            put = kept.is_copied and _restore_file(worktree, folder, path)
            (back if put else gone).append(path)
            continue
        _restore_mode(worktree.toplevel / path, kept.mode)
        if kept.is_copied and not _is_rewritten(path) and _differs(worktree, folder, path, kept):
            target = rescue_folder / path
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_copy_of(folder, path), target)
                changed.append(path)
    return IgnoredFilesReport(tuple(back), tuple(gone), tuple(changed))


def delete_ignored_backup(worktree: Worktree) -> None:
    """Remove the copies."""
    shutil.rmtree(_folder(worktree), ignore_errors=True)


def _list_files(worktree: Worktree, ignored: Sequence[str]) -> Iterator[str]:
    """The files to keep, and the folders of which only the loss is told."""
    count = 0
    for entry in ignored:
        if worktree.is_excluded(entry.rstrip("/")) or not _is_worth_copying(entry):
            continue
        for path in _below(worktree.toplevel, entry) if entry.endswith("/") else (entry,):
            if worktree.is_excluded(path.rstrip("/")):
                continue
            count += 1
            if count > _MOST:
                return
            yield path


def _below(toplevel: Path, entry: str) -> Iterator[str]:
    if _is_made_again(entry) or os.path.lexists(toplevel / entry / ".git"):
        yield entry
        return
    for folder, folders, names in os.walk(toplevel / entry):
        below = Path(folder).relative_to(toplevel).as_posix()
        folders[:] = sorted(
            name
            for name in folders
            if not _is_made_again(name) and not os.path.lexists(Path(folder, name, ".git"))
        )
        yield from (f"{below}/{name}" for name in sorted(names) if _is_worth_copying(name))


def _is_worth_copying(path: str) -> bool:
    name = PurePosixPath(path).name
    return not any(fnmatchcase(name, pattern) for pattern in _PASSED_OVER)


def _is_made_again(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _REBUILDABLE or "cache" in name.lower()


def _is_rewritten(path: str) -> bool:
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, one) or fnmatchcase(path, one) for one in _OFTEN_WRITTEN)


def _copy_file(
    worktree: Worktree, folder: Path, path: str, marks: Sequence[int], known: _IgnoredCopy | None
) -> bool:
    copy = _copy_of(folder, path)
    if known and known.is_copied and known.signature == marks and copy.exists():
        return True
    copy.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        shutil.copy2(worktree.toplevel / path, copy, follow_symlinks=False)
        return True
    return False


def _restore_file(worktree: Worktree, folder: Path, path: str) -> bool:
    """Not where a file or a link stands in the place of a folder: that is the attempt's."""
    if is_beyond_link(worktree.toplevel, path):
        return False
    with suppress(OSError):
        (worktree.toplevel / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(_copy_of(folder, path), worktree.toplevel / path)
        return True
    return False


def _restore_mode(path: Path, mode: int) -> None:
    """Give a file the rights that it had, if it is of the same kind, and no link."""
    with suppress(OSError):
        now = path.lstat().st_mode
        if now != mode and stat.S_IFMT(now) == stat.S_IFMT(mode) and not stat.S_ISLNK(now):
            path.chmod(stat.S_IMODE(mode))


def _differs(worktree: Worktree, folder: Path, path: str, kept: _IgnoredCopy) -> bool:
    try:
        found = (worktree.toplevel / path).lstat()
        if _make_signature(found) == kept.signature:
            return False
        if not stat.S_ISREG(found.st_mode) or found.st_size != kept.signature[1]:
            return True
        return (worktree.toplevel / path).read_bytes() != _copy_of(folder, path).read_bytes()
    except OSError:
        return True


def _make_signature(found: os.stat_result) -> list[int]:
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _folder(worktree: Worktree) -> Path:
    return worktree.index_file.with_name(f"{worktree.index_file.name}.ignored")


def _copy_of(folder: Path, path: str) -> Path:
    name = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return folder / "files" / name


def _read(folder: Path) -> dict[str, _IgnoredCopy]:
    try:
        value = json.loads((folder / "kept.json").read_bytes())
        return {
            path: _IgnoredCopy(list(marks), int(mode), bool(copied))
            for path, (marks, mode, copied) in value.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
