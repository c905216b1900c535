"""Functions that run as processes of their own: forked from the tests, so none imports anything."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NoReturn, Self, TextIO

STOP_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_DESCRIPTORS = 256  # more than tests have open


class ForkedFunction:
    """A function in a child process with pipes for streams; like a `subprocess.Popen[str]`."""

    def __init__(self, function: Callable[[], object], environ: Mapping[str, str]) -> None:
        pipes = [os.pipe() for _ in range(3)]
        ours = pipes[0][1], pipes[1][0], pipes[2][0]
        theirs = pipes[0][0], pipes[1][1], pipes[2][1]
        self.returncode: int | None = None
        self.pid = fork()
        if self.pid == 0:
            _become(function, environ, theirs)
        for descriptor in theirs:
            os.close(descriptor)
        self.stdin: TextIO = open(ours[0], "w", encoding="utf-8")  # noqa: PTH123, SIM115
        self.stdout: TextIO = open(ours[1], encoding="utf-8")  # noqa: PTH123, SIM115
        self.stderr: TextIO = open(ours[2], encoding="utf-8")  # noqa: PTH123, SIM115

    def poll(self) -> int | None:
        """Return the exit code, minus the signal that killed it; None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        code = self._wait(0)
        assert code is not None
        return code

    def kill(self) -> None:
        """Kill it, unless it is known to have ended."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self, text: str = "") -> tuple[str, str]:
        """Write `text`, wait for the end, and return what is left to read of both outputs.

        Each is read after the other: an error's text has to fit into a pipe.
        """
        if not self.stdin.closed:
            self.stdin.write(text)
            self.stdin.close()
        outputs = self.stdout.read(), self.stderr.read()
        self.stdout.close()
        self.stderr.close()
        self.wait()
        return outputs

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, options)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()
        self.wait()


def fork() -> int:
    """Fork; the child has to end with `os._exit`."""
    with warnings.catch_warnings():
        # Test runners have threads; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _become(
    function: Callable[[], object], environ: Mapping[str, str], descriptors: tuple[int, int, int]
) -> NoReturn:
    """Run `function` as a fresh interpreter would that has these streams, and end."""
    code = 1
    try:
        gc.freeze()  # nothing of the tests is closed here when it is collected
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.closerange(3, _DESCRIPTORS)
        os.environ.clear()
        os.environ.update(environ)
        for name in STOP_SIGNALS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
        function()
        sys.stdout.flush()
        code = 0
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 - the child must not go on as a test
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
