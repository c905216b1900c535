"""Processes of cub that a test talks to while they run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from tests.command_line import Result, run_program
from tests.conftest import environment
from tests.fork_server import ForkedProcess, start_cub


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
