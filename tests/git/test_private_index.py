from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.commit import commit_paths
from cub.git.private_index import reset_user_index
from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import list_changes
from cub.git.take_snapshot import take_snapshot
from cub.processes.command import TimeLimits
from tests.conftest import git
from tests.git.checkouts import checkout, lines, person, state, write


@pytest.fixture
def top(furnished_project: Path) -> Path:
    git(furnished_project, "checkout", "-q", "dirty.txt")
    return furnished_project


def forge(top: Path, path: str) -> None:
    """Have git's index say that a file, as it is on disk now, is what was last committed."""
    index = top / ".git/index"
    data = bytearray(index.read_bytes()[:-20])
    name = path.encode() + b"\0"
    found = (top / path).stat()
    at = data.index(name) - 62
    whole = (found.st_ctime_ns, found.st_mtime_ns)
    times = [part for ns in whole for part in divmod(ns, 1_000_000_000)]
    facts = (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_size)
    struct.pack_into(">10I", data, at, *times, *(fact & 0xFFFFFFFF for fact in facts))
    index.write_bytes(bytes(data) + hashlib.sha1(data).digest())
    later = found.st_mtime + 60  # else git reads what was changed in the same second
    os.utime(index, (later, later))


def test_the_forgery_of_these_tests_deceives_git(top: Path) -> None:
    write(top, {"a.txt": "evil\n"})
    forge(top, "a.txt")
    assert " M a.txt" not in lines(top)


def test_a_forged_index_hides_no_edit(top: Path) -> None:
    ours = checkout(top)
    before, files = take_snapshot(ours), state(top)
    write(top, {"a.txt": "evil\n"})
    forge(top, "a.txt")
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["a.txt"]
    restore_snapshot(ours, before, now)
    assert state(top) == files


@pytest.mark.parametrize("moved", [False, True])
def test_a_forged_index_hides_no_edit_from_what_comes_later(top: Path, moved: bool) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "evil\n", "new.txt": "x"})
    if moved:
        git(top, "add", "new.txt")
        git(top, "commit", "-qm", "theirs")
    forge(top, "a.txt")
    take_snapshot(ours, before)
    reset_user_index(ours)
    assert " M a.txt" in lines(top)
    later = take_snapshot(ours)
    assert git(top, "cat-file", "blob", f"{later.tree}:a.txt") == "evil\n"


def test_a_forged_index_keeps_no_edit_out_of_a_commit(top: Path, home: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "evil\n"})
    forge(top, "a.txt")
    take_snapshot(ours, before)
    assert commit_paths(ours, ["a.txt"], [], "m", person(home), TimeLimits()).is_ok
    assert git(top, "show", "HEAD:a.txt") == "evil\n"


@pytest.mark.parametrize("lost", ["index", "index.json", "both"])
def test_an_index_of_ours_that_is_lost_is_made_from_the_snapshot(top: Path, lost: str) -> None:
    git(top, "update-index", "--skip-worktree", "run.sh")
    (top / "run.sh").unlink()
    write(top, {"crlf.txt": "x\r\n"})
    git(top, "config", "core.autocrlf", "input")
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "evil\n", "mine.txt": "theirs"})
    forge(top, "a.txt")
    for name in ("index", "index.json") if lost == "both" else (lost,):
        ours.index_file.with_name(name).unlink()
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["a.txt", "mine.txt"]
    assert now.untracked_paths == before.untracked_paths


def test_names_that_git_was_told_of_are_looked_at(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"build/made.txt": "x", "build/staged.txt": "x", "build/other.txt": "x"})
    git(top, "add", "-f", "build/made.txt")
    git(top, "commit", "-qm", "theirs")
    git(top, "add", "-f", "build/staged.txt")
    names = [change.path for change in list_changes(ours, before, take_snapshot(ours, before))]
    assert names == ["build/made.txt", "build/staged.txt"]


def test_what_git_tracks_no_more_and_ignores_is_gone(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "rm", "-q", "--cached", "a.txt", "run.sh")
    with (top / ".gitignore").open("a") as file:
        file.write("a.txt\n")
    found = {one.path: one.kind for one in list_changes(ours, before, take_snapshot(ours, before))}
    assert found == {".gitignore": "M", "a.txt": "D"}


def test_an_index_that_is_gone_says_nothing(top: Path) -> None:
    with (top / ".gitignore").open("a") as file:
        file.write("a.txt\n")
    ours = checkout(top)
    before = take_snapshot(ours)
    (top / ".git/index").unlink()
    assert list_changes(ours, before, take_snapshot(ours, before)) == []


@pytest.mark.thorough
def test_a_lock_of_another_git_is_respected(top: Path) -> None:
    ours = checkout(top)
    take_snapshot(ours)
    index = (top / ".git/index").read_bytes()
    (top / ".git/index.lock").touch()
    with pytest.raises(CubError, match="index can't be written: file exists"):
        reset_user_index(ours)
    assert (top / ".git/index").read_bytes() == index
    assert (top / ".git/index.lock").exists()


def test_a_folder_in_place_of_the_lock_is_not_waited_for(top: Path) -> None:
    ours = checkout(top)
    take_snapshot(ours)
    lock = top / ".git/index.lock"
    lock.mkdir()
    with pytest.raises(CubError, match="a directory blocks git's lock file") as caught:
        reset_user_index(ours)
    assert (caught.value.where, caught.value.hint) == (str(lock), "move it away")
    assert lock.is_dir()


@pytest.mark.parametrize("commits", [False, True])
def test_where_git_gets_no_further_nothing_of_ours_is_in_the_index(
    top: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    """As after a kill: our index has untracked files, and the person's must not stage them."""
    ours, before = checkout(top), lines(top)
    take_snapshot(ours)
    with monkeypatch.context() as here:
        here.setenv("PATH", str(tmp_path))
        with pytest.raises(CubError, match="git"):
            commit_paths(
                ours, [], [], "done", person(home), TimeLimits()
            ) if commits else reset_user_index(ours)
    assert lines(top) == before
    reset_user_index(ours)
    assert lines(top) == before


def test_a_lock_that_cannot_be_moved_into_place_goes(top: Path) -> None:
    ours, index = checkout(top), top / ".git/index"
    take_snapshot(ours)
    index.unlink()
    index.mkdir()
    with pytest.raises(CubError, match="git's index can't be written"):
        reset_user_index(ours)
    assert not index.with_name("index.lock").exists()
