"""Locks that a killed process of git's leaves behind."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from cub.git.locked import unlock


def test_a_lock_that_nobody_lets_go_is_removed(project: Path) -> None:
    since = time.time() - 1
    lock = project / ".git" / "index.lock"
    lock.touch()
    unlock(project, since)
    assert not lock.exists()


def test_a_lock_from_before_stays(project: Path) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1_000, 1_000))
    unlock(project, 2_000)
    assert lock.exists()


def test_a_lock_that_is_let_go_meanwhile_is_waited_for(project: Path) -> None:
    lock = project / ".git" / "index.lock"
    lock.touch()
    other = threading.Timer(0.05, lock.rename, [lock.with_name("index")])
    other.start()
    unlock(project, time.time() - 1)
    other.join()
    assert (project / ".git" / "index").exists()
