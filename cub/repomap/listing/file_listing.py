"""How the map reads a file: without what cub put into it.

A project's files, each with what tells whether it changed.

Patterns as in a .gitignore, from files and people: what is no pattern must not end a command.

The files below a folder that git does not know: all but those that a .gitignore names.
"""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub import git
from cub.files.read_files import encode_path, read_prefix
from cub.git.tool_artifacts import TOOL_FOLDERS
from cub.repomap.map_types import STEP_LISTING, MapOmission, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_MOST = 20_000_000  # bytes; who asks wants far less
_BEGIN, _END = b"<!-- BEGIN CUB MANAGED SECTION", b"END CUB MANAGED SECTION -->"


def read_listed_file(base: str, path: str) -> bytes:
    """Read a file of the listing, which has regular files alone, below the folder `base`.

    cub's sections are left out: the README that AGENTS.md is a link to says the same before and
    after `cub init`. Raises OSError.
    """
    data = read_prefix(base, path, _MOST)
    kept, at = [], 0
    while (end := data.find(_END, at)) >= 0:
        behind, start = end + len(_END), data.rfind(_BEGIN, at, end)
        kept.append(data[at : behind if start < 0 else start])
        at = behind
    return b"".join((*kept, data[at:]))


# What cub writes, and what agents have read before they see the map.
_OWN = ".cub"
INSTRUCTION_FILE_NAMES = frozenset(
    ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md"]
)
_SETTINGS = frozenset([".claude", ".gemini", ".cursor", "opencode.json", ".aider.conf.yml"])


_STEP_NS = 50_000_000
_STRIDE = 1000  # files that are looked at in a few milliseconds


class ListedFile(NamedTuple):
    """A regular file: its path with `/`, its size in bytes, its time of change in ns, its inode."""

    path: str
    size: int
    mtime_ns: int
    inode: int

    def has_reliable_mtime(self, now_ns: int) -> bool:
        """Whether a later change is sure to show in the file's time: clocks tick in steps."""
        return self.mtime_ns < now_ns - _STEP_NS


@dataclass(frozen=True, slots=True)
class FileListing:
    """All files that the map may speak of, by code points of their paths.

    `parent_path` is the path of `root` in its project, "a/b/" or "".
    """

    root: Path
    files: tuple[ListedFile, ...]
    omissions: tuple[MapOmission, ...] = ()
    parent_path: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths alone."""
        return tuple(file.path for file in self.files)


def list_files(
    root: Path,
    exclude: Sequence[str] = (),
    deleted_paths: Iterable[str] = (),
    parent_path: str = "",
    progress: ProgressCallback = ignore_progress,
) -> FileListing:
    """The files of the project at `root` that git tracks, or outside git all not ignored.

    `exclude` are patterns as in a .gitignore; `deleted_paths` are files that are about to be
    deleted; both speak of a project in which `root` is the folder `parent_path`, "a/b/" or "".
    Links, submodules, FIFOs and whatever else is no regular file are left out.
    """
    if not _has_any(root):  # a new project: git need not be started to list nothing
        return FileListing(root, (), (), parent_path)
    notes: list[MapOmission] = []
    known = git.list_tracked_files(root, lambda: progress(0, 1, STEP_LISTING))
    if known is None and git.find_toplevel(root):
        notes.append(MapOmission("", "git can't list these files: all that are not ignored count"))
    paths = walk_unignored_files(root, notes) if known is None else known
    left_out = frozenset(deleted_paths)
    wanted = sorted(path for path in paths if _counts(path) and parent_path + path not in left_out)
    wanted = _without(wanted, exclude, parent_path)
    files = _present(root, _told(wanted, progress), notes)
    return FileListing(root, tuple(files), tuple(notes), parent_path)


def _told(paths: Sequence[str], progress: ProgressCallback) -> Iterator[str]:
    """The paths, and every now and then how many of them have been looked at."""
    for number, path in enumerate(paths):
        if number % _STRIDE == 0:
            progress(number, len(paths), STEP_LISTING)
        yield path
    progress(1, 1, STEP_LISTING)


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
        parts[-1] in INSTRUCTION_FILE_NAMES
        or parts[0] in _SETTINGS
        or _OWN in parts
        or ".git" in parts
    )


def _without(paths: list[str], exclude: Sequence[str], above: str) -> list[str]:
    if not exclude:
        return paths
    spec = compile_ignore_patterns(exclude)
    return [path for path in paths if not spec.match_file(above + path)]


def _present(root: Path, paths: Iterable[str], notes: list[MapOmission]) -> Iterable[ListedFile]:
    """The regular ones, with their state; a missing one is deleted, or not in a sparse checkout."""
    base, missing = os.fspath(root), 0
    for path in paths:
        try:
            found = os.lstat(encode_path(base, path))
        except OSError:
            missing += 1
            continue
        if stat.S_ISREG(found.st_mode):
            yield ListedFile(path, found.st_size, found.st_mtime_ns, found.st_ino)
        elif not stat.S_ISLNK(found.st_mode):
            what = "a folder of its own" if stat.S_ISDIR(found.st_mode) else "no regular file"
            notes.append(MapOmission(path, f"left out: it is {what}"))
    if missing:
        notes.append(MapOmission("", f"tracked files that are not in this checkout: {missing}"))


def compile_ignore_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """The lines that are patterns; git passes over the others, too."""
    return _compiled([line for line in lines if is_valid_ignore_pattern(line)])


def is_valid_ignore_pattern(line: str) -> bool:
    """Whether a line can be read; an empty one and a comment match nothing."""
    try:
        _compiled([line])
    except (ValueError, re.error):
        return False
    return True


def _compiled(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():  # of Python, about brackets that a later one may read otherwise
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(lines)


_WALK_MOST = 1_000_000  # bytes of a .gitignore
# What tools leave beside sources; nobody writes a .gitignore in a folder without git.
_SKIPPED_FOLDERS = {".git", ".hg", ".svn"} | TOOL_FOLDERS


class _Rules(NamedTuple):
    """The .gitignore of one folder: `prefix` is that folder's path with a slash behind it."""

    prefix: str
    spec: GitIgnoreSpec


def walk_unignored_files(root: Path, notes: list[MapOmission]) -> Iterator[str]:
    """Paths relative to `root`, folders in no particular order; links are not followed.

    A rule of a deeper .gitignore counts before one of a higher one (gitignore(5)).
    """
    base = os.fspath(root)  # a Path for each folder takes half of the time
    waiting: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            entries = list(os.scandir(encode_path(base, prefix)))
        except OSError as error:
            notes.append(MapOmission(prefix, f"cannot be listed: {(error.strerror or '').lower()}"))
            continue
        if any(entry.name == b".gitignore" and _is_plain(entry) for entry in entries):
            rules = (*_rules(base, prefix), *rules)
        for entry in entries:
            name = entry.name.decode("utf-8", "surrogateescape")
            path = prefix + name
            folder = entry.is_dir(follow_symlinks=False)
            if rules and _ignored(path + "/" * folder, rules):
                continue
            if not folder:
                yield path
            elif name not in _SKIPPED_FOLDERS:
                waiting.append((path + "/", rules))


def _is_plain(entry: os.DirEntry[bytes]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _rules(root: str, prefix: str) -> tuple[_Rules, ...]:
    try:
        data = read_prefix(root, f"{prefix}.gitignore", _WALK_MOST)
    except OSError:
        return ()
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    return (_Rules(prefix, compile_ignore_patterns(lines)),)


def _ignored(path: str, rules: tuple[_Rules, ...]) -> bool:
    for rule in rules:
        said = rule.spec.check_file(path.removeprefix(rule.prefix)).include
        if said is not None:
            return said
    return False
