"""The one writer of user files: a plan is carried out whole, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path, PurePosixPath

from cub.edit.plan import Edit, Plan
from cub.errors import CubError, InternalError
from cub.files import journal, recovery
from cub.files.disk import Disk
from cub.files.journal import JOURNAL, Step
from cub.files.reading import (
    link_text,
    locate,
    read,
    real_path,
    require_writable,
    trouble,
)


def apply(plan: Plan, root: Path, disk: Disk | None = None) -> None:
    """Carry out `plan` below `root`, under the project's lock (see `exclusive`).

    Raises CubError, with every file as it was, if a file has changed since it was planned for,
    may not be written, or the disk refuses.
    """
    disk = disk or Disk()
    if plan.empty:
        return
    steps = [_step(edit, root) for edit in plan.edits]
    if len({step.target for step in steps}) < len(steps):
        raise InternalError("two edits of one file in one plan")
    folders = _new_folders(plan, root)
    _prepare(plan, root, steps, folders, disk)
    try:
        left = recovery.finish(root, steps, disk)
    except OSError as error:
        _take_back(root, steps, folders, disk, error)
    if left:
        raise CubError("changed while cub was writing: left as it is", where=left[0])


def _step(edit: Edit, root: Path) -> Step:
    """What to do for one edit, after the checks that keep the rest from being half done."""
    if edit.link:
        return _unlinking(edit, root)
    real = locate(root, edit.path)
    _guard(edit, root)
    if real is not None:
        require_writable(real, edit.path)
    target = real or Path(os.path.realpath(root / edit.path))
    before, after = journal.fingerprint(edit.before), journal.fingerprint(edit.after)
    name = target.relative_to(root).as_posix()
    if edit.after is None:
        _require_deletable(target, edit.path)
        return Step("delete", edit.path, name, "", before, after)
    temp = target.with_name(f".{target.name}.cub-{secrets.token_hex(4)}.tmp")
    # A file with another name would lose it, and a mount point can't be renamed over.
    linked = real is not None and (real.stat().st_nlink > 1 or os.path.ismount(real))
    return Step(
        "overwrite" if linked else "rename",
        edit.path,
        name,
        temp.relative_to(root).as_posix(),
        before,
        after,
        journal.encode_undo(edit.before or b"") if linked else "",
    )


def _unlinking(edit: Edit, root: Path) -> Step:
    """A link goes by its own name: only the folder around it is looked for behind links."""
    if edit.after is not None:
        raise InternalError("a link can only be deleted", where=edit.path)
    _guard(edit, root)
    folder, _, name = edit.path.rpartition("/")
    target = root / real_path(root, folder) / name
    _require_deletable(target, edit.path)
    before, after = journal.fingerprint(edit.before), journal.fingerprint(edit.after)
    return Step("unlink", edit.path, target.relative_to(root).as_posix(), "", before, after)


def _guard(edit: Edit, root: Path) -> None:
    now = link_text(root, edit.path) if edit.link else read(root, edit.path)
    if now != edit.before:
        raise CubError(
            "changed since cub read it; nothing was written",
            where=edit.path,
            hint="run the command again",
        )


def _require_deletable(target: Path, path: str) -> None:
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise CubError(
            "its folder is read-only; nothing was written",
            where=path,
            hint="make the folder writable, then run the command again",
        )


def _new_folders(plan: Plan, root: Path) -> list[str]:
    """Folders that edits need and that do not exist yet, outermost first."""
    parents = {
        parent.as_posix()
        for edit in plan.edits
        if edit.after is not None
        for parent in PurePosixPath(edit.path).parents
    }
    return sorted(parent for parent in parents if not (root / parent).exists())


def _prepare(plan: Plan, root: Path, steps: list[Step], folders: list[str], disk: Disk) -> None:
    """Write and sync everything beside its target, and commit; take it all back on any failure."""
    path = JOURNAL
    try:
        journal.begin(root, steps, folders, disk)
        for path in folders:
            disk.make_folder(root / path)
        for edit, step in zip(plan.edits, steps, strict=True):
            path = edit.path
            if edit.after is not None:
                like = root / step.target if edit.before is not None else None
                disk.create(root / step.temp, edit.after, like)
        _sync_names(root, steps, folders, disk)
        for edit in plan.edits:
            _guard(edit, root)
        path = JOURNAL
        journal.commit(root, disk)
    except OSError as error:
        recovery.undo(root, steps, folders, disk)
        raise trouble(error, path, "cannot be written") from error
    except BaseException:
        recovery.undo(root, steps, folders, disk)
        raise


def _sync_names(root: Path, steps: list[Step], folders: list[str], disk: Disk) -> None:
    """The commit may be on disk only after everything that it relies on."""
    made = [step.temp for step in steps if step.temp] + folders
    for folder in sorted({(root / name).parent for name in made}):
        disk.sync_folder(folder)


def _take_back(
    root: Path, steps: list[Step], folders: list[str], disk: Disk, error: OSError
) -> None:
    """The disk refused after the commit: undo while no file has been renamed yet."""
    overwritten = [step for step in steps if step.action == "overwrite"]
    started = any(
        journal.fingerprint(_now(root, step)) == step.after
        for step in steps
        if step.action != "overwrite"
    )
    where = _relative(error, root) or (overwritten[0].path if overwritten else ".")
    if not started:
        recovery.take_back(root, steps, folders, disk)
        raise trouble(error, where, "cannot be written") from error
    raise CubError(
        f"interrupted: {(error.strerror or str(error)).lower()}",
        where=where,
        hint="mend that and run any writing command: it finishes what was begun",
    ) from error


def _now(root: Path, step: Step) -> bytes | None:
    look = link_text if step.action == "unlink" else read
    return look(root, step.target)


def _relative(error: OSError, root: Path) -> str:
    name = next((n for n in (error.filename2, error.filename) if isinstance(n, str)), "")
    return os.path.relpath(name, root).replace(os.sep, "/") if name else ""
