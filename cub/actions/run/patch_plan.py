"""Plan to write the patch of a failed attempt into the working tree: all of its files, or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from shlex import quote

from cub.actions.run.past_attempts import PastAttempt
from cub.actions.run.run_folders import PATCH_FILE
from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, raise_all
from cub.files.read_files import read_link_text
from cub.git.objects import LINK_MODE, SUBMODULE_MODE
from cub.git.patched_files import PROGRAM_MODE, PatchedFile, read_patched_files
from cub.git.worktree import get_file_type, require_repository
from cub.project.project import Project


def read_patch(attempt: PastAttempt) -> bytes:
    """Return the patch that an attempt left. Raises CubError if there is none."""
    if (file := attempt.open_file(PATCH_FILE)) is None:
        task, number = attempt.event["task"], attempt.event["n"]
        hint = "only a failed attempt that changed something leaves one, where it ran"
        raise CubError(f"attempt {number} at {task} has left no patch here", hint=hint)
    with file:
        return file.read()


def plan_patch(project: Project, attempt: PastAttempt) -> Plan:
    """Plan the changes of a failed attempt.

    Raises CubError, and names all files, if one of them is not what HEAD has or does not fit the
    patch.
    """
    patch, toplevel = read_patch(attempt), require_repository(project.root)
    hint = (
        f"`git -C {quote(str(toplevel))} apply --3way {quote(str(attempt.root / attempt.patch))}`"
    )
    files = read_patched_files(toplevel, patch, hint=f"{hint} merges what fits")
    edits, errors = list[FileEdit](), list[CubError]()
    for file in files:
        try:
            edits.append(_make_edit(project.root, toplevel, file, hint))
        except CubError as error:
            errors.append(error)
    raise_all(errors)
    return Plan(tuple(edits))


def _make_edit(root: Path, toplevel: Path, file: PatchedFile, hint: str) -> FileEdit:
    full = toplevel / file.path
    if not full.is_relative_to(root):
        raise CubError("this is outside of the project", where=file.path, hint=hint)
    path = full.relative_to(root).as_posix()
    if file.new_mode == LINK_MODE or SUBMODULE_MODE in (file.old_mode, file.new_mode):
        what = "a symbolic link" if file.new_mode == LINK_MODE else "a submodule"
        raise CubError(f"the patch makes {what} here, which cub can't", where=path, hint=hint)
    if not file.old_mode and os.path.lexists(full):
        raise CubError(
            "the patch makes this file, and it is there", where=path, hint="move it away"
        )
    is_link = file.old_mode == LINK_MODE
    if file.old_mode and _read_entry(root, toplevel, file, path) != file.before:
        hint = "commit it, or put it away with `git stash`"
        raise CubError("this has changes that are not committed", where=path, hint=hint)
    if is_link and file.new_mode:
        raise CubError("the patch replaces a symbolic link", where=path, hint=hint)
    was, is_ = file.old_mode == PROGRAM_MODE, file.new_mode == PROGRAM_MODE
    is_executable = is_ if file.new_mode and was != is_ else None
    reason = "" if is_executable is None or not file.old_mode else "its mode changes"
    return FileEdit(
        path, file.before, file.after, reason, is_link=is_link, is_executable=is_executable
    )


def _read_entry(root: Path, toplevel: Path, file: PatchedFile, path: str) -> bytes | None:
    """Return what is on disk, if it is of the kind that HEAD has; None if it is not."""
    kind = stat.S_IFLNK if file.old_mode == LINK_MODE else stat.S_IFREG
    if get_file_type(toplevel, file.path) != kind:
        return None
    return read_link_text(root, path) if kind == stat.S_IFLNK else (root / path).read_bytes()
