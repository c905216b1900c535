"""What to say where a change can be neither finished nor taken back: which file is how."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cub.errors import CubError
from cub.files.journal import JOURNAL, Journal, Step, fingerprint, load
from cub.files.reading import link_text, read, reason


def half_done(journal: Journal, error: OSError, second: OSError) -> CubError:
    """Both reasons, and what is where; the journal stays, and the next writer goes on with it."""
    forward = _stage(journal) == "committed"
    return CubError(
        f"cannot be written: {reason(error)}; and taking back what was done failed"
        f" at {path_of(journal, second) or JOURNAL}: {reason(second)}",
        where=path_of(journal, error) or JOURNAL,
        hint="mend that, then run any command that writes, such as `cub update`: it first "
        + ("finishes the change" if forward else "takes the rest back"),
        details=list(_states(journal)),
    )


def path_of(journal: Journal, error: OSError) -> str:
    """The file that an error is about, as the person knows it; "" for none of the change."""
    for name in (error.filename2, error.filename):
        if isinstance(name, str) and name:
            relative = os.path.relpath(name, journal.root).replace(os.sep, "/")
            if relative in journal.folders:
                return relative
            for step in journal.steps:
                if relative in (step.target, step.temp, step.keep):
                    return step.path
    return ""


def _stage(journal: Journal) -> str:
    """How far the journal on disk is, which the next command reads."""
    try:
        return load(journal.root, journal.disk).stage
    except (CubError, OSError):
        return journal.stage


def _states(journal: Journal) -> Iterator[str]:
    for step in journal.steps:
        kept = step.keep and os.path.lexists(journal.root / step.keep)
        old = f"; its old text is in {step.keep}" if kept else ""
        yield f"{step.path} {_state(journal, step)}{old}"


def _state(journal: Journal, step: Step) -> str:
    look = link_text if step.action == "unlink" else read
    try:
        mark = fingerprint(look(journal.root, step.target))
    except CubError as error:
        return f"can't be looked at ({error.message})"
    if mark == step.before:
        return "is as it was"
    if mark == step.after:
        return "is new" if step.after else "is deleted"
    if step.action == "overwrite":
        return f"is written in part; its old text is in {JOURNAL} (undo, base64)"
    return "is neither old nor new"
