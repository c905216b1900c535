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

from cub.files.private import replace_file
from cub.git.place import Place, is_beyond_link, kind

_LARGEST = 1 << 20  # bytes of one file
_MOST = 5_000  # files
# Folders that tools fill, and fill again.
_MADE_AGAIN = frozenset(
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
_REWRITTEN = (
    "*.log", "*.db", "*.sqlite", "*.sqlite3", ".coverage*", "coverage.xml", "*.tsbuildinfo",
    ".eslintcache", "*.tfstate*", "*.egg-info/*", "*cache*",
)  # fmt: skip


class Lost(NamedTuple):
    """Ignored files that were deleted and are back, those that are not, and those that were
    overwritten, of which the old content is kept.
    """

    back: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class _Kept(NamedTuple):
    """What changes with a file's content, its mode (of stat), and whether there is a copy of it."""

    marks: list[int]
    mode: int
    is_copied: bool


def keep_ignored(place: Place, ignored: Sequence[str], most: int) -> None:
    """Copy the ignored files, up to `most` bytes in all; copies of the last time are used again."""
    folder = _folder(place)
    known, kept, left = _read(folder), dict[str, _Kept](), most
    for path in _found(place, ignored):
        try:
            found = (place.top / path).lstat()
        except OSError:
            continue
        marks = _marks(found)
        is_small = stat.S_ISREG(found.st_mode) and found.st_size <= min(left, _LARGEST)
        is_copied = is_small and _copied(place, folder, path, marks, known.get(path))
        left -= found.st_size if is_copied else 0
        kept[path] = _Kept(marks, found.st_mode, is_copied)
    for path in known.keys() - kept.keys():
        _copy_of(folder, path).unlink(missing_ok=True)
    if kept or known:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "kept.json", [json.dumps(kept).encode()])


def restore_ignored(place: Place, aside: Path) -> Lost:
    """Put back what is gone; what was overwritten stays, and its old content goes to `aside`."""
    folder = _folder(place)
    back, gone, changed = list[str](), list[str](), list[str]()
    for path, kept in _read(folder).items():
        there = kind(place.top, path.rstrip("/"))
        if not there:
            put = kept.is_copied and _put_back(place, folder, path)
            (back if put else gone).append(path)
            continue
        _give_mode(place.top / path, kept.mode)
        if kept.is_copied and not _is_rewritten(path) and _differs(place, folder, path, kept):
            target = aside / path
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_copy_of(folder, path), target)
                changed.append(path)
    return Lost(tuple(back), tuple(gone), tuple(changed))


def forget_ignored(place: Place) -> None:
    """Remove the copies."""
    shutil.rmtree(_folder(place), ignore_errors=True)


def _found(place: Place, ignored: Sequence[str]) -> Iterator[str]:
    """The files to keep, and the folders of which only the loss is told."""
    count = 0
    for entry in ignored:
        if place.is_apart(entry.rstrip("/")) or not _counts(entry):
            continue
        for path in _below(place.top, entry) if entry.endswith("/") else (entry,):
            if place.is_apart(path.rstrip("/")):
                continue
            count += 1
            if count > _MOST:
                return
            yield path


def _below(top: Path, entry: str) -> Iterator[str]:
    if _is_made_again(entry) or os.path.lexists(top / entry / ".git"):
        yield entry
        return
    for folder, folders, names in os.walk(top / entry):
        below = Path(folder).relative_to(top).as_posix()
        folders[:] = sorted(
            name
            for name in folders
            if not _is_made_again(name) and not os.path.lexists(Path(folder, name, ".git"))
        )
        yield from (f"{below}/{name}" for name in sorted(names) if _counts(name))


def _counts(path: str) -> bool:
    name = PurePosixPath(path).name
    return not any(fnmatchcase(name, pattern) for pattern in _PASSED_OVER)


def _is_made_again(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _MADE_AGAIN or "cache" in name.lower()


def _is_rewritten(path: str) -> bool:
    name = PurePosixPath(path).name
    return any(fnmatchcase(name, one) or fnmatchcase(path, one) for one in _REWRITTEN)


def _copied(
    place: Place, folder: Path, path: str, marks: Sequence[int], known: _Kept | None
) -> bool:
    copy = _copy_of(folder, path)
    if known and known.is_copied and known.marks == marks and copy.exists():
        return True
    copy.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        shutil.copy2(place.top / path, copy, follow_symlinks=False)
        return True
    return False


def _put_back(place: Place, folder: Path, path: str) -> bool:
    """Not where a file or a link stands in the place of a folder: that is the attempt's."""
    if is_beyond_link(place.top, path):
        return False
    with suppress(OSError):
        (place.top / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(_copy_of(folder, path), place.top / path)
        return True
    return False


def _give_mode(path: Path, mode: int) -> None:
    """Give a file the rights that it had, if it is of the same kind, and no link."""
    with suppress(OSError):
        now = path.lstat().st_mode
        if now != mode and stat.S_IFMT(now) == stat.S_IFMT(mode) and not stat.S_ISLNK(now):
            path.chmod(stat.S_IMODE(mode))


def _differs(place: Place, folder: Path, path: str, kept: _Kept) -> bool:
    try:
        found = (place.top / path).lstat()
        if _marks(found) == kept.marks:
            return False
        if not stat.S_ISREG(found.st_mode) or found.st_size != kept.marks[1]:
            return True
        return (place.top / path).read_bytes() != _copy_of(folder, path).read_bytes()
    except OSError:
        return True


def _marks(found: os.stat_result) -> list[int]:
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _folder(place: Place) -> Path:
    return place.index.with_name(f"{place.index.name}.ignored")


def _copy_of(folder: Path, path: str) -> Path:
    name = blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return folder / "files" / name


def _read(folder: Path) -> dict[str, _Kept]:
    try:
        value = json.loads((folder / "kept.json").read_bytes())
        return {
            path: _Kept(list(marks), int(mode), bool(copied))
            for path, (marks, mode, copied) in value.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
