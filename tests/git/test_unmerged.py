from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cub.git import unmerged
from tests.conftest import git


@pytest.fixture
def merging(project: Path) -> Path:
    """A repository in a merge with conflicts in `a.md` and `sub/b.md`."""
    for branch, text in (("base", "1\n"), ("ours", "2\n"), ("theirs", "3\n")):
        git(project, "checkout", "-q", "-b", branch, *(["base"] if text != "1\n" else []))
        for name in ("a.md", "sub/b.md", "same.md"):
            (project / "sub").mkdir(exist_ok=True)
            (project / name).write_text(name if name == "same.md" else text)
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", branch)
    git(project, "checkout", "-q", "ours")
    merge = ["git", "merge", "-q", "theirs"]
    assert subprocess.run(merge, cwd=project, capture_output=True, check=False).returncode == 1
    return project


def test_both_sides_and_their_ancestor_are_found_from_any_folder(merging: Path) -> None:
    assert unmerged(merging, "a.md") == [b"2\n", b"3\n", b"1\n"]
    assert unmerged(merging, "sub/b.md") == [b"2\n", b"3\n", b"1\n"]
    assert unmerged(merging / "sub", "b.md") == [b"2\n", b"3\n", b"1\n"]


def test_a_file_that_is_not_being_merged_has_none(merging: Path) -> None:
    assert unmerged(merging, "same.md") == []
    assert unmerged(merging, "nothing.md") == []
    git(merging, "add", "a.md")
    assert unmerged(merging, "a.md") == []


def test_outside_git_there_are_none(tmp_path: Path) -> None:
    assert unmerged(tmp_path, "a.md") == []


def test_where_git_cannot_read_there_are_none(merging: Path) -> None:
    (merging / ".git" / "index").write_bytes(b"no index")
    assert unmerged(merging, "a.md") == []
