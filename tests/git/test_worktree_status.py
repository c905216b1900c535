from __future__ import annotations

from pathlib import Path

import pytest

from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import Snapshot, list_changes
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree_status import list_flagged_paths
from tests.conftest import git
from tests.git.checkouts import checkout, lines, save, state, write

FLAGS = ["--skip-worktree", "--assume-unchanged"]


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


def marks(top: Path) -> dict[str, str]:
    """The paths that git does not look at, with git's letter."""
    found = [line.split(" ", 1) for line in git(top, "ls-files", "-v").splitlines()]
    return {path: letter for letter, path in found if letter != "H"}


@pytest.mark.parametrize("flag", FLAGS)
def test_what_an_agent_tells_git_to_pass_over_is_seen_and_put_back(top: Path, flag: str) -> None:
    files, seen = state(top), lines(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    assert before.flagged_paths == ()
    write(top, {"a.txt": "hidden\n"})
    git(top, "update-index", flag, "a.txt", "sub/b.txt")
    for since in (before, Snapshot.from_json(before.to_json())):
        now = take_snapshot(ours, since)
        assert [change.path for change in list_changes(ours, since, now)] == ["a.txt"]
        assert marks(top).keys() == {"a.txt", "sub/b.txt"}
    assert restore_snapshot(ours, before, now).failed_paths == ()
    assert (state(top), lines(top)) == (files, seen)
    assert marks(top) == {}


def test_a_look_meanwhile_does_not_hide_it(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "hidden\n"})
    git(top, "update-index", "--assume-unchanged", "a.txt")
    assert take_snapshot(ours).flagged_paths == ("a.txt",)
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["a.txt"]


def test_a_file_that_is_gone_shows_where_git_is_to_assume_that_it_is_there(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "update-index", "--assume-unchanged", "a.txt")
    (top / "a.txt").unlink()
    now = take_snapshot(ours, before)
    assert [(c.path, c.kind) for c in list_changes(ours, before, now)] == [("a.txt", "D")]
    restore_snapshot(ours, before, now)
    assert (top / "a.txt").exists()


@pytest.mark.parametrize("flag", FLAGS)
def test_what_the_person_told_git_to_pass_over_stays_so(top: Path, flag: str) -> None:
    write(top, {"a.txt": "the person's own\n"})
    git(top, "update-index", flag, "a.txt")
    files, theirs = state(top), marks(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    assert before.flagged_paths == ("a.txt",)
    write(top, {"run.sh": "hidden\n"})
    git(top, "update-index", flag, "run.sh")
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["run.sh"]
    assert restore_snapshot(ours, before, now).failed_paths == ()
    assert (state(top), marks(top)) == (files, theirs)


def test_what_is_hidden_meanwhile_is_seen_where_nobody_noted_the_flags(top: Path) -> None:
    ours = checkout(top)
    value = take_snapshot(ours).to_json()
    del value["flagged"]
    before = Snapshot.from_json(value)
    assert before.flagged_paths is None
    write(top, {"a.txt": "hidden\n"})
    git(top, "update-index", "--assume-unchanged", "a.txt")
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["a.txt"]
    restore_snapshot(ours, before, now)
    assert marks(top) == {}


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("flag", ["", *FLAGS])
def test_an_index_of_any_version_tells_whether_it_has_flags(
    top: Path, version: str, flag: str
) -> None:
    write(top, {f"{'long' * n}/{'x' * n}": "" for n in range(1, 30)})
    write(top, {f"{'d' * 200}/{'e' * 200}/deep": ""})
    git(top, "add", "-A")
    write(top, {"meant.txt": ""})
    git(top, "add", "-N", "meant.txt")
    git(top, "update-index", "--index-version", version)
    if flag:
        git(top, "update-index", flag, "sub/deep/c.txt")
    index = top / ".git/index"
    found = list_flagged_paths(checkout(top), index, None)
    assert found == ({"sub/deep/c.txt": flag == FLAGS[0]} if flag else {})


def test_a_split_index_tells_its_flags_too(top: Path) -> None:
    git(top, "update-index", "--split-index")
    git(top, "update-index", "--assume-unchanged", "a.txt")
    assert list_flagged_paths(checkout(top), top / ".git/index", None) == {"a.txt": False}


def test_an_index_with_longer_names_of_objects_is_asked_about(tmp_path: Path) -> None:
    top = tmp_path / "wide"
    top.mkdir()
    git(top, "init", "-q", "--object-format=sha256")
    write(top, {"a.txt": "1\n", "b.txt": "2\n"})
    save(top)
    git(top, "update-index", "--assume-unchanged", "b.txt")
    assert list_flagged_paths(checkout(top), top / ".git/index", None) == {"b.txt": False}
    assert list_flagged_paths(checkout(top), top / ".git/none", None) == {}
