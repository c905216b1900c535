"""List a project's files, each with the state that shows a change, and read them.

Outside git, and while git can't list the files, the walk leaves out what a .gitignore names.
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

from cub.agent_profiles.profiles import list_settings_paths
from cub.files.read_files import encode_path, read_prefix
from cub.git.tool_artifacts import TOOL_FOLDERS
from cub.git.tracked_files import list_tracked_files
from cub.git.worktree import find_toplevel
from cub.repomap.map_types import STEP_LISTING, MapOmission, ProgressCallback, ignore_progress
from cub.text import describe_os_error

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What cub writes, and what agents have read before they see the map.
_CUB_FOLDER = ".cub"
INSTRUCTION_FILE_NAMES = frozenset(
    ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md"]
)
_AGENT_SETTINGS = frozenset(path.partition("/")[0] for path in list_settings_paths())
_CLOCK_STEP_NS = 50_000_000
_FILES_PER_REPORT = 1000  # so many are looked at in a few milliseconds


class ListedFile(NamedTuple):
    """Describe a regular file: path with `/`, size in bytes, time of change in ns, and inode."""

    path: str
    size: int
    mtime_ns: int
    inode: int

    def has_reliable_mtime(self, now_ns: int) -> bool:
        """Return whether a later change must show in the file's time: clocks tick in steps."""
        return self.mtime_ns < now_ns - _CLOCK_STEP_NS


@dataclass(frozen=True, slots=True)
class FileListing:
    """Hold all files that the map may mention, by code points of their paths.

    `parent_path` is the path of `root` in its project, "a/b/" or "".
    """

    root: Path
    files: tuple[ListedFile, ...]
    omissions: tuple[MapOmission, ...] = ()
    parent_path: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the files."""
        return tuple(file.path for file in self.files)


def list_files(
    root: Path,
    exclude: Sequence[str] = (),
    deleted_paths: Iterable[str] = (),
    parent_path: str = "",
    progress: ProgressCallback = ignore_progress,
) -> FileListing:
    """List the files at `root` that git tracks; outside git, all that are not ignored.

    `exclude` has patterns in `.gitignore` syntax; `deleted_paths` are about to be deleted. Both are
    relative to the project, in which `root` is the folder `parent_path`, "a/b/" or "". Links,
    submodules, FIFOs and everything else that is not a regular file are left out.
    """
    omissions: list[MapOmission] = []
    tracked = list_tracked_files(root, lambda: progress(0, 1, STEP_LISTING))
    if tracked is None and find_toplevel(root):
        reason = "git can't list these files: all that are not ignored count"
        omissions.append(MapOmission("", reason))
    listed = _walk_unignored_files(root, omissions) if tracked is None else tracked
    deleted = frozenset(deleted_paths)
    paths = sorted(p for p in listed if _is_candidate(p) and parent_path + p not in deleted)
    if exclude:
        spec = compile_ignore_patterns(exclude)
        paths = [path for path in paths if not spec.match_file(parent_path + path)]
    files = tuple(stat_files(root, _report_progress(paths, progress), omissions))
    return FileListing(root, files, tuple(omissions), parent_path)


def _is_candidate(path: str) -> bool:
    parts = path.split("/")
    return not (
        parts[-1] in INSTRUCTION_FILE_NAMES
        or parts[0] in _AGENT_SETTINGS
        or _CUB_FOLDER in parts
        or ".git" in parts
    )


def _report_progress(paths: Sequence[str], progress: ProgressCallback) -> Iterator[str]:
    for number, path in enumerate(paths):
        if number % _FILES_PER_REPORT == 0:
            progress(number, len(paths), STEP_LISTING)
        yield path
    progress(1, 1, STEP_LISTING)


def stat_files(
    root: Path, paths: Iterable[str], omissions: list[MapOmission]
) -> Iterator[ListedFile]:
    """Yield the regular files; a missing one is deleted, or not in a sparse checkout."""
    base, missing = os.fspath(root), 0
    for path in paths:
        try:
            state = os.lstat(encode_path(base, path))
        except OSError:
            missing += 1
            continue
        if stat.S_ISREG(state.st_mode):
            yield ListedFile(path, state.st_size, state.st_mtime_ns, state.st_ino)
        elif not stat.S_ISLNK(state.st_mode):
            kind = "a directory" if stat.S_ISDIR(state.st_mode) else "not a regular file"
            omissions.append(MapOmission(path, f"left out: it is {kind}"))
    if missing:
        reason = f"tracked files that are not in this checkout: {missing}"
        omissions.append(MapOmission("", reason))


_MAX_GITIGNORE_BYTES = 1_000_000
# Nobody writes a .gitignore in a folder without git.
_SKIPPED_FOLDERS = TOOL_FOLDERS | {".git", ".hg", ".svn"}


class _FolderRules(NamedTuple):
    """Hold the .gitignore of one folder: `prefix` is that folder's path with a slash at the end."""

    prefix: str
    spec: GitIgnoreSpec


def _walk_unignored_files(root: Path, omissions: list[MapOmission]) -> Iterator[str]:
    """Yield paths relative to `root`, folders in no particular order; links are not followed.

    A rule of a deeper .gitignore counts before one of a higher one (gitignore(5)).
    """
    base = os.fspath(root)  # a Path for each folder takes half of the time
    waiting: list[tuple[str, tuple[_FolderRules, ...]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            entries = list(os.scandir(encode_path(base, prefix)))
        except OSError as error:
            reason = f"cannot be listed: {describe_os_error(error)}"
            omissions.append(MapOmission(prefix, reason))
            continue
        if any(e.name == b".gitignore" and e.is_file(follow_symlinks=False) for e in entries):
            rules = (*_read_rules(base, prefix), *rules)
        for entry in entries:
            name = entry.name.decode("utf-8", "surrogateescape")
            path = prefix + name
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules and _is_ignored(path + "/" * is_folder, rules):
                continue
            if not is_folder:
                yield path
            elif name not in _SKIPPED_FOLDERS:
                waiting.append((path + "/", rules))


def _read_rules(base: str, prefix: str) -> tuple[_FolderRules, ...]:
    try:
        data = read_prefix(base, f"{prefix}.gitignore", _MAX_GITIGNORE_BYTES)
    except OSError:
        return ()
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    return (_FolderRules(prefix, compile_ignore_patterns(lines)),)


def _is_ignored(path: str, rules: tuple[_FolderRules, ...]) -> bool:
    verdicts = (rule.spec.check_file(path.removeprefix(rule.prefix)).include for rule in rules)
    return next((verdict for verdict in verdicts if verdict is not None), False)


def compile_ignore_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """Compile the lines that are patterns; git skips the others, too."""
    return compile_valid_patterns([line for line in lines if is_valid_ignore_pattern(line)])


def is_valid_ignore_pattern(line: str) -> bool:
    """Return whether a line can be compiled; an empty one and a comment match nothing."""
    try:
        compile_valid_patterns([line])
    except ValueError:
        return False
    return True


def compile_valid_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """Compile lines all of which are patterns. Raises ValueError for one that is not."""
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():  # Python warns of brackets that it may read differently later
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return GitIgnoreSpec.from_lines(lines)
        except re.error as error:  # of a range such as [z-a]
            raise ValueError(*error.args) from error


_MAX_READ_BYTES = 20_000_000  # every caller needs far less
_BEGIN, _END = b"<!-- BEGIN CUB MANAGED SECTION", b"END CUB MANAGED SECTION -->"


def read_listed_file(base: str, path: str) -> bytes:
    """Read a file of the listing below the folder `base`, without cub's sections; raise OSError.

    So a README that AGENTS.md links to says the same before and after `cub init`.
    """
    data = read_prefix(base, path, _MAX_READ_BYTES)
    pieces, at = [], 0
    while (end := data.find(_END, at)) >= 0:
        after, start = end + len(_END), data.rfind(_BEGIN, at, end)
        pieces.append(data[at : after if start < 0 else start])
        at = after
    return b"".join((*pieces, data[at:]))
