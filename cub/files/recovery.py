"""Carrying a change to one of its two ends, from wherever it stopped: all new, or all old."""

from __future__ import annotations

import errno
import os
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
    decode_undo,
    find_error_path,
    hash_content,
    load_journal,
    make_incomplete_error,
    warn_pending_change,
)
from cub.files.read_files import make_os_error, read_link_text
from cub.text import describe_os_error


class RolledBackError(CubError):
    """Report that the disk refused a change after its commit, and that every file is as it was."""


def recover_change(root: Path, disk: Disk) -> list[PlanWarning]:
    """End an interrupted change: undo it, or carry it out if it was committed.

    A file that somebody changed since stays as it is and is named in a warning.
    """
    if not warn_pending_change(root):
        return []
    try:
        return _end_journal(load_journal(root, disk))
    except OSError as error:
        raise make_os_error(error, JOURNAL_FILE, "an interrupted change can't be ended") from error


def _end_journal(journal: Journal) -> list[PlanWarning]:
    if journal.stage == "begun":
        undo_change(journal)
        return [PlanWarning("undid a change that was interrupted", JOURNAL_FILE)]
    if journal.stage == "taken back":
        left = _roll_back_step(journal)
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


def _left_text(step: JournalStep) -> str:
    kept = f"; its old text is in {step.keep}" if step.keep else ""
    return f"{step.path} was changed meanwhile, and stays{kept}"


def _warn_left_alone(step: JournalStep) -> PlanWarning:
    hint = f"its old text is in {step.keep}" if step.keep else ""
    return PlanWarning("changed since cub was interrupted: left as it is", step.path, hint=hint)


def undo_change(journal: Journal, excluded_paths: Collection[str] = ()) -> None:
    """Remove what was prepared: temporary files, new folders, the journal."""
    _drop_temps(journal, excluded_paths)
    for folder in reversed(journal.folders):
        journal.disk.remove_folder(journal.root / folder)
    journal.remove()


def finish_change(journal: Journal) -> list[JournalStep]:
    """Carry out a committed change, from wherever it stopped.

    Returns the steps whose files hold neither old nor new bytes: those are left alone. Where the
    disk refuses, what was done is taken back: TakenBackError.
    """
    try:
        left = [step for step in _in_order(journal.steps) if not _carry_out(journal, step)]
        _sync_targets(journal)
    except OSError as error:
        _roll_back(journal, error)
    try:
        _clean_up(journal)
    except OSError as error:
        raise CubError(
            f"everything is written, but cleaning up failed: {describe_os_error(error)}",
            where=find_error_path(journal, error) or JOURNAL_FILE,
            hint="mend that; the next command that writes cleans up first",
        ) from error
    return [replace(step, keep="") for step in left]


def _roll_back(journal: Journal, error: OSError) -> None:
    """Undo a change after its commit, and raise what that was done for."""
    where = find_error_path(journal, error) or "."
    if any(_is_lost(journal, step) for step in journal.steps):
        raise CubError(
            f"interrupted: {describe_os_error(error)}",
            where=where,
            hint="mend that and run any command that writes: it finishes what was begun",
        ) from error
    try:
        left = _roll_back_step(journal.revoke())
    except OSError as second:
        raise make_incomplete_error(journal, error, second) from error
    told = make_os_error(error, where, "cannot be written")
    details = [_left_text(step) for step in left]
    raise RolledBackError(told.message, where=where, hint=told.hint, details=details) from error


def _roll_back_step(journal: Journal) -> list[JournalStep]:
    """Make every file what it was, but for those that somebody else has changed since: they stay,
    as does what they were. The steps of those.
    """
    left = [step for step in reversed(_in_order(journal.steps)) if not _restore(journal, step)]
    _sync_targets(journal)
    kept = [step if _is_kept(journal, step) else replace(step, keep="") for step in left]
    undo_change(journal, {step.keep for step in kept})
    return kept


def _in_order(steps: Sequence[JournalStep]) -> list[JournalStep]:
    """Overwriting comes first: it takes space, and is the likeliest to fail.

    A link goes before the file that it leads to, so that it never dangles.
    """
    rank = {"overwrite": 0, "rename": 1, "unlink": 2, "delete": 3}
    return sorted(steps, key=lambda step: rank[step.action])


def _carry_out(journal: Journal, step: JournalStep) -> bool:
    """Make one file new, unless it is; False for one that somebody else has changed."""
    deeds: dict[str, Callable[[Journal, JournalStep], bool]] = {
        "unlink": _apply_unlink,
        "delete": _apply_delete,
    }
    return deeds.get(step.action, _apply_write)(journal, step)


def _apply_write(journal: Journal, step: JournalStep) -> bool:
    target, temp = journal.root / step.target, journal.root / step.temp
    now, new = _bytes(target), _bytes(temp)
    mark = hash_content(now)
    if target.is_dir() or not (
        mark in (step.before, step.after) or _is_partly_written(journal, step)
    ):
        return False
    if mark == step.after:
        return True
    if new is None:
        return False
    if step.action == "rename":
        if _try_rename(temp, target, journal.disk):
            return True
        _separate(journal, step)
    journal.disk.overwrite(target, new)
    return True


def _apply_delete(journal: Journal, step: JournalStep) -> bool:
    target = journal.root / step.target
    mark = hash_content(_bytes(target))
    if target.is_dir() or mark not in (step.before, step.after):
        return False
    if mark:
        _set_aside(journal, step)
    return True


def _apply_unlink(journal: Journal, step: JournalStep) -> bool:
    """Remove a link itself, if it still leads where it led; what it leads to is not touched."""
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
    """Rename, unless the target is a mount point of its own: that can only be overwritten."""
    try:
        disk.rename(temp, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _separate(journal: Journal, step: JournalStep) -> None:
    """Have the old bytes apart from a file that is to be overwritten in place after all."""
    target, keep = journal.root / step.target, journal.root / step.keep
    if step.keep and _old_bytes(journal, step) is None:
        journal.disk.unlink(keep)
        journal.disk.create(keep, target.read_bytes(), target)


def _restore(journal: Journal, step: JournalStep) -> bool:
    """Make one file old again, if cub changed it; False if somebody else did since."""
    if step.action == "overwrite" or _bytes(journal.root / step.temp) is not None:
        return _overwritten_back(journal, step)
    target, keep = journal.root / step.target, journal.root / step.keep
    kept = _is_kept(journal, step)
    if not _is_new(journal, step):
        return not kept
    if not step.before:
        journal.disk.unlink(target)
    elif not kept:
        return False
    elif not _try_rename(keep, target, journal.disk):
        journal.disk.overwrite(target, keep.read_bytes())
    return True


def _is_new(journal: Journal, step: JournalStep) -> bool:
    """Return whether a file is as the change makes it."""
    target = journal.root / step.target
    if step.after:
        return hash_content(_bytes(target)) == step.after
    return not os.path.lexists(target)


def _is_lost(journal: Journal, step: JournalStep) -> bool:
    """Return whether a file is new and its old content is gone: a change was being cleaned up."""
    if step.action == "overwrite" or not step.before:
        return False
    return _is_new(journal, step) and not _is_kept(journal, step)


def _is_kept(journal: Journal, step: JournalStep) -> bool:
    """Return whether the old file exists unchanged under its other name."""
    keep = journal.root / step.keep
    if not step.keep or not os.path.lexists(keep):
        return False
    old = os.fsencode(keep.readlink()) if step.action == "unlink" else _bytes(keep)
    return hash_content(old) == step.before


def _overwritten_back(journal: Journal, step: JournalStep) -> bool:
    """Put old bytes back into a file that was overwritten in place, whole or in part."""
    old = _old_bytes(journal, step)
    done = hash_content(_bytes(journal.root / step.target)) == step.after
    if old is not None and (done or _is_partly_written(journal, step)):
        journal.disk.overwrite(journal.root / step.target, old)
    return True


def _old_bytes(journal: Journal, step: JournalStep) -> bytes | None:
    """Return the old bytes of a file that is overwritten in place; None if they are
    nowhere else.
    """
    if step.action == "overwrite":
        return decode_undo(step)
    target, keep = journal.root / step.target, journal.root / step.keep
    if not target.is_file() or not _is_kept(journal, step) or keep.samefile(target):
        return None
    return keep.read_bytes()


def _is_partly_written(journal: Journal, step: JournalStep) -> bool:
    """Return whether a file is in a state that an interrupted overwrite or restore leaves.

    Every byte is then the old or the new one of its place.
    """
    now, new = _bytes(journal.root / step.target), _bytes(journal.root / step.temp)
    old = _old_bytes(journal, step)
    if now is None or new is None or old is None:
        return False
    if not min(len(old), len(new)) <= len(now) <= max(len(old), len(new)):
        return False
    return all(now[n : n + 1] in (old[n : n + 1], new[n : n + 1]) for n in range(len(now)))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _sync_targets(journal: Journal) -> None:
    for folder in sorted({(journal.root / step.target).parent for step in journal.steps}):
        if folder.is_dir():
            journal.disk.sync_folder(folder)


def _clean_up(journal: Journal) -> None:
    """Remove what served to undo the change, folders that deletions left empty, and the journal."""
    _drop_temps(journal)
    _prune(journal)
    journal.remove()


def _drop_temps(journal: Journal, excluded_paths: Collection[str] = ()) -> None:
    for step in journal.steps:
        for name in (step.temp, step.keep):
            if name and name not in excluded_paths:
                journal.disk.unlink(journal.root / name)


def _prune(journal: Journal) -> None:
    """Remove folders inside .cub that deletions left empty."""
    for step in journal.steps:
        folder = (journal.root / step.target).parent
        gone = step.action in ("delete", "unlink")
        while gone and journal.root / ".cub" in folder.parents and folder.is_dir():
            journal.disk.remove_folder(folder)
            folder = folder.parent
