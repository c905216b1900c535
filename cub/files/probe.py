"""What keeps a plan from being written, as far as that can be seen before anything is."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from cub.errors import CubError, raise_all
from cub.files.disk import Disk
from cub.files.journal import JOURNAL, Step
from cub.files.reading import reason, require_writable


def require_possible(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """CubError, with all that is in the way, where files or folders may not be changed."""
    folders = {(root / JOURNAL).parent: JOURNAL}
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


def _require_file(target: Path, step: Step, disk: Disk) -> None:
    try:
        if step.action != "overwrite":
            disk.try_replace(target)
        if step.action != "unlink":
            _try_write(target, disk)
            require_writable(target, step.path)
    except OSError as error:
        raise CubError(
            f"this may not be changed: {reason(error)}; nothing was written",
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
        disk.try_fill(folder)
    except OSError as error:
        name = os.path.relpath(folder, root).replace(os.sep, "/")
        raise CubError(
            f"its folder may not be changed: {reason(error)}; nothing was written",
            where=path,
            hint=f"make the folder {name} writable, then run the command again",
        ) from error
