from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.standing import MINE, stand
from tests.conftest import environment
from tests.files.hold_lock import holder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


def interrupted(project: Path, home: Path, command: str) -> subprocess.Popen[bytes]:
    """Run a command up to the point where it wants the lock, and press ^C."""
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "cub", command],
        cwd=project,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    for line in process.stderr:  # one for each import; this is the last one before it waits
        if line.rstrip().endswith(b" filelock"):
            break
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.parametrize(
    "command",
    [
        "init",
        pytest.param("update", marks=pytest.mark.thorough),
        pytest.param("remove", marks=pytest.mark.thorough),
    ],
)
def test_an_interrupt_is_130_and_changes_nothing(project: Path, home: Path, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    with holder(project):
        before = stand(project)
        process = interrupted(project, home, command)
        _, err = process.communicate()
        assert stand(project) == before
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_an_interrupt_while_the_process_ends_is_no_error(project: Path, home: Path) -> None:
    program = (
        "import atexit, os, signal, sys, cub.__main__\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['cub', 'config', 'path']\n"
        "cub.__main__.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=environment(home),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")
