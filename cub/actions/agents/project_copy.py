"""Copy what agents read of a project, to where they may write.

The copy is below folders with the names that those of the project have, and with the instruction
files in them: agents read those, too. It is a repository without commits, if the project is in one.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cub.actions.section_specs import ROOT_FILES
from cub.agent_profiles.claude import CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE
from cub.agent_profiles.codex import CODEX_OVERRIDE
from cub.agent_profiles.profiles import find_profile
from cub.config_edit.string_list import edit_string_list, read_string_list
from cub.errors import CubError
from cub.git.worktree import find_toplevel
from cub.project.executable_config import (
    READING_LISTS,
    find_agent_files,
    iter_project_files,
    read_file_lists,
)
from cub.project.trust_store import TrustedCommands

_INSTRUCTION_FILES = (*ROOT_FILES, CLAUDE_LOCAL_FILE, CLAUDE_FOLDER_FILE, CODEX_OVERRIDE)
_MAX_FILES = 10_000  # those of the upper folders come first
_MAX_BYTES = 1 << 20  # of a file


class ProjectCopy(NamedTuple):
    """Hold where a copy of a project is, below `base`; its files, and those of folders above it.

    `left_out` are the files that it lacks, at least in part, because they run something.
    """

    base: Path
    root: Path
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def copy_project(
    root: Path, folder: Path, home: Path | None, trusted: TrustedCommands | None
) -> ProjectCopy:
    """Copy the project at `root` into the empty `folder`.

    Files that agents execute are copied only if they are `trusted`; None for all of them. Of other
    settings, only the lists of files to read are. The user's `home` has instructions for all
    projects, which are not copied.
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
    for path in iter_project_files(root, _MAX_FILES):
        files.append(target / path)
        _copy_entry(root, path.rstrip("/"), target)
    if trusted is not None:
        _remove_untrusted(target, trusted)
    for path in READING_LISTS:
        with suppress(CubError, OSError):
            _move_names(path, root, folder, target)
    left_out = sorted(
        file.path
        for file in find_agent_files(root)
        if (trusted and trusted.explain_untrusted(file)) or not (target / file.path).exists()
    )
    return ProjectCopy(folder, target, tuple(filter(Path.is_file, files)), tuple(left_out))


def _remove_untrusted(target: Path, trusted: TrustedCommands) -> None:
    """Remove files of a copy, by what was copied: the project may have changed since."""
    for file in filter(trusted.explain_untrusted, find_agent_files(target)):
        (target / file.path).unlink()
        if lists := read_file_lists(file):
            (target / file.path).write_text(json.dumps(lists), encoding="utf-8")  # JSON is YAML


def _move_names(path: str, root: Path, folder: Path, target: Path) -> None:
    """Have a list of files name those of the copy where it has whole paths of the project."""
    data, location = (target / path).read_bytes(), READING_LISTS[path]
    starts = "/" if "claudeMdExcludes" in location.keys else f"{root.as_posix()}/"
    names = read_string_list(data, location) or ()
    moved = {name: folder.as_posix() + name for name in names if name.startswith(starts)}
    if moved:
        data = edit_string_list(data, location, [*moved.values()], removed_texts=[*moved])
        (target / path).write_bytes(data)


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
