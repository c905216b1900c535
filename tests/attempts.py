"""An attempt as commands find it: a mailbox beside what cub keeps of a project."""

from __future__ import annotations

from pathlib import Path

from cub.actions.tasks.current_attempt import find_mailbox, write_attempt


def enter_attempt(root: Path, task: str) -> Path:
    """Let all that works in the project at `root` be in an attempt at a task; its mailbox."""
    mailbox = find_mailbox(root)
    mailbox.mkdir(parents=True, exist_ok=True)
    write_attempt(mailbox, task, "r-1")
    return mailbox
