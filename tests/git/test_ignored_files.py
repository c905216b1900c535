from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.git.branches import reattach_branch
from cub.git.ignored_files import IgnoredFilesReport, back_up_ignored, restore_ignored
from cub.git.snapshot import list_changes
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from tests.conftest import git
from tests.git.checkouts import checkout, state, write


@pytest.fixture
def ours(furnished_project: Path) -> Worktree:
    """With ignored secrets, notes in a folder, and what tools make."""
    project = furnished_project
    write(project, {".gitignore": "*.log\n.env\n/local/\n.venv/\nnode_modules/\n*.db\n"})
    write(project, {"local/deep/notes": "mine\n", "local/large": "x" * (2 << 20)})
    write(
        project, {"node_modules/p/i.js": "x", ".venv/lib/m.py": "x", "run.log": "x", "dev.db": "x"}
    )
    (project / ".env").chmod(0o600)
    return checkout(project)


def test_what_is_deleted_is_back_and_what_was_not_kept_is_told(ours: Worktree) -> None:
    before, files = take_snapshot(ours), state(ours.toplevel)
    back_up_ignored(ours, before.ignored_paths, 64 << 20)
    git(ours.toplevel, "clean", "-fdxq")
    lost = restore_ignored(ours, ours.toplevel.parent / "aside")
    assert set(lost.restored_files) == {
        ".env",
        "build/out.log",
        "dev.db",
        "local/deep/notes",
        "run.log",
    }
    assert set(lost.lost_files) == {"local/large", ".venv/"}
    assert (ours.toplevel / ".env").stat().st_mode & 0o777 == 0o600
    gone = {"local/large", ".venv/lib/m.py", "node_modules/p/i.js", "mine.txt", "own/mine.txt"}
    assert state(ours.toplevel).items() >= {k: v for k, v in files.items() if k not in gone}.items()
    assert restore_ignored(ours, ours.toplevel.parent / "aside").restored_files == ()


def test_what_is_overwritten_stays_and_is_kept(ours: Worktree) -> None:
    back_up_ignored(ours, take_snapshot(ours).ignored_paths, 64 << 20)
    write(ours.toplevel, {".env": "SECRET=2\n", "run.log": "more", "dev.db": "y"})
    aside = ours.toplevel.parent / "aside"
    assert restore_ignored(ours, aside) == IgnoredFilesReport((), (), (".env",))
    assert (ours.toplevel / ".env").read_text() == "SECRET=2\n"
    assert (aside / ".env").read_text() == "SECRET=1\n"
    assert restore_ignored(ours, aside) == IgnoredFilesReport()


def test_no_more_than_asked_for_is_kept(ours: Worktree) -> None:
    back_up_ignored(ours, take_snapshot(ours).ignored_paths, 0)
    (ours.toplevel / ".env").unlink()
    assert restore_ignored(ours, ours.toplevel.parent / "aside").lost_files == (".env",)


def test_no_link_is_followed(ours: Worktree) -> None:
    back_up_ignored(ours, take_snapshot(ours).ignored_paths, 64 << 20)
    shutil.rmtree(ours.toplevel / "local")
    outside = ours.toplevel.parent / "outside"
    outside.mkdir()
    (ours.toplevel / "local").symlink_to(outside)
    assert "local/deep/notes" in restore_ignored(ours, ours.toplevel.parent / "aside").lost_files
    assert list(outside.iterdir()) == []


def test_what_git_ignored_before_is_forced_into_no_snapshot(ours: Worktree) -> None:
    before = take_snapshot(ours)
    git(ours.toplevel, "add", "-f", ".env")
    assert list_changes(ours, before, take_snapshot(ours, before)) == []
    git(ours.toplevel, "commit", "-qm", "theirs")
    assert list_changes(ours, before, take_snapshot(ours, before)) == []
    assert reattach_branch(ours, before).private_files == (".env",)
