from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.git.checkout import Checkout
from cub.git.ignored_files import IgnoredFilesReport
from tests.conftest import git
from tests.git.checkouts import checkout, state, write


@pytest.fixture
def ours(furnished_project: Path) -> Checkout:
    """With ignored secrets, notes in a folder, and what tools make."""
    project = furnished_project
    write(project, {".gitignore": "*.log\n.env\n/local/\n.venv/\nnode_modules/\n*.db\n"})
    write(project, {"local/deep/notes": "mine\n", "local/large": "x" * (2 << 20)})
    write(
        project, {"node_modules/p/i.js": "x", ".venv/lib/m.py": "x", "run.log": "x", "dev.db": "x"}
    )
    (project / ".env").chmod(0o600)
    return checkout(project)


def test_what_is_deleted_is_back_and_what_was_not_kept_is_told(ours: Checkout) -> None:
    before, files = ours.snapshot(), state(ours.toplevel)
    ours.keep_ignored(before, 64 << 20)
    git(ours.toplevel, "clean", "-fdxq")
    lost = ours.restore_ignored(ours.toplevel.parent / "aside")
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
    assert ours.restore_ignored(ours.toplevel.parent / "aside").restored_files == ()


def test_what_is_overwritten_stays_and_is_kept(ours: Checkout) -> None:
    ours.keep_ignored(ours.snapshot(), 64 << 20)
    write(ours.toplevel, {".env": "SECRET=2\n", "run.log": "more", "dev.db": "y"})
    aside = ours.toplevel.parent / "aside"
    assert ours.restore_ignored(aside) == IgnoredFilesReport((), (), (".env",))
    assert (ours.toplevel / ".env").read_text() == "SECRET=2\n"
    assert (aside / ".env").read_text() == "SECRET=1\n"
    assert ours.restore_ignored(aside) == IgnoredFilesReport()


def test_no_more_than_asked_for_is_kept(ours: Checkout) -> None:
    ours.keep_ignored(ours.snapshot(), 0)
    (ours.toplevel / ".env").unlink()
    assert ours.restore_ignored(ours.toplevel.parent / "aside").lost_files == (".env",)


def test_no_link_is_followed(ours: Checkout) -> None:
    ours.keep_ignored(ours.snapshot(), 64 << 20)
    shutil.rmtree(ours.toplevel / "local")
    outside = ours.toplevel.parent / "outside"
    outside.mkdir()
    (ours.toplevel / "local").symlink_to(outside)
    assert "local/deep/notes" in ours.restore_ignored(ours.toplevel.parent / "aside").lost_files
    assert list(outside.iterdir()) == []


def test_what_git_ignored_before_is_forced_into_no_snapshot(ours: Checkout) -> None:
    before = ours.snapshot()
    git(ours.toplevel, "add", "-f", ".env")
    assert ours.changes(before, ours.snapshot(before)) == []
    git(ours.toplevel, "commit", "-qm", "theirs")
    assert ours.changes(before, ours.snapshot(before)) == []
    assert ours.settle(before).private_files == (".env",)
