"""Work in a process of its own: its result comes, or the work is done here."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import pytest

from cub.repomap.fork import can_fork, run_in_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork")

HERE = os.getpid()


def elsewhere(act: Callable[[], object]) -> Callable[[], object]:
    """Work that acts in a process of its own, and only tells its number in this one."""
    return lambda: os.getpid() if os.getpid() == HERE else act()


def test_the_work_is_done_by_another_process() -> None:
    result = run_in_fork(os.getpid)
    assert result() not in (HERE, None)


def test_a_large_result_comes_whole() -> None:
    assert run_in_fork(lambda: "crumb" * 1_000_000)() == "crumb" * 1_000_000


@pytest.mark.parametrize(
    "act",
    [lambda: os._exit(1), lambda: 1 // 0, lambda: lambda: None],  # none of them gives a result
    ids=["ends", "fails", "gives what can't be sent"],
)
def test_where_no_result_comes_the_work_is_done_here(
    act: Callable[[], object], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_in_fork(elsewhere(act))() == HERE
    assert capfd.readouterr() == ("", "")


def test_what_fails_fails_here() -> None:
    with pytest.raises(ZeroDivisionError):
        run_in_fork(lambda: 1 // 0)()


def test_a_process_with_threads_is_not_forked() -> None:
    hold = threading.Event()
    thread = threading.Thread(target=hold.wait)
    thread.start()
    assert not can_fork()
    hold.set()
    thread.join()
