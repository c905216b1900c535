from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from cub.processes.stop import Stop


@pytest.fixture
def stop() -> Iterator[Stop]:
    stop = Stop()
    yield stop
    stop.close()


def readable(stop: Stop) -> bool:
    return bool(select.select([stop], [], [], 0)[0])


def test_nothing_is_requested_at_first(stop: Stop) -> None:
    assert not stop.requested
    assert not readable(stop)
    assert not stop.wait(0)
    assert not stop.wait(0.001)


def test_a_request_stays(stop: Stop) -> None:
    stop.request()
    for _ in range(2):
        assert stop.requested
        assert readable(stop)
        assert stop.wait(60)


def test_any_number_of_requests_does_no_harm(stop: Stop) -> None:
    for _ in range(70_000):  # more than a pipe holds
        stop.request()
    assert stop.wait(60)


def test_a_request_wakes_who_waits(stop: Stop) -> None:
    timer = threading.Timer(0.05, stop.request)
    timer.start()
    began = time.monotonic()
    assert stop.wait(60)
    assert time.monotonic() - began < 30
    timer.join()


def test_a_request_from_a_signal_handler_wakes_who_waits(stop: Stop) -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: stop.request())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert stop.wait(60)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_files_are_given_back_once(stop: Stop) -> None:
    number = stop.fileno()
    assert not os.get_inheritable(number)
    stop.close()
    stop.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(number)
    stop.request()
    assert stop.requested
