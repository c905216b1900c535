"""How a file differs between two commits, as lines: its text, and its mode."""

from __future__ import annotations

from cub.edit.diffs import text_diff
from cub.edit.document import lf_text
from cub.git import Change

_FILE = 0o100644


def difference(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """A unified diff; None stands for no file, and line ends alone for a line that says so."""
    old, new = (lf_text(side or b"") for side in (before, after))
    if old != new:
        return tuple(text_diff(old, new, path, "before", "after"))
    return ("only line ends have changed",) if before and before != after else ()


def mode_lines(change: Change) -> tuple[str, ...]:
    """What git says of modes in a diff; nothing of a plain new file."""
    old, new = (entry and entry.mode for entry in change)
    if old is not None and new is not None and old != new:
        return f"old mode {old:06o}", f"new mode {new:06o}"
    if old is None and new not in (None, _FILE):
        return (f"new file mode {new:06o}",)
    return ()
