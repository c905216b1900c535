"""Locks that a killed process of git's leaves behind."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

from cub.git.lock_files import remove_stale_locks


def test_a_lock_that_nobody_lets_go_is_removed(project: Path) -> None:
    since = time.time() - 1
    lock = project / ".git" / "index.lock"
    lock.touch()
    remove_stale_locks(project, since)
    assert not lock.exists()


def test_a_lock_from_before_stays(project: Path) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    remove_stale_locks(project, time.time() + 60)
    assert lock.exists()


def test_the_time_of_a_lock_can_not_be_set_back(project: Path) -> None:
    since = time.time() - 1
    lock = project / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1_000, 1_000))
    assert remove_stale_locks(project, since) == ["index.lock"]


def test_locks_of_refs_are_found(project: Path) -> None:
    lock = project / ".git" / "refs/heads/topic/main.lock"
    lock.parent.mkdir()
    lock.touch()
    assert remove_stale_locks(project, time.time() - 1) == ["main.lock"]


def test_a_lock_of_a_git_at_work_stays(project: Path) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    with subprocess.Popen(["git", "hash-object", "--stdin"], cwd=project, stdin=-1) as git:
        assert remove_stale_locks(project, time.time() - 1) == []
        assert lock.exists()
        git.kill()


def test_a_lock_that_is_let_go_meanwhile_is_waited_for(project: Path) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    other = threading.Timer(0.05, lock.rename, [lock.with_name("index")])
    other.start()
    remove_stale_locks(project, time.time() - 1)
    other.join()
    assert (project / ".git" / "index").exists()
