from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.processes.command import StopRequest, explain_missing_program


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with programs, and one with a script below it."""
    for name, text, mode in (
        ("bin/agent", "\x7fELF", 0o755),
        ("bin/plain", "#!/bin/sh\n", 0o644),
        ("other/plain", "#!/bin/sh\n", 0o755),
        ("bin/script", "#! /bin/sh -e\n", 0o755),
        ("bin/orphan", "#!/no/such/python3\n", 0o755),
        ("bin/node-cli", "#!/usr/bin/env no-such-node\n", 0o755),
        ("bin/env-cli", "#!/usr/bin/env agent\n", 0o755),
        ("bin/option-cli", "#!/usr/bin/env -S no-such-node --x\n", 0o755),
        ("bin/empty", "", 0o755),
        ("bin/bare", "#!\n", 0o755),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    (tmp_path / "bin" / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["agent", "script", "env-cli", "option-cli", "empty", "bare", "./bin/agent", "bin/script"],
)
def test_what_is_there_can_be_started(shelf: Path, name: str) -> None:
    assert explain_missing_program(name, shelf, {"PATH": "no-such-folder:bin"}) == ""
    assert explain_missing_program(str(shelf / "bin/agent"), Path("/"), {}) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "nobody is not in PATH"),
        ("folder", "folder is not in PATH"),
        (".", ". is not in PATH"),
        ("./agent", "./agent is not there"),
        ("~/bin/agent", "~/bin/agent is not there"),
        ("/no/such/program", "/no/such/program is not there"),
        ("bin/folder", "bin/folder is not there"),
        ("plain", "F/bin/plain is not executable"),
        ("bin/plain", "F/bin/plain is not executable"),
        ("orphan", "F/bin/orphan needs /no/such/python3, which is not there"),
        ("node-cli", "F/bin/node-cli needs no-such-node, which is not there"),
    ],
)
def test_what_is_missing_is_told(shelf: Path, name: str, why: str) -> None:
    assert explain_missing_program(name, shelf, {"PATH": f"{shelf}/bin"}) == why.replace(
        "F", str(shelf)
    )


def test_a_file_that_can_not_be_started_hides_no_program_behind_it(shelf: Path) -> None:
    assert explain_missing_program("plain", shelf, {"PATH": "bin:other"}) == ""


def test_without_a_path_it_is_the_systems_own(shelf: Path) -> None:
    assert explain_missing_program("sh", shelf, {}) == ""
    assert explain_missing_program("agent", shelf, {}) == "agent is not in PATH"


def test_an_empty_part_of_the_path_is_the_folder_itself(shelf: Path) -> None:
    assert explain_missing_program("agent", shelf / "bin", {"PATH": "/usr/bin:"}) == ""


@pytest.fixture
def stop() -> Iterator[StopRequest]:
    stop = StopRequest()
    yield stop
    stop.close()


def readable(stop: StopRequest) -> bool:
    return bool(select.select([stop], [], [], 0)[0])


def test_nothing_is_requested_at_first(stop: StopRequest) -> None:
    assert not stop.is_requested
    assert not readable(stop)
    assert not stop.wait(0)
    assert not stop.wait(0.001)


def test_a_request_stays(stop: StopRequest) -> None:
    stop.request()
    for _ in range(2):
        assert stop.is_requested
        assert readable(stop)
        assert stop.wait(60)


def test_any_number_of_requests_does_no_harm(stop: StopRequest) -> None:
    for _ in range(70_000):  # more than a pipe holds
        stop.request()
    assert stop.wait(60)


def test_a_request_wakes_who_waits(stop: StopRequest) -> None:
    timer = threading.Timer(0.05, stop.request)
    timer.start()
    began = time.monotonic()
    assert stop.wait(60)
    assert time.monotonic() - began < 30
    timer.join()


def test_a_request_from_a_signal_handler_wakes_who_waits(stop: StopRequest) -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: stop.request())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert stop.wait(60)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_files_are_given_back_once(stop: StopRequest) -> None:
    number = stop.fileno()
    assert not os.get_inheritable(number)
    stop.close()
    stop.close()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(number)
    stop.request()
    assert stop.is_requested


def test_a_request_can_be_made_again_and_again(stop: StopRequest) -> None:
    for _ in range(3):
        stop.request()
        stop.request()
        assert stop.wait(60)
        stop.reset()
        assert not stop.is_requested
        assert not readable(stop)
        assert not stop.wait(0.001)


def test_a_listener_that_raises_keeps_no_other_from_being_called(stop: StopRequest) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with stop.notify(interrupt), stop.open_child() as child:
        with pytest.raises(KeyboardInterrupt):
            stop.request()
        assert child.is_requested


def test_all_who_listen_are_notified_in_order(stop: StopRequest) -> None:
    calls: list[str] = []
    with stop.notify(lambda: calls.append("first")):
        with stop.notify(lambda: calls.append("second")):
            stop.request()
        stop.request()
        with stop.notify(lambda: calls.append("late")):
            pass
    stop.request()
    assert calls == ["first", "second", "first", "late"]


def test_a_child_stops_with_its_parent_and_alone(stop: StopRequest) -> None:
    with stop.open_child() as child, stop.open_child() as other, child.open_child() as grandchild:
        child.request()
        assert child.is_requested
        assert grandchild.wait(60)
        assert not stop.is_requested
        assert not other.is_requested
        stop.request()
        assert other.wait(60)
    with stop.open_child() as late:
        assert late.is_requested


def test_children_of_many_threads_all_get_a_request(stop: StopRequest) -> None:
    is_open, results = threading.Barrier(9), list[bool]()

    def wait_in_child() -> None:
        for _ in range(50):
            with stop.open_child():
                pass
        with stop.open_child() as child:
            is_open.wait(60)
            results.append(child.wait(60))

    threads = [threading.Thread(target=wait_in_child) for _ in range(8)]
    for thread in threads:
        thread.start()
    is_open.wait(60)
    stop.request()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
