"""Programs that behave badly, and what a test asks about processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil

from cub.processes.command import CommandSpec, make_shell_command

# Says its process number once TERM does nothing any more, then sleeps.
STUBBORN = """
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.write(1, b"%d\\n" % os.getpid())
time.sleep(60)
"""
# Leaves such a process in a session of its own, which holds stdout open, and ends.
ORPHAN = f"""
import os, sys
reads, writes = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(reads)
        os.dup2(1, 9)
        os.dup2(writes, 1)
        os.close(writes)
        exec({STUBBORN!r})
    os._exit(0)
os.close(writes)
os.write(1, os.read(reads, 20))
"""
# A chain of processes, each in a session of its own, that never has one to hold on to.
CHAIN = """
import os
for _ in range(20_000):
    if os.fork():
        os._exit(0)
    os.setsid()
"""


@dataclass(frozen=True, slots=True)
class Make:
    """Makes commands that share a folder and an environment."""

    folder: Path
    environ: Mapping[str, str]

    def program(self, *argv: str, stdin: bytes = b"") -> CommandSpec:
        return CommandSpec(argv, self.folder, self.environ, stdin)

    def python(self, text: str, *arguments: str, stdin: bytes = b"") -> CommandSpec:
        return self.program(sys.executable, "-I", "-S", "-c", text, *arguments, stdin=stdin)

    def shell(self, text: str, stdin: bytes = b"") -> CommandSpec:
        return make_shell_command(text, self.folder, self.environ, stdin)


def lives(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


_NUMBERS = count()


def make_sleep() -> str:
    """A command that goes on for an hour, and that nobody else runs on this machine."""
    return f"sleep 4711.{os.getpid()}{next(_NUMBERS):04}"


def is_running(command: str) -> bool:
    """Whether a process anywhere on this machine has these words."""
    running = (process.info["cmdline"] for process in psutil.process_iter(["cmdline"]))
    return command.split() in running


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait for what can't be waited for otherwise."""
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()
