from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.snapshot import FileChange
from tests.conftest import git
from tests.git.checkouts import checkout, state, write


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


def test_changes_are_told_by_path_and_kind(top: Path) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    write(top, {"a.txt": "one\n2\n3\n", "new\n.txt": "x\n", "mine.txt": "y\n", "data.bin": b"\0"})
    (top / "run.sh").chmod(0o644)
    (top / "link").unlink()
    (top / "own/mine.txt").unlink()
    after = ours.snapshot(before)
    assert ours.changes(before, after) == [
        FileChange("a.txt", "M"),
        FileChange("data.bin", "M"),
        FileChange("link", "D"),
        FileChange("mine.txt", "M", untracked=True),
        FileChange("new\n.txt", "A"),
        FileChange("own/mine.txt", "D", untracked=True),
        FileChange("run.sh", "M"),
    ]
    assert ours.counts(before, after) == (4, 4)
    assert ours.counts(before, before) == (0, 0)


def test_a_file_that_came_to_be_ignored_is_modified_not_deleted(top: Path) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    write(top, {".gitignore": "*\n", "mine.txt": "y\n"})
    git(top, "add", ".gitignore")
    after = ours.snapshot(before)
    assert [(c.path, c.kind) for c in ours.changes(before, after)] == [
        (".gitignore", "M"),
        ("mine.txt", "M"),
    ]
    assert "mine.txt" in after.untracked


def test_no_patch_for_no_change(top: Path, tmp_path: Path) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    write(top, {".cub/x": "x", "y.log": "ignored"})
    assert not ours.write_patch(before, ours.snapshot(before), tmp_path / "patch")
    assert not (tmp_path / "patch").exists()


def test_a_patch_makes_the_same_of_another_checkout(top: Path, tmp_path: Path) -> None:
    git(top, "config", "diff.noprefix", "true")
    git(top, "config", "diff.external", "false")
    git(top, "config", "color.ui", "always")
    ours = checkout(top)
    before = ours.snapshot()
    copy = tmp_path / "copy"
    shutil.copytree(top, copy, symlinks=True)
    write(top, {"a.txt": "z", "-new \udcff": b"\0\xff", "mine.txt": "y", "win.crlf": "x\r\n"})
    (top / "link").unlink()
    (top / "link").symlink_to("run.sh")
    (top / "run.sh").chmod(0o644)
    shutil.rmtree(top / "sub")
    assert ours.write_patch(before, ours.snapshot(before), tmp_path / "patch")
    git(copy, "apply", "--whitespace=nowarn", str(tmp_path / "patch"))
    assert state(copy) == state(top)


def test_no_half_of_a_patch_is_left(top: Path, tmp_path: Path) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    write(top, {"a.txt": "z"})
    after = ours.snapshot(before)
    (top / ".git").rename(top / "gone")
    with pytest.raises(CubError, match="git diff-tree failed"):
        ours.write_patch(before, after, tmp_path / "patch")
    assert not (tmp_path / "patch").exists()
