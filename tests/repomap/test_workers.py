"""Work in processes of their own: its result comes, or the work is done here."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial

import pytest

from cub.repomap.workers import MIN_FORK_BYTES, MIN_FORK_FILES, Workers, can_fork, count_workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork")


def act_elsewhere(here: int, act: Callable[[], object]) -> object:
    """Act in a process of its own, and only tell its number in this one."""
    return here if os.getpid() == here else act()


def end() -> None:
    os._exit(1)


def fail() -> None:
    raise OSError("no memory")


def test_the_work_is_done_by_another_process() -> None:
    with Workers(1) as workers:
        assert workers.start(os.getpid)() != os.getpid()


def test_without_processes_the_work_is_done_when_its_result_is_needed() -> None:
    with Workers(0) as workers:
        assert workers.start(os.getpid)() == os.getpid()


@pytest.mark.parametrize("act", [end, fail])
def test_where_no_result_comes_the_work_is_done_here(
    act: Callable[[], object], capfd: pytest.CaptureFixture[str]
) -> None:
    with Workers(1) as workers:
        assert workers.start(partial(act_elsewhere, os.getpid(), act))() == os.getpid()
    assert capfd.readouterr() == ("", "")


def test_when_a_process_is_killed_all_further_work_is_done_here() -> None:
    with Workers(1) as workers:
        workers.start(partial(act_elsewhere, os.getpid(), end))()
        assert workers.start(os.getpid)() == os.getpid()


def test_what_fails_fails_here() -> None:
    with Workers(1) as workers, pytest.raises(ZeroDivisionError):
        workers.start(partial(divmod, 1, 0))()


def test_there_is_no_process_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert count_workers(MIN_FORK_BYTES - 1, MIN_FORK_FILES - 1) == 0
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert count_workers(MIN_FORK_BYTES, 0) == count_workers(0, MIN_FORK_FILES) == 1
    assert count_workers(1_000_000_000, 0) == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert count_workers(1_000_000_000, 1_000) == 0


def test_a_process_with_threads_is_not_forked() -> None:
    hold = threading.Event()
    thread = threading.Thread(target=hold.wait)
    thread.start()
    assert not can_fork()
    hold.set()
    thread.join()
