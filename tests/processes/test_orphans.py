from __future__ import annotations

import os
import signal
import subprocess
import sys

from cub.processes.orphans import kill_by_environment
from tests.processes.programs import ORPHAN, STUBBORN, Make, lives, until


def test_all_with_the_mark_end_and_nobody_else(make: Make, mark: tuple[str, str]) -> None:
    other = {**make.environ, mark[0]: f"{mark[1]}0"}
    python, pipe = [sys.executable, "-I", "-S", "-c"], subprocess.PIPE
    text = f"{ORPHAN}\n{STUBBORN}"
    with (
        subprocess.Popen([*python, text], env=make.environ, stdout=pipe) as marked,
        subprocess.Popen([*python, STUBBORN], env=other, stdout=pipe) as spared,
    ):
        assert marked.stdout is not None
        assert spared.stdout is not None
        spared.stdout.readline()
        told = [int(marked.stdout.readline()) for _ in range(2)]
        assert kill_by_environment(mark) == 2
        assert marked.wait() == -signal.SIGKILL
        assert until(lambda: not any(map(lives, told)))
        assert spared.poll() is None
        spared.kill()
    assert kill_by_environment(mark) == 0


def test_who_asks_and_its_parents_are_spared(make: Make, mark: tuple[str, str]) -> None:
    text = (
        "from cub.processes.orphans import kill_by_environment as end_strays; "
        f"print(end_strays({mark!r}), end_strays({mark!r}))"
    )
    env = {**make.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    shell = f'sleep 60 & "{sys.executable}" -c "{text}"; echo on'
    done = subprocess.run(
        ["/bin/sh", "-c", shell], env=env, capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "1 0\non\n"


def test_a_mark_that_nobody_has_ends_nothing(mark: tuple[str, str]) -> None:
    assert kill_by_environment(mark) == 0
