"""Finish or undo a change, from wherever it stopped: all files new, or all old."""

from __future__ import annotations

import errno
import os
from base64 import b64decode
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.journal import (
    JOURNAL_FILE,
    Journal,
    JournalStep,
    find_error_path,
    hash_content,
    load_journal,
    make_incomplete_error,
    set_journal_aside,
)
from cub.files.read_files import make_os_error, read_link_text
from cub.text import describe_os_error


class RolledBackError(CubError):
    """Report that the disk refused a change after its commit, and that every file is as it was."""


def recover_change(root: Path, disk: Disk) -> list[PlanWarning]:
    """End an interrupted change: undo it, or carry it out if it was committed.

    A file that was changed since stays as it is, and a warning names it. A journal that cub didn't
    write here is set aside.
    """
    if not os.path.lexists(root / JOURNAL_FILE):
        return []
    try:
        journal = load_journal(root, disk)
        return _end_journal(journal) if journal else [set_journal_aside(root, disk)]
    except OSError as error:
        raise make_os_error(error, JOURNAL_FILE, "an interrupted change can't be ended") from error


def _end_journal(journal: Journal) -> list[PlanWarning]:
    if journal.stage == "begun":
        undo_change(journal)
        return [PlanWarning("undid a change that was interrupted", JOURNAL_FILE)]
    if journal.stage == "taken back":
        left = _restore_all(journal)
        return [
            PlanWarning("undid a change that was interrupted", JOURNAL_FILE),
            *map(_warn_left_alone, left),
        ]
    try:
        changed = finish_change(journal)
    except RolledBackError as error:
        what = f"undid a change that was interrupted: {error.message}"
        return [PlanWarning(what, error.where, hint="; ".join(error.details))]
    return [
        PlanWarning("finished a change that was interrupted", JOURNAL_FILE),
        *map(_warn_left_alone, changed),
    ]


def _describe_left_alone(step: JournalStep) -> str:
    old = f"; its old text is in {step.keep}" if step.keep else ""
    return f"{step.path} was changed in the meantime, and stays{old}"


def _warn_left_alone(step: JournalStep) -> PlanWarning:
    hint = f"its old text is in {step.keep}" if step.keep else ""
    return PlanWarning("changed since cub was interrupted: left as it is", step.path, hint=hint)


def undo_change(journal: Journal, excluded_paths: Collection[str] = ()) -> None:
    """Remove what was prepared: temporary files, new folders, the journal."""
    _remove_temps(journal, excluded_paths)
    for folder in reversed(journal.folders):
        journal.disk.remove_folder(journal.root / folder)
    journal.remove()


def finish_change(journal: Journal) -> list[JournalStep]:
    """Carry out a committed change, from wherever it stopped.

    Returns the steps of files with neither old nor new bytes, which are left alone. If the disk
    refuses, restores all files and raises RolledBackError.
    """
    try:
        left = [step for step in _sort_steps(journal.steps) if not _carry_out(journal, step)]
        _sync_targets(journal)
    except OSError as error:
        _roll_back(journal, error)
    try:
        _remove_temps(journal)
        _remove_empty_folders(journal)
        journal.remove()
    except OSError as error:
        raise CubError(
            f"everything is written, but cleaning up failed: {describe_os_error(error)}",
            where=find_error_path(journal, error) or JOURNAL_FILE,
            hint="fix the problem; the next command that writes cleans up first",
        ) from error
    return [replace(step, keep="") for step in left]


def _roll_back(journal: Journal, error: OSError) -> None:
    """Undo a change after its commit, and raise the error that is the reason."""
    where = find_error_path(journal, error) or "."
    if any(_is_lost(journal, step) for step in journal.steps):
        raise CubError(
            f"interrupted: {describe_os_error(error)}",
            where=where,
            hint="fix the problem, then run any command that writes: it completes the change",
        ) from error
    try:
        left = _restore_all(journal.revoke())
    except OSError as second:
        raise make_incomplete_error(journal, error, second) from error
    failure = make_os_error(error, where, "cannot be written")
    details = [_describe_left_alone(step) for step in left]
    raise RolledBackError(
        failure.message, where=where, hint=failure.hint, details=details
    ) from error


def _restore_all(journal: Journal) -> list[JournalStep]:
    """Restore every file except those that were changed since, and return the steps of these.

    Their old files stay as well.
    """
    left = [step for step in reversed(_sort_steps(journal.steps)) if not _restore(journal, step)]
    _sync_targets(journal)
    left = [step if _is_kept(journal, step) else replace(step, keep="") for step in left]
    undo_change(journal, {step.keep for step in left})
    return left


def _sort_steps(steps: Sequence[JournalStep]) -> list[JournalStep]:
    """Return the steps in the order in which they are carried out.

    Overwriting comes first, as it takes space and is the likeliest to fail. A link goes before the
    file that it leads to, so that it never dangles.
    """
    rank = {"overwrite": 0, "rename": 1, "unlink": 2, "delete": 3}
    return sorted(steps, key=lambda step: rank[step.action])


def _carry_out(journal: Journal, step: JournalStep) -> bool:
    """Make one file new, unless it is; False if another process has changed it."""
    actions: dict[str, Callable[[Journal, JournalStep], bool]] = {
        "unlink": _apply_unlink,
        "delete": _apply_delete,
    }
    return actions.get(step.action, _apply_write)(journal, step)


def _apply_write(journal: Journal, step: JournalStep) -> bool:
    target, temp = journal.root / step.target, journal.root / step.temp
    now, new = _read_bytes(target), _read_bytes(temp)
    digest = hash_content(now)
    if target.is_dir() or not (
        digest in (step.before, step.after) or _is_partly_written(journal, step)
    ):
        return False
    if digest == step.after and (new is None or step.before != step.after):
        return True
    if new is None:
        return False
    if step.action == "rename":
        if _try_rename(temp, target, journal.disk):
            return True
        _keep_old_bytes(journal, step)
    journal.disk.overwrite(target, new)
    return True


def _apply_delete(journal: Journal, step: JournalStep) -> bool:
    target = journal.root / step.target
    digest = hash_content(_read_bytes(target))
    if target.is_dir() or digest not in (step.before, step.after):
        return False
    if digest:
        _set_aside(journal, step)
    return True


def _apply_unlink(journal: Journal, step: JournalStep) -> bool:
    """Remove a link itself if it is unchanged; the file that it leads to is not touched."""
    if not os.path.lexists(journal.root / step.target):
        return True
    text = read_link_text(journal.root, step.target)
    if text is None or hash_content(text) != step.before:
        return False
    _set_aside(journal, step)
    return True


def _set_aside(journal: Journal, step: JournalStep) -> None:
    journal.disk.move_aside(journal.root / step.target, journal.root / step.keep)


def _try_rename(temp: Path, target: Path, disk: Disk) -> bool:
    """Rename; False if the target is a mount point, which can only be overwritten."""
    try:
        disk.rename(temp, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _keep_old_bytes(journal: Journal, step: JournalStep) -> None:
    """Copy the old bytes of a file that has to be overwritten in place after all."""
    target, keep = journal.root / step.target, journal.root / step.keep
    if step.keep and _read_old_bytes(journal, step) is None:
        journal.disk.unlink(keep)
        journal.disk.create(keep, target.read_bytes(), target)


def _restore(journal: Journal, step: JournalStep) -> bool:
    """Make one file old again, if cub changed it; False if another process did since."""
    if step.action == "overwrite" or _read_bytes(journal.root / step.temp) is not None:
        return _restore_content(journal, step)
    target, keep = journal.root / step.target, journal.root / step.keep
    is_kept = _is_kept(journal, step)
    if not _is_new(journal, step):
        return not is_kept
    if not step.before:
        journal.disk.unlink(target)
    elif not is_kept:
        return False
    elif not _try_rename(keep, target, journal.disk):
        journal.disk.overwrite(target, keep.read_bytes())
    return True


def _is_new(journal: Journal, step: JournalStep) -> bool:
    """Tell whether a file is as the change makes it."""
    target = journal.root / step.target
    if step.after:
        return hash_content(_read_bytes(target)) == step.after
    return not os.path.lexists(target)


def _is_lost(journal: Journal, step: JournalStep) -> bool:
    """Tell whether a file is new and its old content is gone: the change was being cleaned up."""
    if step.action == "overwrite" or not step.before:
        return False
    return _is_new(journal, step) and not _is_kept(journal, step)


def _is_kept(journal: Journal, step: JournalStep) -> bool:
    """Tell whether the old file exists unchanged under its other name."""
    keep = journal.root / step.keep
    if not step.keep or not os.path.lexists(keep):
        return False
    old = os.fsencode(keep.readlink()) if step.action == "unlink" else _read_bytes(keep)
    return hash_content(old) == step.before


def _restore_content(journal: Journal, step: JournalStep) -> bool:
    """Restore the bytes of a file that was overwritten in place, whole or in part."""
    old = _read_old_bytes(journal, step)
    is_new = hash_content(_read_bytes(journal.root / step.target)) == step.after
    if old is not None and (is_new or _is_partly_written(journal, step)):
        journal.disk.overwrite(journal.root / step.target, old)
    return True


def _read_old_bytes(journal: Journal, step: JournalStep) -> bytes | None:
    """Return the old bytes of a file that is overwritten in place; None if there is no copy."""
    if step.action == "overwrite":
        return b64decode(step.undo)
    target, keep = journal.root / step.target, journal.root / step.keep
    if not target.is_file() or not _is_kept(journal, step) or keep.samefile(target):
        return None
    return keep.read_bytes()


def _is_partly_written(journal: Journal, step: JournalStep) -> bool:
    """Tell whether a file is in a state that an interrupted overwrite or restore leaves.

    Every byte is then the old or the new one of its place.
    """
    now, new = _read_bytes(journal.root / step.target), _read_bytes(journal.root / step.temp)
    old = _read_old_bytes(journal, step)
    if now is None or new is None or old is None:
        return False
    if not min(len(old), len(new)) <= len(now) <= max(len(old), len(new)):
        return False
    return all(now[n : n + 1] in (old[n : n + 1], new[n : n + 1]) for n in range(len(now)))


def _read_bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _sync_targets(journal: Journal) -> None:
    for folder in sorted({(journal.root / step.target).parent for step in journal.steps}):
        if folder.is_dir():
            journal.disk.sync_folder(folder)


def _remove_temps(journal: Journal, excluded_paths: Collection[str] = ()) -> None:
    for step in journal.steps:
        for name in (step.temp, step.keep):
            if name and name not in excluded_paths:
                journal.disk.unlink(journal.root / name)


def _remove_empty_folders(journal: Journal) -> None:
    """Remove folders inside .cub that deletions left empty."""
    for step in journal.steps:
        folder = (journal.root / step.target).parent
        is_deletion = step.action in ("delete", "unlink")
        while is_deletion and journal.root / ".cub" in folder.parents and folder.is_dir():
            journal.disk.remove_folder(folder)
            folder = folder.parent
