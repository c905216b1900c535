"""The one rule of waiting for a lock, by a clock that moves only when somebody waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.lock import WAIT_LIMIT, LockWaitPolicy, MessageSink, lock_project, use_message_sink

pytestmark = pytest.mark.skipif(os.name == "nt", reason="another handle is no other holder there")


class Clock:
    """Tells the time, and does something at some moments of it."""

    def __init__(self, deeds: dict[float, Callable[[], object]] | None = None) -> None:
        self.now = 0.0
        self.deeds = deeds or {}

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds
        for moment in [at for at in self.deeds if at <= self.now]:
            self.deeds.pop(moment)()

    def rule(self, limit: float) -> LockWaitPolicy:
        return LockWaitPolicy(limit, clock=lambda: self.now, sleep=self.sleep)


@pytest.fixture
def held(root: Path) -> Iterator[Path]:
    """The lock file of a project, whose lock somebody has."""
    with lock_project(root):
        yield root / ".cub/lock"


def wait(
    root: Path, clock: Clock, said: list[str] | None = None, limit: float = WAIT_LIMIT
) -> None:
    """Wait for the lock, and take down what is said."""
    hears = MessageSink(lambda _: None, ([] if said is None else said).append)
    with use_message_sink(hears), lock_project(root, wait=clock.rule(limit)):
        pass


def test_one_and_the_same_holder_is_waited_for_up_to_a_bound(root: Path, held: Path) -> None:
    clock = Clock()
    with pytest.raises(CubError, match="another cub is running here") as error:
        wait(root, clock)
    assert WAIT_LIMIT <= clock.now < WAIT_LIMIT + 1
    assert error.value.details == (f"held by {held.read_text().strip()}",)


def test_each_new_holder_is_progress(root: Path, held: Path) -> None:
    def signed_anew(number: int) -> Callable[[], object]:
        return lambda: os.utime(held, ns=(number, number))

    limit = 10.0
    clock = Clock({limit * 0.9 * n: signed_anew(n) for n in range(1, 6)})
    with pytest.raises(CubError):
        wait(root, clock, limit=limit)
    assert limit * 5.5 <= clock.now < limit * 5.5 + 1


def test_a_person_is_told_after_a_moment_and_once(root: Path) -> None:
    with lock_project(root):
        holder = (root / ".cub/lock").read_text().strip()
        said: list[str] = []
        with pytest.raises(CubError):
            wait(root, Clock(), said)
    assert said == [f"Waiting for {holder}"]


def test_a_lock_that_is_free_soon_is_not_spoken_of(root: Path) -> None:
    first = lock_project(root)
    first.__enter__()
    clock = Clock({0.5: lambda: first.__exit__(None, None, None)})
    said: list[str] = []
    wait(root, clock, said)
    assert (said, 0.5 <= clock.now < 1) == ([], True)


def test_an_interrupt_ends_the_wait_at_once(root: Path, held: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before = held.read_bytes()
    clock = Clock({3.0: interrupt})
    with pytest.raises(KeyboardInterrupt):
        wait(root, clock)
    assert (clock.now < 3.1, held.read_bytes()) == (True, before)
