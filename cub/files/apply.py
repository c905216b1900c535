"""Apply a plan, all of it or nothing, after checking everything that can be seen to fail."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, InternalError, raise_all
from cub.files import journal
from cub.files.disk import Disk
from cub.files.journal import (
    JOURNAL_FILE,
    Journal,
    JournalStep,
    find_error_path,
    make_incomplete_error,
)
from cub.files.lock import ProjectLock
from cub.files.read_files import (
    find_regular_file,
    make_os_error,
    read_file,
    read_link_text,
    require_writable,
    resolve_path,
)
from cub.files.recovery import finish_change, undo_change
from cub.text import describe_os_error

_LONGEST = 50  # characters of a name that are in that of a temporary file: 255 bytes are allowed


def apply_plan(plan: Plan, lock: ProjectLock, disk: Disk | None = None) -> None:
    """Carry out `plan` in the project whose lock is held.

    Raises CubError, with every file as it was, if a file has changed since it was planned for,
    may not be written, or the disk refuses.
    """
    lock.require_held()
    disk = disk or Disk()
    if plan.is_empty:
        return
    steps = _steps(plan, lock.root, disk)
    left = finish_change(_prepare_journal(plan, lock.root, steps, disk))
    if left:
        raise CubError("changed while cub was writing: left as it is", where=left[0].path)


def require_applicable(plan: Plan, lock: ProjectLock, disk: Disk | None = None) -> None:
    """Raise CubError if `plan` can be seen to fail now; write nothing."""
    _steps(plan, lock.root, disk or Disk())


def _steps(plan: Plan, root: Path, disk: Disk) -> list[JournalStep]:
    """Return the step of each edit, after the checks that prevent a half-done change."""
    steps = [_step(edit, root) for edit in plan.edits]
    if len({step.target for step in steps}) < len(steps):
        raise InternalError("two edits of one file in one plan")
    require_changeable(root, steps, disk)
    return steps


def _step(edit: FileEdit, root: Path) -> JournalStep:
    if edit.is_link:
        return _make_unlink_step(edit, root)
    real = find_regular_file(root, edit.path)
    _guard(edit, root)
    target = real or Path(os.path.realpath(root / edit.path))
    # A file with another name would lose it, and a mount point can't be renamed over.
    linked = real is not None and (real.stat().st_nlink > 1 or os.path.ismount(real))
    temp = "" if edit.after is None else _make_temp_name(target, root)
    keep = "" if edit.before is None else _make_temp_name(target, root)
    names = (edit.path, target.relative_to(root).as_posix(), temp)
    marks = journal.hash_content(edit.before), journal.hash_content(edit.after)
    if edit.after is None:
        return JournalStep("delete", *names, *marks, keep=keep)
    if linked:
        return JournalStep(
            "overwrite", *names, *marks, undo=journal.encode_undo(edit.before or b"")
        )
    return JournalStep("rename", *names, *marks, keep=keep)


def _make_unlink_step(edit: FileEdit, root: Path) -> JournalStep:
    """Make the step that deletes a link itself; links are followed only in the folder around it."""
    if edit.after is not None:
        raise InternalError("a link can only be deleted", where=edit.path)
    _guard(edit, root)
    folder, _, name = edit.path.rpartition("/")
    target = root / resolve_path(root, folder) / name
    names = (edit.path, target.relative_to(root).as_posix(), "")
    marks = journal.hash_content(edit.before), journal.hash_content(edit.after)
    return JournalStep("unlink", *names, *marks, keep=_make_temp_name(target, root))


def _make_temp_name(target: Path, root: Path) -> str:
    """Return a new name in the folder of a file, within the length limit of names."""
    name = f".{target.name[:_LONGEST]}.cub-{secrets.token_hex(4)}.tmp"
    return target.with_name(name).relative_to(root).as_posix()


def _guard(edit: FileEdit, root: Path) -> None:
    now = read_link_text(root, edit.path) if edit.is_link else read_file(root, edit.path)
    if now != edit.before:
        raise CubError(
            "changed since cub read it; nothing was written",
            where=edit.path,
            hint="run the command again",
        )


def _new_folders(plan: Plan, root: Path) -> list[str]:
    """Return the folders that edits need and that do not exist yet, outermost first."""
    parents = {
        parent.as_posix()
        for edit in plan.edits
        if edit.after is not None
        for parent in PurePosixPath(edit.path).parents
    }
    return sorted(parent for parent in parents if not (root / parent).exists())


def _prepare_journal(plan: Plan, root: Path, steps: list[JournalStep], disk: Disk) -> Journal:
    """Write and sync everything beside its target, and commit; take it all back on any failure."""
    try:
        begun = journal.begin_journal(root, steps, _new_folders(plan, root), disk)
    except OSError as error:
        raise make_os_error(error, JOURNAL_FILE, "cannot be written") from error
    try:
        _prepare(plan, begun)
        return begun.commit()
    except OSError as error:
        _undo(begun, error)
        raise make_os_error(
            error, find_error_path(begun, error) or JOURNAL_FILE, "cannot be written"
        ) from error
    except BaseException:
        undo_change(begun)
        raise


def _prepare(plan: Plan, begun: Journal) -> None:
    root, disk = begun.root, begun.disk
    for folder in begun.folders:
        disk.make_folder(root / folder)
    for edit, step in zip(plan.edits, begun.steps, strict=True):
        target = root / step.target
        if step.action == "rename" and step.keep:
            _keep(target, root / step.keep, edit.before or b"", disk)
        if edit.after is not None:
            disk.create(root / step.temp, edit.after, None if edit.before is None else target)
    _sync_names(begun)
    for edit in plan.edits:
        _guard(edit, root)


def _keep(target: Path, keep: Path, before: bytes, disk: Disk) -> None:
    """Have the old file under a second name; a copy of it where there are no hard links."""
    try:
        disk.link(target, keep)
    except OSError:
        disk.create(keep, before, target)


def _undo(begun: Journal, error: OSError) -> None:
    try:
        undo_change(begun)
    except OSError as second:
        raise make_incomplete_error(begun, error, second) from error


def _sync_names(begun: Journal) -> None:
    """Sync what the commit relies on: the commit must not be on disk before it."""
    made = [name for step in begun.steps for name in (step.temp, step.keep) if name]
    for folder in sorted({(begun.root / name).parent for name in (*made, *begun.folders)}):
        begun.disk.sync_folder(folder)


def require_changeable(root: Path, steps: Sequence[JournalStep], disk: Disk) -> None:
    """Raise CubError, naming all obstacles, if files or folders may not be changed."""
    folders = {(root / JOURNAL_FILE).parent: JOURNAL_FILE}
    for step in steps:
        folders.setdefault((root / step.target).parent, step.path)
    closed = {
        folder: error
        for folder, path in folders.items()
        if (error := _caught(_require_folder, root, folder, path, disk))
    }
    faults = [
        error
        for step in steps
        if step.before and (root / step.target).parent not in closed
        if (error := _caught(_require_file, root / step.target, step, disk))
    ]
    raise_all([*closed.values(), *faults])


def _caught(look: Callable[..., None], *arguments: object) -> CubError | None:
    try:
        look(*arguments)
    except CubError as error:
        return error
    return None


def _require_file(target: Path, step: JournalStep, disk: Disk) -> None:
    try:
        if step.action != "overwrite":
            disk.try_replace(target)
        if step.action != "unlink":
            _try_write(target, disk)
            require_writable(target, step.path)
    except OSError as error:
        raise CubError(
            f"this may not be changed: {describe_os_error(error)}; nothing was written",
            where=step.path,
            hint="see who owns it, and whether it is append-only or immutable (lsattr), "
            "then run the command again",
        ) from error


def _try_write(target: Path, disk: Disk) -> None:
    try:
        disk.try_write(target)
    except OSError as error:
        if error.errno != errno.EACCES:  # a mode is looked at next, and has a hint of its own
            raise


def _require_folder(root: Path, folder: Path, path: str, disk: Disk) -> None:
    """Look at a folder, or at the first one around it that is there."""
    while not folder.exists():
        folder = folder.parent
    try:
        disk.try_change_folder(folder)
    except OSError as error:
        name = os.path.relpath(folder, root).replace(os.sep, "/")
        raise CubError(
            f"its folder may not be changed: {describe_os_error(error)}; nothing was written",
            where=path,
            hint=f"make the folder {name} writable, then run the command again",
        ) from error
