"""Forks of a small process: one of a process that knows all tests takes ten times as long.

`python -m tests.files.small_fork` reads calls of functions, and runs each in a child of its own.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO, ParamSpec

P = ParamSpec("P")
_ROOT = Path(__file__).parents[2]


def run_in_child(function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> int:
    """Run a function of a module in a new process; its exit code: 0 if it came to its end."""
    calls, codes = _start_server()
    pickle.dump((function, args, kwargs), calls)
    calls.flush()
    code = pickle.load(codes)
    assert isinstance(code, int)
    return code


@cache
def _start_server() -> tuple[IO[bytes], IO[bytes]]:
    """Start the server; it ends with this process, and so with the pipe to its stdin."""
    command = [sys.executable, "-m", "tests.files.small_fork"]
    server = subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
    server.returncode = 0  # nobody waits for it
    assert server.stdin
    assert server.stdout
    return server.stdin, server.stdout


def _serve() -> None:
    while True:
        try:
            function, args, kwargs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            code = 70
            try:
                function(*args, **kwargs)
                code = 0
            finally:
                os._exit(code)
        pickle.dump(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sys.stdout.buffer)
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
