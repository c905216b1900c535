"""Copy what agents read of a project, to where they may write.

The copy is below folders with the names that those of the project have, and with the instruction
files in them: agents read those, too. It is a repository without commits, if the project is in one.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.section_specs import ROOT_FILES
from cub.agent_profiles.claude import CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE
from cub.agent_profiles.codex import CODEX_OVERRIDE
from cub.agent_profiles.profiles import NAMED_PROFILES, find_profile
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.errors import CubError
from cub.git.tool_artifacts import TOOL_FOLDERS
from cub.git.worktree import find_toplevel
from cub.project.executable_config import classify_executable_path

_INSTRUCTION_FILES = (*ROOT_FILES, CLAUDE_LOCAL_FILE, CLAUDE_FOLDER_FILE, CODEX_OVERRIDE)
# Their own tools, hooks and plugins are in there, and more with each version.
_AGENT_FOLDERS = frozenset((".agents", *(one.folder for one in NAMED_PROFILES if one.folder)))
_EXCLUDING_FILES = (".claude/settings.json", ".claude/settings.local.json")
_AGENT_KINDS = ("agent file", "agent setting")
_CUB_FOLDERS = ("runs", "worktrees", "backups", "logs")
_MAX_FILES = 10_000  # those of the upper folders come first
_MAX_BYTES = 1 << 20  # of a file


class ProjectCopy(NamedTuple):
    """Hold where a copy of a project is, below `base`; its files, and those of folders above it.

    `left_out` are the files that it lacks because they run something.
    """

    base: Path
    root: Path
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def copy_project(root: Path, folder: Path, home: Path | None, *, is_trusted: bool) -> ProjectCopy:
    """Copy the project at `root` into the empty `folder`.

    Settings of agents in which the project could have them execute something are copied only if it
    is trusted; if not, only the files that they list to be read are. The user's `home` has
    instructions for all projects, which are not copied.
    """
    target = folder.joinpath(*root.parts[1:])
    files = []
    for parent in root.parents:
        copied = folder.joinpath(*parent.parts[1:])
        for name in _INSTRUCTION_FILES:
            if not (parent == home and "/" in name):
                _copy_file(parent / name, copied / name)
                files.append(copied / name)
    target.mkdir(parents=True, exist_ok=True)
    if toplevel := find_toplevel(root):
        _make_repository(folder.joinpath(*toplevel.parts[1:], ".git"))
    left_out = []
    for path in _iter_paths(root):
        files.append(target / path)
        if is_trusted or not _is_executable(root, path):
            _copy_entry(root, path, target)
        elif not _copy_reading_list(root, path, target):
            left_out.append(path)
    files = [path for path in files if path.is_file()]
    return ProjectCopy(folder, target, tuple(files), tuple(sorted(left_out)))


def _iter_paths(root: Path) -> Iterator[str]:
    """Yield the files and links of a project, folder by folder, the root first."""
    folders, count = deque([""]), 0
    while folders and count < _MAX_FILES:
        folder = folders.popleft()
        with suppress(OSError):
            for entry in sorted(os.scandir(root / folder), key=lambda entry: entry.name):
                path = f"{folder}{entry.name}"
                if not entry.is_dir(follow_symlinks=False):
                    count += 1
                    yield path
                elif not _is_skipped(folder, entry.name):
                    folders.append(f"{path}/")


def _is_skipped(folder: str, name: str) -> bool:
    return name == ".git" or name in (_CUB_FOLDERS if folder == ".cub/" else TOOL_FOLDERS)


def _is_executable(root: Path, path: str) -> bool:
    """Return whether a file, or what a link leads to, may have an agent execute something."""
    is_folder = (root / path).is_symlink() and (root / path).is_dir()
    is_own = not path.endswith(".md") and not _AGENT_FOLDERS.isdisjoint(path.split("/"))
    return is_own or classify_executable_path(f"{path}/" if is_folder else path) in _AGENT_KINDS


def _copy_entry(root: Path, path: str, target: Path) -> None:
    source = root / path
    if source.name.startswith(".env"):  # agents read their addresses and keys from it
        return
    if source.is_symlink() and Path(os.path.realpath(source)).is_relative_to(root):
        text = os.readlink(source)  # noqa: PTH115 - the text itself
        if not Path(text).is_absolute():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).symlink_to(text)
            return
    _copy_file(source, target / path)


def _copy_file(source: Path, target: Path) -> None:
    with suppress(OSError):
        state = source.stat()
        if stat.S_ISREG(state.st_mode) and state.st_size <= _MAX_BYTES:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _copy_excludes(root: Path, path: str, target: Path) -> bool:
    """Write Claude Code's settings with the files that it leaves out alone; False if none are."""
    try:
        names = json.loads((root / path).read_bytes()).get("claudeMdExcludes")
    except (OSError, ValueError, AttributeError):
        return False
    if not isinstance(names, list):
        return False
    # A pattern of a whole path means the file in the copy.
    old, new = root.as_posix(), target.as_posix()
    kept = [name.replace(old, new) for name in names if isinstance(name, str)]
    (target / path).parent.mkdir(parents=True, exist_ok=True)
    (target / path).write_text(json.dumps({"claudeMdExcludes": kept}), encoding="utf-8")
    return True


def _copy_reading_list(root: Path, path: str, target: Path) -> bool:
    """Write the settings file of an agent with the files to read alone; False if it has none."""
    if path in _EXCLUDING_FILES:
        return _copy_excludes(root, path, target)
    for reading in filter(None, (profile.reading_list for profile in NAMED_PROFILES)):
        if path in reading.files:
            try:
                location = ListLocation(path, reading.keys, reading.format)
                names = read_string_list((root / path).read_bytes(), location)
            except (OSError, CubError):
                names = None
            if names is None:
                return False
            tree: Any = list(names)
            for key in reversed(reading.keys):
                tree = {key: tree}
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(json.dumps(tree), encoding="utf-8")  # JSON is YAML
            return True
    return False


def _make_repository(folder: Path) -> None:
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")


def list_user_settings(agent: str, environ: Mapping[str, str]) -> list[str]:
    """Return what an agent reads outside of a project: variables, and files of the user and of the
    machine.
    """
    profile = find_profile(agent)
    names = (*profile.outside, *(f"~/{name.rstrip('/*')}" for name in profile.user_files))
    home = environ.get("HOME", "")
    found = {
        name: environ.get(name.removeprefix("$"))
        if name.startswith("$")
        else Path(name.replace("~", home, 1)).exists()
        for name in names
        if home or not name.startswith("~")
    }
    return [name for name, is_there in found.items() if is_there]
