"""Apply a plan, all of it or nothing, after checking everything that can be seen to fail."""

from __future__ import annotations

import errno
import os
import secrets
from base64 import b64encode
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
from cub.files.temporary_files import MAX_NAME_CHARS
from cub.text import describe_os_error


def apply_plan(plan: Plan, lock: ProjectLock, disk: Disk | None = None) -> None:
    """Carry out `plan` in the project whose lock is held.

    Raises CubError, with every file as it was, if a file has changed since it was planned for,
    may not be written, or the disk refuses.
    """
    lock.require_held()
    disk = disk or Disk()
    if plan.is_empty:
        return
    steps = _make_steps(plan, lock.root, disk)
    unwritten = finish_change(_prepare_journal(plan, lock.root, steps, disk))
    if unwritten:
        raise CubError("changed while cub was writing: left as it is", where=unwritten[0].path)


def require_applicable(plan: Plan, lock: ProjectLock) -> None:
    """Raise CubError if `plan` can be seen to fail now; write nothing."""
    _make_steps(plan, lock.root, Disk())


def _make_steps(plan: Plan, root: Path, disk: Disk) -> list[JournalStep]:
    """Return the step of each edit, after the checks that prevent a half-done change."""
    steps = [_make_step(edit, root) for edit in plan.edits]
    if len({step.target for step in steps}) < len(steps):
        raise InternalError("two edits of one file in one plan")
    require_changeable(root, steps, disk)
    return steps


def _make_step(edit: FileEdit, root: Path) -> JournalStep:
    if edit.is_link:
        return _make_unlink_step(edit, root)
    real = find_regular_file(root, edit.path)
    _require_unchanged(edit, root)
    target = real or Path(os.path.realpath(root / edit.path))
    # A file with another name would lose it, and a mount point can't be renamed over.
    is_shared = real is not None and (real.stat().st_nlink > 1 or os.path.ismount(real))
    temp = "" if edit.after is None else _make_temp_name(target, root)
    keep = "" if edit.before is None else _make_temp_name(target, root)
    names = (edit.path, target.relative_to(root).as_posix(), temp)
    digests = journal.hash_content(edit.before), journal.hash_content(edit.after)
    if edit.after is None:
        return JournalStep("delete", *names, *digests, keep=keep)
    if is_shared and edit.is_executable is not None:
        raise CubError(
            "its mode can't be changed: the file has another name, or is a mount point",
            where=edit.path,
            hint=f"`chmod` it, or copy it: `cp {edit.path} new; mv new {edit.path}`",
        )
    if is_shared:
        undo = b64encode(edit.before or b"").decode()
        return JournalStep("overwrite", *names, *digests, undo=undo)
    return JournalStep("rename", *names, *digests, keep=keep)


def _make_unlink_step(edit: FileEdit, root: Path) -> JournalStep:
    """Make the step that deletes a link itself; only links to its folder are followed."""
    if edit.after is not None:
        raise InternalError("a link can only be deleted", where=edit.path)
    _require_unchanged(edit, root)
    folder, _, name = edit.path.rpartition("/")
    target = root / resolve_path(root, folder) / name
    names = (edit.path, target.relative_to(root).as_posix(), "")
    digests = journal.hash_content(edit.before), journal.hash_content(edit.after)
    return JournalStep("unlink", *names, *digests, keep=_make_temp_name(target, root))


def _make_temp_name(target: Path, root: Path) -> str:
    """Return a new name in the folder of a file, within the length limit of names."""
    name = f".{target.name[:MAX_NAME_CHARS]}.cub-{secrets.token_hex(4)}.tmp"
    return target.with_name(name).relative_to(root).as_posix()


def _require_unchanged(edit: FileEdit, root: Path) -> None:
    content = read_link_text(root, edit.path) if edit.is_link else read_file(root, edit.path)
    if content != edit.before:
        raise CubError(
            "changed since cub read it; nothing was written",
            where=edit.path,
            hint="run the command again",
        )


def _list_new_folders(plan: Plan, root: Path) -> list[str]:
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
        change = journal.begin_journal(root, steps, _list_new_folders(plan, root), disk)
    except OSError as error:
        raise make_os_error(error, JOURNAL_FILE, "cannot be written") from error
    try:
        _prepare_files(plan, change)
        return change.commit()
    except OSError as error:
        _undo_prepared(change, error)
        where = find_error_path(change, error) or JOURNAL_FILE
        raise make_os_error(error, where, "cannot be written") from error
    except BaseException:
        undo_change(change)
        raise


def _prepare_files(plan: Plan, change: Journal) -> None:
    root, disk = change.root, change.disk
    for folder in change.folders:
        disk.make_folder(root / folder)
    for edit, step in zip(plan.edits, change.steps, strict=True):
        target = root / step.target
        if step.action == "rename" and step.keep:
            _keep_old_file(target, root / step.keep, edit.before or b"", disk)
        if edit.after is not None:
            like = None if edit.before is None else target
            disk.create(root / step.temp, edit.after, like, edit.is_executable)
    _sync_names(change)
    for edit in plan.edits:
        _require_unchanged(edit, root)


def _keep_old_file(target: Path, keep: Path, before: bytes, disk: Disk) -> None:
    """Give the old file a second name, or copy it if there are no hard links."""
    try:
        disk.link(target, keep)
    except OSError:
        disk.create(keep, before, target)


def _undo_prepared(change: Journal, error: OSError) -> None:
    try:
        undo_change(change)
    except OSError as second:
        raise make_incomplete_error(change, error, second) from error


def _sync_names(change: Journal) -> None:
    """Sync the names that the commit relies on, before the commit is on disk."""
    names = [name for step in change.steps for name in (step.temp, step.keep) if name]
    for folder in sorted({(change.root / name).parent for name in (*names, *change.folders)}):
        change.disk.sync_folder(folder)


def require_changeable(root: Path, steps: Sequence[JournalStep], disk: Disk) -> None:
    """Raise CubError, naming all obstacles, if files or folders may not be changed."""
    folders = {(root / JOURNAL_FILE).parent: JOURNAL_FILE}
    for step in steps:
        folders.setdefault((root / step.target).parent, step.path)
    folder_errors = {
        folder: error
        for folder, path in folders.items()
        if (error := _catch_error(_require_folder, root, folder, path, disk))
    }
    file_errors = [
        error
        for step in steps
        if step.before and (root / step.target).parent not in folder_errors
        if (error := _catch_error(_require_file, root / step.target, step, disk))
    ]
    raise_all([*folder_errors.values(), *file_errors])


def _catch_error(check: Callable[..., None], *arguments: object) -> CubError | None:
    try:
        check(*arguments)
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
        if error.errno != errno.EACCES:  # the mode is checked next, with its own hint
            raise


def _require_folder(root: Path, folder: Path, path: str, disk: Disk) -> None:
    """Check a folder, or the nearest one around it that exists."""
    while not folder.exists():
        folder = folder.parent
    try:
        disk.try_change_folder(folder)
    except OSError as error:
        name = os.path.relpath(folder, root).replace(os.sep, "/")
        raise CubError(
            f"its directory may not be changed: {describe_os_error(error)}; nothing was written",
            where=path,
            hint=f"make the directory {name} writable, then run the command again",
        ) from error
