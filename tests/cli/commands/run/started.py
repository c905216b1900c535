"""A run as a process that goes on until somebody ends it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from tests.actions.run.shop import Shop
from tests.fork_server import ForkedProcess, start_cub

# It waits to be ended, and has a pipe open until then.
WAIT = """
cat > /dev/null; echo half > kept.txt
mkfifo "$OUT/alive"; exec 9<> "$OUT/alive"; echo begun; exec sleep 1000
"""


@dataclass
class StartedRun:
    """A run that is at work, where its output comes from, and a pipe that its client has open."""

    process: ForkedProcess | subprocess.Popen[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    client: int = -1

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; what of stdout nobody has read yet, and stderr."""
        with self.stdout, self.stderr:
            out = self.stdout.read()
            self.process.wait(30)
            self.stderr.seek(0)
            return out.decode(), self.stderr.read().decode()

    def is_client_gone(self) -> bool:
        """Wait for the end of the client's last process."""
        is_gone = bool(select.select([self.client], [], [], 20)[0])
        os.close(self.client)
        return is_gone


def started(bakery: Shop, *words: str, before: tuple[str, ...] = ()) -> StartedRun:
    """A run that goes on until it is stopped, its client at work; `before` is what starts it."""
    pipe = bakery.open_folder() / "alive"
    pipe.unlink(missing_ok=True)
    run = start_run(bakery, "--no-checks", "--json", *words, before=before)
    while b'"begun' not in (line := run.stdout.readline()):
        assert line, run.communicate()
    run.client = os.open(pipe, os.O_RDONLY)
    return run


def start_run(bakery: Shop, *words: str, before: tuple[str, ...] = ()) -> StartedRun:
    """Start `cub run`; `before` is a program that starts it, in a Python of its own."""
    reads, writes = os.pipe()
    stdout = os.fdopen(reads, "rb")
    stderr = TemporaryFile()  # noqa: SIM115 - whoever gets the run closes it
    arguments = ("run", "--trust", *words)
    with os.fdopen(writes, "wb") as out, Path(os.devnull).open("rb") as null:
        if before:
            process: ForkedProcess | subprocess.Popen[bytes] = subprocess.Popen(
                [*before, sys.executable, "-m", "cub", *arguments],
                cwd=bakery.root,
                env=bakery.environ,
                stdin=null,
                stdout=out,
                stderr=stderr,
            )
        else:
            process = start_cub(
                arguments,
                cwd=bakery.root,
                environ=bakery.environ,
                descriptors=(null.fileno(), out.fileno(), stderr.fileno()),
            )
    return StartedRun(process, stdout, stderr)
