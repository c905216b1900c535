from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace

import pytest

from cub.processes import runner
from cub.processes.command import CommandSpec, ProcessResult, StopRequest, TimeLimits
from cub.processes.runner import RunningCommand
from tests.processes.programs import STUBBORN, Make, lives, until

pytestmark = pytest.mark.usefixtures("nothing_left")
# Ends in order when it gets INT, and fails when it gets TERM.
CAREFUL = "trap 'echo tidied; exit 5' INT; echo ready; while :; do sleep 0.02; done"


def ended(
    command: CommandSpec, limits: TimeLimits, stop: StopRequest | None = None
) -> tuple[ProcessResult, bytes]:
    with RunningCommand(command, limits, stop) as running:
        said = b"".join(one.data for one in running.iter_output())
    return running.result, said


def ended_with(command: CommandSpec, limits: TimeLimits) -> tuple[ProcessResult, bytes]:
    """How it ended under limits that it gets once it speaks: a busy machine starts it slowly."""
    said = b""
    with RunningCommand(command) as running:
        for piece in running.iter_output():
            said += piece.data
            running.limits = limits
    return running.result, said


class Clock:
    """A time that stands still until a test moves it."""

    now = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def ended_once_it_speaks(
    command: CommandSpec, grace: tuple[float, float]
) -> tuple[ProcessResult, bytes]:
    said = b""
    with RunningCommand(command, TimeLimits(grace=grace)) as running:
        for piece in running.iter_output():
            said += piece.data
            running.terminate()
    return running.result, said


def test_a_wall_limit_ends_it_however_much_it_says(make: Make) -> None:
    command = make.shell("while :; do echo x; sleep 0.01; done")
    how, said = ended_with(command, TimeLimits(wall=0.2, idle=20))
    assert how[:4] == (None, signal.SIGINT, "wall", "")
    assert 0.2 <= how.seconds < 10
    assert said.startswith(b"x\n")


def test_silence_ends_it(make: Make) -> None:
    how, said = ended_with(make.shell("echo x; exec sleep 60"), TimeLimits(wall=30, idle=0.2))
    assert (how[:4], said) == ((None, signal.SIGINT, "idle", ""), b"x\n")
    assert 0.2 <= how.seconds < 10


@pytest.mark.parametrize("stream", [1, 2])
def test_whatever_it_says_breaks_the_silence(make: Make, clock: Clock, stream: int) -> None:
    os.mkfifo(make.folder / "go")
    command = make.shell(f"exec 3<> go; for n in 1 2 3; do echo x >&{stream}; read y <&3; done")
    with RunningCommand(command, TimeLimits(idle=10)) as running:
        for _ in running.iter_output():
            clock.now += 9
            (make.folder / "go").write_text("\n")
    assert (running.result[:3], clock.now) == ((0, None, ""), 27)


def test_a_slow_reader_makes_no_silence(make: Make, clock: Clock) -> None:
    os.mkfifo(make.folder / "go")
    command = make.shell("echo 1; read y < go; echo 2; echo > said")
    with RunningCommand(command, TimeLimits(idle=10)) as running:
        for piece in running.iter_output():
            if piece.data == b"1\n":
                (make.folder / "go").write_text("\n")
                assert until((make.folder / "said").exists)
                clock.now += 20
    assert running.result[:3] == (0, None, "")


def test_limits_count_from_the_start_of_the_command(make: Make, clock: Clock) -> None:
    os.mkfifo(make.folder / "go")
    command = make.shell("exec 3<> go; echo x; read y <&3; echo y; read y <&3")
    with RunningCommand(command, TimeLimits(wall=10)) as running:
        clock.now += 9  # while the Python starts that starts the command
        for piece in running.iter_output():
            clock.now += 2 if piece.data == b"y\n" else 0
            (make.folder / "go").write_text("\n")
    assert (running.result[:3], running.result.seconds) == ((0, None, ""), 2)


def test_one_that_ends_in_order_may_do_so(make: Make) -> None:
    how, said = ended_once_it_speaks(make.shell(CAREFUL), (20, 0))
    assert (how[:3], said) == ((5, None, "ended"), b"ready\ntidied\n")


def test_one_that_ignores_int_gets_term(make: Make) -> None:
    how, _ = ended_once_it_speaks(make.shell("trap '' INT; echo; exec sleep 60"), (0.05, 20))
    assert how[:3] == (None, signal.SIGTERM, "ended")


def test_one_that_ignores_all_gets_kill(make: Make) -> None:
    how, said = ended_once_it_speaks(make.python(STUBBORN), (0.05, 0.05))
    assert how[:3] == (None, signal.SIGKILL, "ended")
    assert 0.1 <= how.seconds < 10
    assert not lives(int(said))


def test_one_that_is_stopped_ends_too(make: Make) -> None:
    how, _ = ended(make.shell("kill -STOP $$"), TimeLimits(0.2, grace=(20, 20)))
    assert how[:3] == (None, signal.SIGINT, "wall")


def test_one_that_stops_its_keeper_ends_too(make: Make) -> None:
    how, _ = ended(make.shell("kill -STOP $PPID; exec sleep 60"), TimeLimits(0.2))
    assert how[:3] == (None, signal.SIGINT, "wall")


def test_a_requested_stop_ends_it(make: Make) -> None:
    stop = StopRequest()
    with RunningCommand(make.shell("echo x; exec sleep 60"), TimeLimits(60, 60), stop) as running:
        for _ in running.iter_output():
            stop.request()
    assert running.result[:3] == (None, signal.SIGINT, "stopped")
    stop.close()


def test_nobody_is_busy_while_a_stopped_one_ends(make: Make) -> None:
    stop = StopRequest()
    with RunningCommand(
        make.shell("trap 'sleep 0.5; exit 5' INT; echo; while :; do sleep 0.1; done"), stop=stop
    ) as running:
        before = time.process_time()
        for _ in running.iter_output():
            stop.request()
    assert (running.result.exit_code, time.process_time() - before < 0.2) == (5, True)
    stop.close()


def test_so_does_one_from_a_signal_handler(make: Make) -> None:
    stop = StopRequest()
    before = signal.signal(signal.SIGUSR1, lambda *_: stop.request())
    try:
        text = f"sleep 0.1; kill -USR1 {os.getpid()}; exec sleep 60"
        assert ended(make.shell(text), TimeLimits(), stop)[0].cause == "stopped"
    finally:
        signal.signal(signal.SIGUSR1, before)
        stop.close()


def test_a_stop_before_the_start_ends_it_at_once(make: Make) -> None:
    stop = StopRequest()
    stop.request()
    how, _ = ended(make.program("sleep", "60"), TimeLimits(), stop)
    assert how[:3] == (None, signal.SIGINT, "stopped")
    stop.close()


def test_a_stop_that_is_closed_starts_nothing(make: Make) -> None:
    stop = StopRequest()
    stop.close()
    with (
        pytest.raises(ValueError, match="descriptor"),
        RunningCommand(make.shell("exec sleep 60"), stop=stop),
    ):
        pass


def test_the_first_cause_stays(make: Make) -> None:
    stop = StopRequest()
    with RunningCommand(make.shell(CAREFUL), TimeLimits(idle=20), stop) as running:
        for piece in running.iter_output():
            if piece.data == b"ready\n":
                running.terminate()
                stop.request()
    assert running.result[:3] == (5, None, "ended")
    running.terminate()
    assert running.result.cause == "ended"
    stop.close()
