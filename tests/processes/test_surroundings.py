from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cub.processes import keeper
from cub.processes.runner import run_and_capture
from tests.processes.programs import Make

FILES = """
import os
print([n for n in sorted(os.listdir('/dev/fd')) if os.path.exists(f'/dev/fd/{n}')])
"""
IGNORED = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM)
IDS = "import os; print(os.getpid(), os.getpgrp(), os.getsid(0), os.getppid())"
SIGNALS = """
import signal
odd = [n for n in range(1, signal.NSIG)
       if n not in (32, 33) and signal.getsignal(n) not in (signal.SIG_DFL, None)]
print(odd, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def said(make: Make, text: str) -> str:
    return run_and_capture(make.python(text)).out.decode()


def test_it_has_no_files_but_the_three(make: Make) -> None:
    assert said(make, FILES) == "['0', '1', '2']\n"


def test_it_has_a_session_and_a_group_of_its_own(make: Make) -> None:
    process, group, session, parent = map(int, said(make, IDS).split())
    assert process == group == session
    assert parent != os.getpid()


def test_no_signal_is_ignored_or_held_back(make: Make) -> None:
    # Python itself ignores two of them when it starts, and handles INT.
    ours = [signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ]
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    before = [(one, signal.signal(one, signal.SIG_IGN)) for one in IGNORED]
    try:
        assert said(make, SIGNALS) == f"{sorted(map(int, ours))} set()\n"
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        for one, handler in before:
            signal.signal(one, handler)


@pytest.mark.parametrize("name", ["INT", "PIPE", "TERM", "HUP", "CHLD", "XFSZ"])
def test_every_signal_does_what_it_does_by_itself(make: Make, name: str) -> None:
    ended = run_and_capture(make.shell(f"kill -{name} $$; exit 3")).result
    number = signal.Signals[f"SIG{name}"]
    assert (ended.exit_code, ended.signal) == ((3, None) if name == "CHLD" else (None, number))


def test_a_folder_can_lend_the_keeper_no_module(make: Make, tmp_path: Path) -> None:
    (tmp_path / "signal.py").write_text("raise SystemExit(9)")
    (tmp_path / "cub").mkdir()
    (tmp_path / "cub/__init__.py").write_text("raise SystemExit(9)")
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert run_and_capture(make.program("true")).result.exit_code == 0
    finally:
        os.chdir(here)


def test_a_keeper_starts_with_few_modules() -> None:
    root = Path(keeper.__file__).parents[2]
    text = (
        "import sys; sys.path.append(sys.argv[1]); import cub.processes.keeper as keeper; "
        "keeper.load_prctl(); print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", text, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cub.processes.keeper" in loaded
    slow = {"enum", "signal", "contextlib", "collections", "functools", "types", "ctypes"}
    assert not loaded & {"re", "typing", "pathlib", "subprocess", "dataclasses", "site", *slow}
    assert {one for one in loaded if one.startswith("cub")} == {
        "cub",
        "cub.processes",
        "cub.processes.keeper",
        "cub.processes.process_tree",
    }
