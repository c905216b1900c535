"""A project with a file of every kind, the plan that changes them all, and whole trees."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import NamedTuple

from cub.edit.plan import FileEdit, Plan
from cub.files.apply import apply_plan
from cub.files.disk import Disk
from cub.files.journal import JOURNAL_FILE
from cub.files.lock import lock_project
from cub.files.signed_state import sign_line

OLD = b"old, and longer than what comes\r\n"
_NEW = b"new\r\nbytes\0\xff"


class Entry(NamedTuple):
    """What stands under a name: a folder, a link or a file."""

    kind: str
    mode: int
    content: bytes | str = b""


Tree = dict[str, Entry]


def whole(root: Path) -> Tree:
    """Everything below `root` by its path: folders and links too, without .git."""
    paths = sorted(path.relative_to(root) for path in root.rglob("*"))
    return {path.as_posix(): _entry(root / path) for path in paths if path.parts[0] != ".git"}


def _entry(path: Path) -> Entry:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Entry("link", 0, str(path.readlink()))
    if stat.S_ISREG(status.st_mode):
        return Entry("file", mode, path.read_bytes())
    return Entry("folder" if path.is_dir() else "other", mode)


def build(root: Path) -> Path:
    """A new project at `root`: a plain file, a hard-linked one, a linked one, one to delete, and
    one that becomes a program.
    """
    (root / "real").mkdir(parents=True)
    for name in ("plain.md", "hard.md", "real/target.md", "gone.md", "run.sh"):
        (root / name).write_bytes(OLD)
    (root / "plain.md").chmod(0o640)
    os.link(root / "hard.md", root / "twin.md")
    (root / "link.md").symlink_to("real/target.md")
    return root.resolve()


def copy_project(source: Path, target: Path) -> Path:
    """Copy a project with its modes, and its links of both kinds."""
    copies: dict[int, str] = {}

    def copy(file: str, to: str) -> None:
        inode = os.stat(file).st_ino  # noqa: PTH116 - as copytree has it
        if inode in copies:
            os.link(copies[inode], to)
        else:
            copies[inode] = shutil.copy(file, to)

    shutil.copytree(source, target, symlinks=True, copy_function=copy)
    sign_journal(target)
    return target


def sign_journal(root: Path) -> None:
    """Sign the journal of a copy as if cub had written it there, unless it is torn."""
    path = root / JOURNAL_FILE
    record, _, rest = path.read_bytes().partition(b"\t") if path.exists() else (b"", b"", b"")
    if b"\n" in rest:
        path.write_bytes(sign_line(path, record) + rest.partition(b"\n")[2])


PLAN = Plan(
    (
        FileEdit("made.md", None, _NEW),
        FileEdit("new/deep/AGENTS.md", None, _NEW),
        FileEdit("plain.md", OLD, _NEW),
        FileEdit("hard.md", OLD, _NEW),
        FileEdit("link.md", OLD, _NEW),
        FileEdit("gone.md", OLD, None),
        FileEdit("run.sh", OLD, OLD, is_executable=True),
    )
)


def build_leaving(root: Path) -> Path:
    """A project whose .cub/ is about to go, and whose other file shrinks to nothing."""
    for name in ("AGENTS.md", ".cub/state.json", ".cub/backups/old/a.md", ".cub/backups/b.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(OLD)
    return root.resolve()


LEAVING = Plan(
    (
        FileEdit("AGENTS.md", OLD, b""),
        FileEdit(".cub/state.json", OLD, None),
        FileEdit(".cub/backups/old/a.md", OLD, None),
        FileEdit(".cub/backups/b.md", OLD, None),
    )
)


def build_links(root: Path) -> Path:
    """A link to a file that goes too, one to a file that stays, one in a folder of links."""
    (root / ".cub/old").mkdir(parents=True)
    for name in (".cub/prompt.md", "stays.md", "hard.md"):
        (root / name).write_bytes(OLD)
    os.link(root / "hard.md", root / "twin.md")
    (root / "PROMPT.md").symlink_to(".cub/prompt.md")
    (root / "other.md").symlink_to("stays.md")
    (root / ".cub/old/link").symlink_to("../../stays.md")
    return root.resolve()


LINK_EDIT = FileEdit("PROMPT.md", b".cub/prompt.md", None, is_link=True)
UNLINKING = Plan(
    (
        LINK_EDIT,
        FileEdit(".cub/prompt.md", OLD, None),
        FileEdit(".cub/runloop.md.old", None, OLD),
        FileEdit("other.md", b"stays.md", None, is_link=True),
        FileEdit(".cub/old/link", b"../../stays.md", None, is_link=True),
        FileEdit("hard.md", OLD, b"new\n"),
    )
)


def change(root: Path, plan: Plan = PLAN, disk: Disk | None = None) -> None:
    """What a writing command does: under the lock, apply."""
    with lock_project(root) as held:
        apply_plan(plan, held, disk)


def mend(root: Path, disk: Disk | None = None) -> list[tuple[str, str]]:
    """What the next writing command does first; returns the warnings' paths and messages."""
    with lock_project(root, disk) as held:
        return [(warning.path, warning.message) for warning in held.recovery_warnings]
