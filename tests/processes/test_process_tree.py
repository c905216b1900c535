from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cub.processes import process_tree
from cub.processes.command import TimeLimits
from cub.processes.runner import RunningCommand, run_and_capture
from tests.conftest import environment
from tests.processes import keep, sweeping
from tests.processes.programs import CHAIN, ORPHAN, STUBBORN, Make, lives, until

pytestmark = pytest.mark.usefixtures("nothing_left")
linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
# Two processes of a session, in groups of their own; the parent of the second has gone.
TWO = f"""
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    if os.fork() == 0:
        os.setpgid(0, 0)
        exec({STUBBORN!r})
    os._exit(0)
os.wait()
exec({STUBBORN!r})
"""


@linux
def test_an_orphan_in_another_session_ends_with_the_command(make: Make) -> None:
    done = run_and_capture(make.python(ORPHAN), TimeLimits(wall=30))
    assert done.result[:3] == (0, None, "")
    assert not lives(int(done.out))
    assert done.result.seconds < 20  # its open stdout was not waited for


def test_a_job_in_the_background_ends_with_the_command(make: Make) -> None:
    done = run_and_capture(make.shell("sleep 60 & echo $!"))
    assert done.result.exit_code == 0
    assert not lives(int(done.out))


@pytest.mark.parametrize(("grace", "output"), [((2.0, 3.0), b"tidied\n"), ((2.0, 0.0), b"")])
def test_what_is_left_may_tidy_when_it_gets_term(
    make: Make, grace: tuple[float, float], output: bytes
) -> None:
    os.mkfifo(make.folder / "ready")
    tidy = "trap 'echo tidied; exit' TERM; echo > ready; while :; do sleep 0.02; done 2>/dev/null"
    text = f"({tidy}) & read x < ready"
    assert run_and_capture(make.shell(text), TimeLimits(grace=grace)).out == output


@pytest.mark.thorough
@linux
def test_a_pipe_that_somebody_else_holds_is_not_waited_for(make: Make) -> None:
    os.mkfifo(make.folder / "go")
    with RunningCommand(make.shell("echo $$; read x < go; echo on")) as running:
        pieces = running.iter_output()
        process = int(next(pieces).data)
        with Path(f"/proc/{process}/fd/1").open("wb"):
            (make.folder / "go").write_text("x\n")
            assert [piece.data for piece in pieces] == [b"on\n"]
    assert running.result.exit_code == 0


@linux
def test_a_chain_of_forks_ends(make: Make) -> None:
    done = run_and_capture(make.python(CHAIN))
    assert (done.result.exit_code, done.result.signal) == (0, None)


@linux
def test_orphans_that_come_and_go_meanwhile_are_no_end(make: Make) -> None:
    text = "for n in 1 2 3 4 5; do (sleep 0.01 &); done; sleep 0.1; echo on; exit 4"
    done = run_and_capture(make.shell(text))
    assert (done.result.exit_code, done.out) == (4, b"on\n")


@linux
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_in_the_block_kills_all_at_once(make: Make, error: type[BaseException]) -> None:
    began = time.monotonic()
    running = RunningCommand(make.python(f"{ORPHAN}\n{STUBBORN}"), TimeLimits(grace=(30, 30)))
    said = bytearray()

    def read() -> None:
        with running:
            for piece in running.iter_output():
                said.extend(piece.data)
                if said.count(b"\n") == 2:
                    raise error

    with pytest.raises(error):
        read()
    assert not any(map(lives, map(int, said.split())))
    assert running.result[:3] == (None, signal.SIGKILL, "ended")
    assert time.monotonic() - began < 20


@contextmanager
def kept(folder: Path, text: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, keep.__file__, text]
    env = environment(folder)
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE) as cub:
        try:
            yield cub
        finally:
            cub.kill()


@linux
def test_a_killed_cub_leaves_nothing(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    (tmp_path / "orphan.py").write_text(ORPHAN)
    # Whoever is left holds the pipe open.
    text = f"exec 8>held; {sys.executable} -I orphan.py; echo $$; exec sleep 60"
    with kept(tmp_path, text) as cub:
        assert cub.stdout is not None
        with held.open("rb") as pipe:
            processes = [int(cub.stdout.readline()) for _ in range(2)]
            assert all(map(lives, processes))
            cub.kill()
            assert pipe.read() == b""
    assert until(lambda: not any(map(lives, processes)))


def test_a_killed_cub_lets_its_command_tidy(tmp_path: Path) -> None:
    text = "trap 'echo tidied > tidy; exit' INT; echo; while :; do sleep 0.02; done"
    with kept(tmp_path, text) as cub:
        assert cub.stdout is not None
        cub.stdout.readline()
        cub.kill()
    assert until((tmp_path / "tidy").exists)


@linux
def test_a_killed_keeper_takes_its_command_with_it(make: Make) -> None:
    with RunningCommand(make.shell("sleep 60 & echo $$ $!; kill -9 $PPID; wait")) as running:
        said = b"".join(piece.data for piece in running.iter_output())
    assert running.result[:3] == (None, signal.SIGKILL, "")
    assert until(lambda: not any(map(lives, map(int, said.split()))))


@linux
def test_so_it_does_where_cub_can_do_nothing(tmp_path: Path) -> None:
    with kept(tmp_path, "echo $$ $PPID; exec sleep 60") as cub:
        assert cub.stdout is not None
        command, keeper = map(int, cub.stdout.readline().split())
        cub.send_signal(signal.SIGSTOP)
        os.kill(keeper, signal.SIGKILL)
        assert until(lambda: not lives(command))


@linux
def test_a_keeper_holds_none_of_the_pipes(make: Make) -> None:
    text = (
        "import os\nfor n in '012':\n"
        " while os.readlink(f'/proc/{os.getppid()}/fd/{n}') != '/dev/null': pass"
    )
    assert run_and_capture(make.python(text), TimeLimits(wall=20)).result[:3] == (0, None, "")


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_no_other_signal_ends_a_keeper(make: Make, name: str) -> None:
    done = run_and_capture(make.shell(f"kill -{name} $PPID; sleep 0.05; echo on; exit 4"))
    assert (done.result.exit_code, done.out) == (4, b"on\n")


def test_ps_tells_what_the_system_does() -> None:
    others = frozenset(
        process_tree.find_descendant_pids(0, adopts=True)
    )  # such as the server that forks cub
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            listed = dict(process_tree._list_from_ps())  # noqa: SLF001 - Linux itself needs no ps
            assert listed[process.pid] == os.getpid()
            assert listed[os.getpid()] == os.getppid()
            assert process_tree.find_descendant_pids(
                process.pid, adopts=False, excluded_pids=others
            ) == [process.pid]
        finally:
            process.kill()


def test_where_nobody_adopts_the_session_ends_with_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, sweeping.__file__, TWO],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True []\n", "")
