"""Commits that an agent makes in its tree: taken over, or left, whatever its repository holds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.place.agent_commits import bring_agent_commits, list_conflicts
from cub.place.folder import make_folders_usable
from cub.place.place import Place
from tests.conftest import git
from tests.place.places import begin_place, commit_files, surroundings


@pytest.fixture
def place(project: Path) -> Place:
    commit_files(project, {"a.py": "a = 1\n"})
    return begin_place(project)


def _make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _bring(place: Place, project: Path) -> str:
    return bring_agent_commits(place, place.base, surroundings(project))


def test_commits_come_with_their_objects(place: Place, project: Path) -> None:
    assert _bring(place, project) == ""
    commit_files(place.folder.tree, {"b.py": "b\n"}, "one")
    head = commit_files(place.folder.tree, {"c.py": "c\n"}, "two")
    git(place.folder.tree, "pack-refs", "--all")
    assert _bring(place, project) == head
    shutil.rmtree(place.folder.tree / ".git")
    log = place.tree.run("log", "--format=%s", f"{place.base.commit}..{head}")
    assert log.decode().split() == ["two", "one"]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda top: git(top, "checkout", "-q", "--orphan", "other"),
        lambda top: (top / ".git/refs/heads/main").write_text("0" * 40),
        lambda top: (top / ".git/HEAD").write_text("ref: refs/heads/../../../secret\n"),
        lambda top: (top / ".git/HEAD").unlink(),
        lambda top: _make_fifo(top / ".git/HEAD"),
        lambda top: shutil.rmtree(top / ".git"),
        lambda top: shutil.rmtree(top / ".git/objects"),
    ],
    ids=["orphan", "no commit", "outside", "no HEAD", "FIFO", "no repository", "no objects"],
)
def test_of_what_leads_nowhere_only_the_files_count(
    place: Place, project: Path, break_it: Callable[[Path], object]
) -> None:
    commit_files(place.folder.tree, {"b.py": "b\n"})
    break_it(place.folder.tree)
    make_folders_usable(place.folder.tree)  # which removes what git would wait for
    state = place.read_state()
    assert _bring(place, project) == ""
    assert "b.py" in place.tree.run("ls-tree", "--name-only", state.tree).decode()


def test_conflicts_of_a_merge_are_named(place: Place, project: Path) -> None:
    top = place.folder.tree
    assert list_conflicts(place, surroundings(project)) == ()
    git(top, "checkout", "-q", "-b", "other")
    commit_files(top, {"a.py": "a = 2\n"})
    git(top, "checkout", "-q", "main")
    commit_files(top, {"a.py": "a = 3\n"})
    with pytest.raises(Exception, match="merge"):
        git(top, "merge", "other")
    assert list_conflicts(place, surroundings(project)) == ("a.py",)
