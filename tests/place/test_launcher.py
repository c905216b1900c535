"""The launcher as the keeper sees it: exit codes, signals, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from cub.processes.command import OutputChunk, TimeLimits
from cub.processes.orphans import kill_by_environment
from cub.processes.runner import RunningCommand, run_and_capture
from tests.place.walled import Walled, make_walled

if os.name != "posix":
    pytest.skip("walls need Linux", allow_module_level=True)

COUNT_INTERRUPTS = """
from signal import *
pthread_sigmask(SIG_BLOCK, [SIGINT])
print("ready", flush=True)
print(sigwait([SIGINT]).name, sigtimedwait([SIGINT], 0.1))
"""
STUBBORN = "trap '' INT TERM; echo ready; while :; do sleep 60; done"


@pytest.fixture(params=["launcher", "landlock"])
def walled(request: pytest.FixtureRequest, tmp_path: Path) -> Walled:
    return make_walled(tmp_path.resolve(), request.param)


def test_it_exits_as_its_command_does(walled: Walled) -> None:
    assert walled.start("exit 7").returncode == 7
    assert walled.start("kill -TERM $$").returncode == -signal.SIGTERM
    assert walled.start("kill -KILL $$").returncode == -signal.SIGKILL


def test_it_says_what_it_cannot_start(walled: Walled) -> None:
    command = walled.make("")
    words = command.argv[: command.argv.index("/bin/sh")]
    missing = command._replace(argv=(*words, "no-such-program"), folder=Path("/"))
    done = run_and_capture(missing)
    assert (done.result.exit_code, done.out) == (
        127,
        b"cub: no-such-program: No such file or directory\n",
    )
    refused = run_and_capture(command._replace(argv=(*words, "/etc/passwd")))
    assert refused.result.exit_code == 126


def test_it_says_why_the_walls_cannot_be_built(walled: Walled) -> None:
    command = walled.make("echo reached")
    folder = os.fspath(walled.folder)
    words = [word.replace(folder, "/no-such-folder") for word in command.argv]
    done = run_and_capture(command._replace(argv=tuple(words)))
    assert done.result.exit_code == 125
    assert b"the walls can't be built: /no-such-folder" in done.out


def test_the_command_gets_its_own_environment_and_input(walled: Walled) -> None:
    command = walled.make("cat; env")._replace(stdin=b"given\n", environ={"ONE": "1"})
    lines = run_and_capture(command).out.decode().splitlines()
    assert sorted(lines) == sorted(["given", "ONE=1", f"PWD={walled.folder.as_posix()}"])


def test_no_file_is_inherited(walled: Walled) -> None:
    with (walled.base / "state" / "key").open(encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        line = f"cat <&{file.fileno()}"
        assert "secret" not in walled.run(line)


def test_the_command_can_end_by_itself_when_asked(walled: Walled) -> None:
    line = "trap 'echo ended; exit 3' TERM; trap '' INT; echo ready; while :; do sleep 0.01; done"
    with RunningCommand(walled.make(line), TimeLimits(grace=(0.05, 20))) as running:
        chunks = running.iter_output()
        assert next(chunks) == OutputChunk("out", b"ready\n")
        running.terminate()
        assert b"".join(chunk.data for chunk in chunks if chunk.stream == "out") == b"ended\n"
    assert running.result.exit_code == 3


def test_a_request_to_end_reaches_the_command_once(walled: Walled) -> None:
    line = f"exec {sys.executable} -c '{COUNT_INTERRUPTS}'"
    with RunningCommand(walled.make(line), TimeLimits(grace=(20, 20))) as running:
        chunks = running.iter_output()
        assert next(chunks) == OutputChunk("out", b"ready\n")
        running.terminate()
        assert b"".join(chunk.data for chunk in chunks if chunk.stream == "out") == b"SIGINT None\n"


@pytest.mark.parametrize("word", ["end", "kill"])
def test_nothing_outlives_it(launched: Walled, word: str) -> None:
    line = f'(setsid sh -c "{STUBBORN}" &) ; {STUBBORN}'
    mark = ("CUB_TEST_MARK", os.fspath(launched.base))
    command = launched.make(line, None, **dict([mark]))
    with RunningCommand(command, TimeLimits(grace=(0.01, 0.01))) as running:
        chunks = running.iter_output()
        printed = next(chunks).data
        while printed.count(b"ready") < 2:
            printed += next(chunks).data
        if word == "end":
            running.terminate()
            list(chunks)
    assert running.result.signal == signal.SIGKILL
    assert kill_by_environment(mark) == 0


@pytest.mark.parametrize("depth", [0, 1], ids=["launcher", "first-process"])
def test_whoever_is_killed_nothing_is_left(launched: Walled, depth: int) -> None:
    command = launched.make(f'(setsid sh -c "{STUBBORN}" &) ; {STUBBORN}')
    with subprocess.Popen(command.argv, env=command.environ, stdout=subprocess.PIPE) as running:
        assert running.stdout
        assert [running.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
        launcher = psutil.Process(running.pid)
        [launcher, *launcher.children()][depth].kill()
        assert running.stdout.read() == b""  # nobody has it open any more
    assert running.returncode == -signal.SIGKILL


def test_what_a_command_leaves_ends_with_it(launched: Walled) -> None:
    mark = ("CUB_TEST_MARK", os.fspath(launched.base))
    line = f'setsid sh -c "{STUBBORN}" & exit 4'
    done = run_and_capture(launched.make(line, None, **dict([mark])))
    assert (done.result.exit_code, kill_by_environment(mark)) == (4, 0)


def test_without_walls_a_command_stays_as_it_is(tmp_path: Path) -> None:
    command = make_walled(tmp_path, "none").make("true")
    assert (command.argv, command.folder) == (("/bin/sh", "-c", "true"), tmp_path / "tree")
