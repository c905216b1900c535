"""`cub task edit` without options: the task in the person's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cub.errors import CubError, UsageError

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores
    from cub.actions.tasks.work import Outcome


def edit_in_editor(stores: Stores, key: str) -> Outcome:
    """Open the form of a task, and change the task as it says when the editor ends.

    A form that can't be applied stays where it is: what a person wrote is never lost.
    """
    from cub.actions.tasks.form import apply_form, form

    command = _command()
    tasks = stores.backend.read()
    key = tasks.find(key)
    before = form(tasks.record(key))
    path = _file(before)
    try:
        _run([*command, str(path)])
        outcome = apply_form(stores, key, before, _text(path), path.as_posix())
    except CubError as error:
        if path.exists() and _text(path) != before:
            error.details = (*error.details, f"what you wrote is in {path.as_posix()}")
        else:
            path.unlink(missing_ok=True)
        raise
    path.unlink()
    return outcome


def _command() -> list[str]:
    said = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    if not said and not sys.stdin.isatty():
        raise UsageError("there is nothing to change", hint="name a field, or set EDITOR")
    try:
        return shlex.split(said or "vi")
    except ValueError as error:
        what = f"EDITOR is no command: {str(error).lower()}"
        raise CubError(what, where=said, hint="set EDITOR") from None


def _file(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="cub-task-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return Path(name)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise CubError("the editor left no file; nothing was changed") from None


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, check=False)  # noqa: S603 - the person's own editor
    except OSError as error:
        raise CubError(f"the editor can't be started: {command[0]}", hint="set EDITOR") from error
    if done.returncode:
        raise CubError(f"the editor ended with {done.returncode}; nothing was changed")
