"""Processes of cub that a test talks to while they run, and servers that start other cubs."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from tests import fork_client
from tests.command_line import Result, run_program
from tests.conftest import environment
from tests.fork_server import ForkedProcess, start_cub

ROOT = Path(__file__).parents[2]


class Running(NamedTuple):
    """A process, and what it prints."""

    process: ForkedProcess
    out: IO[str]
    err: IO[str]

    def finish(self) -> tuple[int, str, str]:
        """Wait for its end: its exit code, and what nobody has read yet."""
        out, err = self.out.read(), self.err.read()
        return self.process.wait(), out, err


def run_in_shell(line: str, project: Path, home: Path, cub: Sequence[str]) -> Result:
    """Run a command of cub with what a shell makes of the rest of a line."""
    words = ["sh", "-c", f"{shlex.join(cub)} {line}"]
    return run_program(words, cwd=project, environ=environment(home))


@contextmanager
def open_cub(*arguments: str, cwd: Path, home: Path) -> Iterator[Running]:
    """Start cub with pipes, without input, and wait for its end."""
    (out, its_out), (err, its_err) = os.pipe(), os.pipe()
    with Path(os.devnull).open("rb") as nothing:
        process = start_cub(
            arguments,
            cwd=cwd,
            environ=environment(home),
            descriptors=(nothing.fileno(), its_out, its_err),
        )
    os.close(its_out)
    os.close(its_err)
    with os.fdopen(out, encoding="utf-8") as printed, os.fdopen(err, encoding="utf-8") as said:
        try:
            yield Running(process, printed, said)
        except BaseException:
            with suppress(ProcessLookupError):  # it has ended by itself
                process.kill()
            raise
        finally:
            process.wait()


@contextmanager
def serve_cub(*before: str, code: Path = ROOT) -> Iterator[list[str]]:
    """Serve a cub that is started another way: the command of a program that does what it does.

    `before` goes in front of the server's command; `code` is the folder with the package `cub`.
    """
    folder = Path(tempfile.mkdtemp(prefix="cub-"))  # short, as the address of a socket has to be
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
        listening.listen(64)
        server = subprocess.Popen(
            [*before, sys.executable, "-m", "tests.fork_server", str(listening.fileno())],
            cwd=code,  # where -m looks first
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        yield [sys.executable, "-I", "-S", str(fork_client.__file__), str(folder / "s")]
    finally:
        assert server.stdin
        server.stdin.close()
        server.wait()
        shutil.rmtree(folder)
