"""Processes of cub that cost a fork instead of a start: real streams, signals and exit codes.

A server imports cub once, with all that it may use. For each call it forks a child that takes the
caller's descriptors, environment and folder, and then runs what `python -m cub` runs. Tests of the
start itself, of encodings and of the interpreter's options start Python instead.
"""

from __future__ import annotations

import array
import atexit
import fcntl
import gc
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fork_client import send_request

_ROOT = Path(__file__).parents[1]


class ForkedProcess:
    """One running cub; like a `subprocess.Popen`, as far as tests need it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.returncode: int | None = None
        self.pid = int(self._read_line())

    def wait(self, timeout: float = 60) -> int:
        """Wait until it has ended, and return its exit code: minus the signal that killed it."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._read_line())
            except TimeoutError:
                self.kill()
                raise
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it ended, and nobody has read its exit code yet
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        self.wait()

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            piece = self._connection.recv(1)
            if not piece:
                raise EOFError(f"the server ended after {line!r}")
            line += piece
        return line


class ForkServer:
    """A server's process, and the socket on which it takes requests.

    `before` goes in front of the server's command; `code` is the folder with the package `cub`.
    """

    def __init__(self, *before: str, code: Path = _ROOT) -> None:
        # A socket's address has 104 bytes at most: pytest's own folders are too deep.
        self.address = Path(tempfile.mkdtemp(prefix="cub-")) / "s"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self.address))
            listening.listen(64)
            self._process = subprocess.Popen(
                [*before, sys.executable, "-m", "tests.fork_server", str(listening.fileno())],
                cwd=code,  # where -m looks first
                env={**os.environ, "PYTHONPATH": str(_ROOT)},
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
                # ^C is not for it. A session of its own would make it an orphan that runs end.
                process_group=0,
            )

    @property
    def command(self) -> list[str]:
        """The command of a program that does what `cub` does, for a shell or another program."""
        client = str(Path(__file__).with_name("fork_client.py"))
        return [sys.executable, "-I", "-S", client, str(self.address)]

    def close(self) -> None:
        """End the server; children that still run are left to themselves."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self.address.parent, ignore_errors=True)


def start_cub(
    arguments: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    descriptors: tuple[int, int, int],
    start_new_session: bool = False,
    controls_terminal: bool = False,
) -> ForkedProcess:
    """Start cub with `arguments`, and these descriptors as its stdin, stdout and stderr."""
    connection = send_request(
        os.fsencode(_get_server().address),
        [os.fsencode(argument) for argument in arguments],
        os.fsencode(cwd),
        [os.fsencode(f"{name}={value}") for name, value in environ.items()],
        descriptors,
        session=b"terminal" if controls_terminal else b"new" if start_new_session else b"",
    )
    return ForkedProcess(connection)


def get_cub_command() -> list[str]:
    """Return the command of a program that does what `cub` does, as this process has it."""
    return _get_server().command


def stop_fork_server() -> None:
    """End the server of this process, if one was started."""
    if _get_server.cache_info().currsize:
        _get_server().close()
        _get_server.cache_clear()


@cache
def _get_server() -> ForkServer:
    return ForkServer()


def _serve(listening: socket.socket) -> None:
    """Answer each request in a process of its own, which outlives the child to tell its end.

    The server ends with its stdin, and so with the process that started it.
    """
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(connection)
        connection.close()


def _import_everything() -> None:
    """Import what commands use, so that no child has to: also what they import where they use it.

    Libraries are imported by a first command, whatever it does.
    """
    from importlib import import_module
    from pkgutil import walk_packages

    import cub
    from tests.command_line import call_cub

    for module in walk_packages(cub.__path__, "cub."):
        if not module.name.endswith(".__main__"):
            import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        environ = {"PATH": os.environ["PATH"], "HOME": folder}
        project = Path(folder, "project")
        project.mkdir()
        (project / "a.py").write_text("def a() -> int:\n    return 1\n")
        call_cub(["init"], cwd=project, environ=environ)
        call_cub(["task", "add", "x"], cwd=project, environ=environ)
    gc.collect()
    gc.freeze()  # a child that collects would copy all of it


def _answer(connection: socket.socket) -> None:
    head, ancillary, *_ = connection.recvmsg(4, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    descriptors = array.array("i")
    descriptors.frombytes(ancillary[0][2])
    data = b""
    while len(data) < int.from_bytes(head, "big"):
        data += connection.recv(1 << 16)
    child = os.fork()
    if child == 0:
        connection.close()
        _become_cub(data.split(b"\0"), list(descriptors))
    for descriptor in descriptors:
        os.close(descriptor)
    connection.sendall(b"%d\n" % child)
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError):  # nobody waits for it any more
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become_cub(request: list[bytes], descriptors: list[int]) -> None:
    """Take the place of a freshly started `python -m cub`, and end with its exit code."""
    session, cwd, count, *words = request
    code = 70
    try:
        if session:
            os.setsid()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.closerange(3, 64)
        if session == b"terminal":
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.chdir(cwd)
        os.environ.clear()
        for item in words[int(count) :]:
            name, _, value = item.partition(b"=")
            os.environb[name] = value
        code = _run_main([os.fsdecode(word) for word in words[: int(count)]])
    except BaseException:  # noqa: BLE001 - the child must not go on as a server
        traceback.print_exc()
    finally:
        os._exit(code)


def _run_main(arguments: list[str]) -> int:
    import locale
    import time

    from cub.__main__ import main

    time.tzset()
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.argv = ["cub", *arguments]
    sys.stdin = open(0, encoding="utf-8", errors="strict")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    code = 0
    try:
        main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter ends
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # noqa: SLF001 - as the interpreter does before it ends
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # as Python's own
    return code


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
