"""A project's files, each with what tells whether it changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub import git
from cub.files.regular import place
from cub.repomap.listing.patterns import spec_of
from cub.repomap.listing.walk import walk
from cub.repomap.notes import Note
from cub.repomap.progress import LISTING, Progress, no_progress

# What cub writes, and what agents have read before they see the map.
_OWN = ".cub"
INSTRUCTIONS = frozenset(["AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md"])
_SETTINGS = frozenset([".claude", ".gemini", ".cursor", "opencode.json", ".aider.conf.yml"])


_STEP_NS = 50_000_000
_STRIDE = 1000  # files that are looked at in a few milliseconds


class File(NamedTuple):
    """A regular file: its path with `/`, its size in bytes, its time of change in ns, its inode."""

    path: str
    size: int
    mtime_ns: int
    inode: int

    def is_settled(self, now_ns: int) -> bool:
        """Whether a later change is sure to show in the file's time: clocks tick in steps."""
        return self.mtime_ns < now_ns - _STEP_NS


@dataclass(frozen=True, slots=True)
class Listing:
    """All files that the map may speak of, by code points of their paths.

    `above` is the path of `root` in its project, "a/b/" or "".
    """

    root: Path
    files: tuple[File, ...]
    notes: tuple[Note, ...] = ()
    above: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths alone."""
        return tuple(file.path for file in self.files)


def listing(
    root: Path,
    exclude: Sequence[str] = (),
    gone: Iterable[str] = (),
    above: str = "",
    progress: Progress = no_progress,
) -> Listing:
    """The files of the project at `root` that git tracks, or outside git all not ignored.

    `exclude` are patterns as in a .gitignore; `gone` are files that are about to be deleted;
    both speak of a project in which `root` is the folder `above`, "a/b/" or "".
    Links, submodules, FIFOs and whatever else is no regular file are left out.
    """
    if not _has_any(root):  # a new project: git need not be started to list nothing
        return Listing(root, (), (), above)
    notes: list[Note] = []
    known = git.tracked(root, lambda: progress(0, 1, LISTING))
    if known is None and git.top_level(root):
        notes.append(Note("", "git can't list these files: all that are not ignored count"))
    paths = walk(root, notes) if known is None else known
    left_out = frozenset(gone)
    wanted = sorted(path for path in paths if _counts(path) and above + path not in left_out)
    wanted = _without(wanted, exclude, above)
    files = _present(root, _told(wanted, progress), notes)
    return Listing(root, tuple(files), tuple(notes), above)


def _told(paths: Sequence[str], progress: Progress) -> Iterator[str]:
    """The paths, and every now and then how many of them have been looked at."""
    for number, path in enumerate(paths):
        if number % _STRIDE == 0:
            progress(number, len(paths), LISTING)
        yield path
    progress(1, 1, LISTING)


def _has_any(root: Path) -> bool:
    """Whether the folder itself has anything that may count, or can't be listed."""
    try:
        with os.scandir(root) as entries:
            return any(_counts(entry.name) for entry in entries)
    except OSError:
        return True


def _counts(path: str) -> bool:
    parts = path.split("/")
    return not (
        parts[-1] in INSTRUCTIONS or parts[0] in _SETTINGS or _OWN in parts or ".git" in parts
    )


def _without(paths: list[str], exclude: Sequence[str], above: str) -> list[str]:
    if not exclude:
        return paths
    spec = spec_of(exclude)
    return [path for path in paths if not spec.match_file(above + path)]


def _present(root: Path, paths: Iterable[str], notes: list[Note]) -> Iterable[File]:
    """The regular ones, with their state; a missing one is deleted, or not in a sparse checkout."""
    base, missing = os.fspath(root), 0
    for path in paths:
        try:
            found = os.lstat(place(base, path))
        except OSError:
            missing += 1
            continue
        if stat.S_ISREG(found.st_mode):
            yield File(path, found.st_size, found.st_mtime_ns, found.st_ino)
        elif not stat.S_ISLNK(found.st_mode):
            what = "a folder of its own" if stat.S_ISDIR(found.st_mode) else "no regular file"
            notes.append(Note(path, f"left out: it is {what}"))
    if missing:
        notes.append(Note("", f"tracked files that are not in this checkout: {missing}"))
