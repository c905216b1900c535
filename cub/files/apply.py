"""The one writer of plans: all of a plan is carried out, or nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path, PurePosixPath

from cub.edit.plan import Edit, Plan
from cub.errors import CubError, InternalError
from cub.files import journal
from cub.files.disk import Disk
from cub.files.half_done import half_done, path_of
from cub.files.journal import JOURNAL, Journal, Step
from cub.files.lock import Held
from cub.files.probe import require_possible
from cub.files.reading import link_text, locate, read, real_path, trouble
from cub.files.recovery import conclude, undo

_LONGEST = 50  # characters of a name that are in that of a temporary file: 255 bytes are allowed


def apply(plan: Plan, held: Held, disk: Disk | None = None) -> None:
    """Carry out `plan` in the project whose lock is held.

    Raises CubError, with every file as it was, if a file has changed since it was planned for,
    may not be written, or the disk refuses.
    """
    held.require()
    disk = disk or Disk()
    if plan.empty:
        return
    steps = _steps(plan, held.root, disk)
    left = conclude(_prepared(plan, held.root, steps, disk))
    if left:
        raise CubError("changed while cub was writing: left as it is", where=left[0].path)


def require_applicable(plan: Plan, held: Held, disk: Disk | None = None) -> None:
    """CubError if it can be seen now that `plan` can't be carried out; nothing is written."""
    _steps(plan, held.root, disk or Disk())


def _steps(plan: Plan, root: Path, disk: Disk) -> list[Step]:
    """What to do for each edit, after the checks that keep the rest from being half done."""
    steps = [_step(edit, root) for edit in plan.edits]
    if len({step.target for step in steps}) < len(steps):
        raise InternalError("two edits of one file in one plan")
    require_possible(root, steps, disk)
    return steps


def _step(edit: Edit, root: Path) -> Step:
    if edit.link:
        return _unlinking(edit, root)
    real = locate(root, edit.path)
    _guard(edit, root)
    target = real or Path(os.path.realpath(root / edit.path))
    # A file with another name would lose it, and a mount point can't be renamed over.
    linked = real is not None and (real.stat().st_nlink > 1 or os.path.ismount(real))
    temp = "" if edit.after is None else _beside(target, root)
    keep = "" if edit.before is None else _beside(target, root)
    names = (edit.path, target.relative_to(root).as_posix(), temp)
    marks = journal.fingerprint(edit.before), journal.fingerprint(edit.after)
    if edit.after is None:
        return Step("delete", *names, *marks, keep=keep)
    if linked:
        return Step("overwrite", *names, *marks, undo=journal.encode_undo(edit.before or b""))
    return Step("rename", *names, *marks, keep=keep)


def _unlinking(edit: Edit, root: Path) -> Step:
    """A link goes by its own name: only the folder around it is looked for behind links."""
    if edit.after is not None:
        raise InternalError("a link can only be deleted", where=edit.path)
    _guard(edit, root)
    folder, _, name = edit.path.rpartition("/")
    target = root / real_path(root, folder) / name
    names = (edit.path, target.relative_to(root).as_posix(), "")
    marks = journal.fingerprint(edit.before), journal.fingerprint(edit.after)
    return Step("unlink", *names, *marks, keep=_beside(target, root))


def _beside(target: Path, root: Path) -> str:
    """A new name in the folder of a file, no longer than names may be."""
    name = f".{target.name[:_LONGEST]}.cub-{secrets.token_hex(4)}.tmp"
    return target.with_name(name).relative_to(root).as_posix()


def _guard(edit: Edit, root: Path) -> None:
    now = link_text(root, edit.path) if edit.link else read(root, edit.path)
    if now != edit.before:
        raise CubError(
            "changed since cub read it; nothing was written",
            where=edit.path,
            hint="run the command again",
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


def _prepared(plan: Plan, root: Path, steps: list[Step], disk: Disk) -> Journal:
    """Write and sync everything beside its target, and commit; take it all back on any failure."""
    try:
        begun = journal.begin(root, steps, _new_folders(plan, root), disk)
    except OSError as error:
        raise trouble(error, JOURNAL, "cannot be written") from error
    try:
        _prepare(plan, begun)
        return begun.commit()
    except OSError as error:
        _undo(begun, error)
        raise trouble(error, path_of(begun, error) or JOURNAL, "cannot be written") from error
    except BaseException:
        undo(begun)
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
        undo(begun)
    except OSError as second:
        raise half_done(begun, error, second) from error


def _sync_names(begun: Journal) -> None:
    """The commit may be on disk only after everything that it relies on."""
    made = [name for step in begun.steps for name in (step.temp, step.keep) if name]
    for folder in sorted({(begun.root / name).parent for name in (*made, *begun.folders)}):
        begun.disk.sync_folder(folder)
