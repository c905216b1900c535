"""Kills in the middle of an acceptance: another call finishes it, and loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from cub.place import merge_recovery
from cub.place.acceptance import Acceptance, accept_commit
from cub.place.checkout import find_checkout
from cub.place.merge_recovery import remove_stale_locks
from tests.conftest import git
from tests.examples import keep_few
from tests.forked import ForkedFunction
from tests.git.checkouts import copy_repository
from tests.git.commits import Files
from tests.place.acceptances import REF, Attempt, begin, everything
from tests.place.test_acceptance import WORK, is_merged
from tests.written_files import write_files, write_program

_CALLS = 12  # of git, which an ordinary acceptance makes
_STORE = ".cub/tasks.jsonl"
_REF = "refs/heads/topic/main"
_MINE = {"b.txt": b"mine\n", "dir/mine": b"mine\n", _STORE: b"1\n"}
_CHANGES: Files = {"b.txt": b"mine\n"}
# Ends or interrupts the process group of cub at a call of git's.
_GIT = """#!/bin/sh
n=$(($(cat {count}) + 1))
echo $n > {count}
[ $n = {before} ] && {kill}
[ $n = {after} ] || exec {git} "$@"
{git} "$@"
kill -9 0
"""
_SMUDGE = "#!/bin/sh\nif [ -e {flag} ]; then rm {flag}; kill -9 0; fi\nexec cat\n"


def break_git(folder: Path, *, before: int = 0, after: int = 0, kill: str = "kill -9 0") -> str:
    """Return a PATH whose git kills cub before or after one of its calls."""
    count = folder / "count"
    count.write_text("0")
    real = shutil.which("git")
    text = _GIT.format(count=count, before=before, after=after, kill=kill, git=real)
    return f"{write_program(folder / 'bin' / 'git', text).parent}:{os.environ['PATH']}"


def start(attempt: Attempt, commit: str, path: str, changes: str = "") -> int:
    """Accept in a process group of its own, and return how it ended."""

    def accept() -> None:
        os.setsid()
        accept_again(attempt, commit, changes)

    with ForkedFunction(accept, {**os.environ, "PATH": path}) as child:
        return child.wait()


def accept_again(attempt: Attempt, commit: str, changes: str = "") -> Acceptance:
    checkout, own = attempt.checkout, [_STORE]
    return accept_commit(checkout, attempt.target, commit, REF, own, changes=changes, patience=0)


def kill_while_writing(attempt: Attempt, commit: str, path: str) -> None:
    """Kill cub and git while git writes this file."""
    top, state = attempt.checkout.toplevel, attempt.objects.parent
    flag = state / "flag"
    flag.touch()
    smudge = write_program(state / "smudge", _SMUDGE.format(flag=flag))
    git(top, "config", "filter.kill.smudge", str(smudge))
    write_files(top, {".git/info/attributes": f"{path} filter=kill\n".encode()})
    assert start(attempt, commit, os.environ["PATH"]) == -9
    assert not flag.exists()
    assert (top / ".git" / "index.lock").exists()


def is_finished(top: Path, commit: str) -> None:
    is_merged(top, commit)
    assert not list((top / ".git").rglob("*.lock"))
    assert {path: (top / path).read_bytes() for path in _MINE} == _MINE
    assert (top / "swap/inner").read_bytes() == b"inner\n"


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("call", keep_few(range(1, _CALLS + 1), 2))
def test_a_kill_at_any_call_of_git_is_made_up_for(
    top: Path, attempt: Attempt, tmp_path: Path, call: int, *, is_after: bool
) -> None:
    commit = attempt.commit({**WORK, _STORE: b"1\n"})
    attempt.bring(commit)
    write_files(top, _MINE)
    git(top, "add", "b.txt")
    path = break_git(tmp_path, before=0 if is_after else call, after=call if is_after else 0)
    assert start(attempt, commit, path) == -9
    assert accept_again(attempt, commit).state == "merged"
    is_finished(top, commit)
    assert git(top, "status", "--porcelain") == "M  b.txt\n?? dir/mine\n"


@pytest.mark.parametrize("call", keep_few(range(5, _CALLS + 6), 2))
def test_a_kill_is_made_up_for_on_top_of_the_persons_changes(
    top: Path, attempt: Attempt, tmp_path: Path, call: int
) -> None:
    write_files(top, _MINE)
    changes = attempt.commit(_CHANGES)
    commit = attempt.commit({**WORK, _STORE: b"1\n"}, changes)
    attempt.bring(commit)
    start(attempt, commit, break_git(tmp_path, before=call), changes)
    assert accept_again(attempt, commit, changes).state == "merged"
    is_finished(top, commit)
    assert git(top, "status", "--porcelain") == "?? dir/mine\n"


@pytest.mark.parametrize(
    "path", keep_few([p for p in WORK if p not in ("gone.txt", "swap", "link")], 2)
)
def test_a_kill_while_files_are_written_is_made_up_for(
    top: Path, attempt: Attempt, path: str
) -> None:
    commit = attempt.commit({**WORK, _STORE: b"1\n"})
    attempt.bring(commit)
    write_files(top, _MINE)
    kill_while_writing(attempt, commit, path)
    assert accept_again(attempt, commit).state == "merged"
    is_finished(top, commit)
    assert git(top, "status", "--porcelain") == " M b.txt\n?? dir/mine\n"


def test_a_file_that_is_half_written_is_git_s(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    write_files(top, _MINE)
    kill_while_writing(attempt, commit, "swap/inner")
    write_files(top, {"new.txt": b"n"})
    assert accept_again(attempt, commit).state == "merged"
    assert (top / "new.txt").read_bytes() == b"new\n"


def test_edits_after_a_kill_block_and_the_rest_is_taken_back(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    write_files(top, _MINE)
    before = everything(top)
    kill_while_writing(attempt, commit, "swap/inner")
    write_files(top, {"a.txt": b"mine\n", "made/deep/mine": b"mine\n", "new.txt": b"mine\n"})
    result = accept_again(attempt, commit)
    assert result.state == "blocked"
    after = everything(top)
    mine = {"a.txt", "made", "made/deep", "made/deep/mine", "new.txt"}
    assert {p: after[p] for p in after if p not in mine} == {
        p: before[p] for p in before if p not in mine
    }
    assert (top / "a.txt").read_bytes() == (top / "new.txt").read_bytes() == b"mine\n"


def test_two_files_that_could_be_half_written_are_the_persons(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    kill_while_writing(attempt, commit, "swap/inner")
    write_files(top, {"new.txt": b"n", "made/deep/x.txt": b""})
    assert accept_again(attempt, commit).state == "blocked"
    assert (top / "new.txt").read_bytes() == b"n"
    assert (top / "made/deep/x.txt").read_bytes() == b""
    assert not git(top, "diff", "--name-only")


def test_a_lock_that_the_person_removed_makes_no_difference(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    kill_while_writing(attempt, commit, "swap/inner")
    (top / ".git" / "index.lock").unlink()
    assert accept_again(attempt, commit).state == "merged"
    is_merged(top, commit)
    assert not git(top, "status", "--porcelain")


def test_what_the_person_committed_after_a_kill_stays(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    kill_while_writing(attempt, commit, "swap/inner")
    (top / ".git" / "index.lock").unlink()
    git(top, "commit", "-q", "-a", "-m", "mine")
    before = everything(top) | {"/own": []}
    assert accept_again(attempt, commit).state == "moved"
    assert everything(top) == before


def test_equal_content_from_before_a_kill_stays(
    top: Path, attempt: Attempt, tmp_path: Path
) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    write_files(top, {"a.txt": b"two\n"})
    before = everything(top)
    start(attempt, commit, break_git(tmp_path, before=6))
    assert accept_again(attempt, commit).state == "blocked"
    assert everything(top) == before


@pytest.mark.parametrize("call", keep_few(range(6, _CALLS + 1), 2))
def test_an_interrupt_is_cleaned_up_at_once(
    top: Path, attempt: Attempt, tmp_path: Path, call: int
) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    before = everything(top)
    start(attempt, commit, break_git(tmp_path, before=call, kill="kill -INT $PPID"))
    after = everything(top)
    if git(top, "rev-parse", "main").strip() == commit:
        assert not git(top, "status", "--porcelain")
    else:
        assert after == before
    assert not (top / ".git" / "index.lock.lock").exists()
    assert accept_again(attempt, commit).state == "merged"


def test_a_kill_in_a_linked_work_tree_is_made_up_for(
    tmp_path: Path, accepting_repository: Path
) -> None:
    main = copy_repository(accepting_repository, tmp_path)
    linked = tmp_path / "linked"
    git(main, "worktree", "add", "-q", str(linked), "other")
    attempt = begin(linked, tmp_path / "state")
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    start(attempt, commit, break_git(tmp_path, after=9))
    assert accept_again(attempt, commit).state == "merged"
    assert not git(linked, "status", "--porcelain")


def remove_locks(project: Path, since: float = -1) -> None:
    remove_stale_locks(find_checkout(project), _REF, time.time() + since)


@pytest.fixture
def lock(project: Path) -> Path:
    lock = project / ".git" / "index.lock"
    lock.touch()
    return lock


@pytest.mark.parametrize("name", ["index", "HEAD", _REF])
def test_a_lock_that_nobody_lets_go_is_removed(project: Path, name: str) -> None:
    lock = project / ".git" / f"{name}.lock"
    lock.parent.mkdir(exist_ok=True)
    lock.touch()
    remove_locks(project)
    assert not lock.exists()


def test_a_lock_from_before_stays(project: Path, lock: Path) -> None:
    remove_locks(project, 60)
    assert lock.exists()


def test_the_time_of_a_lock_can_not_be_set_back(project: Path, lock: Path) -> None:
    os.utime(lock, (1_000, 1_000))
    remove_locks(project)
    assert not lock.exists()


def test_the_lock_of_a_ref_that_work_trees_share_is_found(project: Path, tmp_path: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "x")
    git(project, "worktree", "add", "-q", str(tmp_path / "linked"))
    locks = [project / ".git" / "worktrees/linked/HEAD.lock", project / ".git" / f"{_REF}.lock"]
    locks[1].parent.mkdir()
    for lock in locks:
        lock.touch()
    remove_locks(tmp_path / "linked")
    assert not any(lock.exists() for lock in locks)


def test_a_lock_of_a_git_at_work_stays(project: Path, lock: Path) -> None:
    with subprocess.Popen(["git", "hash-object", "--stdin"], cwd=project, stdin=-1) as git_at_work:
        remove_locks(project)
        assert lock.exists()
        git_at_work.kill()


def test_a_lock_that_is_let_go_meanwhile_is_waited_for(
    project: Path, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(_: float) -> None:
        lock.rename(lock.with_name("index"))

    clock = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)
    monkeypatch.setattr(merge_recovery, "time", clock)
    remove_locks(project)
    assert (project / ".git" / "index").exists()
