"""Run a command behind walls: in Linux namespaces of its own, or confined by Landlock.

This runs as a process of its own, by `make_launcher_argv`, and imports little, so that it starts
fast. It ends as its command did: with its exit code, or by its signal.
"""

from __future__ import annotations

import errno
import os
import sys

from cub.place.landlock import call_c, forbid_abstract_sockets, restrict_process
from cub.place.mounts import build_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    from cub.place.mounts import Mount
else:
    import _signal as signal  # the enums of `signal` start slowly

SETUP_FAILED = 125  # exit codes, as those of env(1)
_CANNOT_RUN, _NOT_FOUND = 126, 127

_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.place.launcher import main
main(sys.argv[2:])
"""
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_INNER_USER = 1000  # what root is inside: no other user loses all capabilities at exec
_NEW_NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x08000000  # user, mount, pid, ipc
_CLOSE_RANGE = 436  # a system call, the same on each CPU
_PARENT_DEATH, _DUMPABLE, _DROP_BOUND, _NO_NEW_PRIVILEGES = 1, 4, 24, 38  # of prctl(2)
_CAPABILITIES_VERSION = 0x20080522
_MOST_CAPABILITIES = 64
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def make_launcher_argv(mode: str, mounts: Iterable[Mount], folder: str) -> list[str]:
    """Return what to put before a command so that the launcher runs it in `folder`.

    `mode` is "bound" or "landlock". `mounts` are (action, source, target), parents first: `tmpfs`
    (its source is a mode), `read`, `write` and `layer`. Landlock knows `write` alone.
    """
    words = [word for mount in mounts for word in mount]
    options = ["-I", "-S", "-c", _MAIN, _ROOT]
    return [sys.executable, *options, mode, folder, str(len(words)), *words]


def main(argv: Sequence[str]) -> None:
    """Become the launcher of one command, and exit as that did."""
    mode, folder, count, *rest = argv
    words, command = rest[: int(count)], rest[int(count) :]
    mounts = list(zip(words[::3], words[1::3], words[2::3], strict=True))
    try:
        launcher = _Launcher(mounts, folder, command)
        if mode == "bound":
            launcher.run_in_namespaces()
        launcher.run_restricted()
    except OSError as error:
        _fail(error)


class _Launcher:
    """Hold the command, what it sees, and its folder, which is a path inside."""

    def __init__(self, mounts: Sequence[Mount], folder: str, argv: list[str]) -> None:
        self.mounts, self.folder, self.argv = mounts, folder, argv
        self.is_root = os.geteuid() == 0
        # Not Python's own environment: that has LC_CTYPE added.
        with open("/proc/self/environ", "rb") as file:
            pairs = file.read().split(b"\0")[:-1]
        self.environ = {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}
        call_c("syscall", _CLOSE_RANGE, 3, 0xFFFFFFFF, 0)

    def run_restricted(self) -> NoReturn:
        """Become the command, which can write to the targets alone."""
        if self.is_root:
            self._drop_capabilities()
        restrict_process([target for _, _, target in self.mounts])
        self._exec()

    def run_in_namespaces(self) -> NoReturn:
        """Run the command below the first process of new namespaces, and exit as it does.

        The kernel ends all processes of the namespaces with the first one.
        """
        self._enter_namespaces()
        life, held = os.pipe()  # `life` ends with this process
        results, result = os.pipe()
        if not (first := os.fork()):
            os.close(held)
            os.close(results)
            self._run_first_process(life, result)
        for number in _FORWARDED:
            signal.signal(number, lambda got, _: os.kill(first, got))
        os.close(result)
        self._drop_capabilities()
        reported = os.read(results, 20)
        _, own_status = os.waitpid(first, 0)
        self._end_like(int(reported or own_status))

    def _enter_namespaces(self) -> None:
        """Enter new namespaces; files that are made inside belong to the same user outside."""
        user, group = os.geteuid(), os.getegid()
        try:
            call_c("unshare", _NEW_NAMESPACES)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise OSError(errno.ENOSPC, "unshare: there may be no more namespaces") from error
        call_c("prctl", _PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user or _INNER_USER} {user} 1"),
            ("gid_map", f"{_INNER_USER if self.is_root else group} {group} 1"),
        ):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(file, text.encode())
            os.close(file)

    def _run_first_process(self, life: int, result: int) -> NoReturn:
        """Build the view, start the command in a session of its own, and reap until that ends."""
        os.setpgid(0, 0)  # a signal to the launcher's group comes once, from there
        try:
            call_c("prctl", _PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
            self._stop_without_parent(life)
            build_view(self.mounts, self.is_root)
            os.chdir("/")
            forbid_abstract_sockets()
            self._drop_capabilities()
            call_c("prctl", _DUMPABLE, 0, 0, 0, 0)  # nobody inside may look into it
        except OSError as error:
            _fail(error)
        if not (pid := os.fork()):
            os.close(result)
            os.setsid()
            self._exec()
        os.closerange(0, 3)
        for number in _FORWARDED:
            signal.signal(number, lambda got, _: os.killpg(pid, got))
        while (ended := os.wait())[0] != pid:
            pass
        os.write(result, b"%d" % ended[1])
        os._exit(0)

    def _stop_without_parent(self, life: int) -> None:
        """Exit if the parent was killed before the kernel knew that this process goes with it."""
        os.set_blocking(life, False)
        try:
            os.read(life, 1)
        except BlockingIOError:
            os.close(life)
        else:
            os._exit(SETUP_FAILED)

    def _drop_capabilities(self) -> None:
        """Give up every capability for good, and what setuid programs give."""
        call_c("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        for number in range(_MOST_CAPABILITIES):
            try:
                call_c("prctl", _DROP_BOUND, number, 0, 0, 0)
            except OSError:  # this kernel has fewer
                break
        header = _CAPABILITIES_VERSION.to_bytes(4, sys.byteorder) + bytes(4)
        call_c("capset", header, bytes(24))

    def _exec(self) -> NoReturn:
        """Become the command."""
        for number in (*_FORWARDED, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.chdir(self.folder)
        except OSError as error:
            _fail(error)
        try:
            os.execvpe(self.argv[0], self.argv, self.environ)  # noqa: S606 - no shell is wanted
        except OSError as error:
            code = _NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN
            _exit(code, f"{self.argv[0]}: {error.strerror}")

    def _end_like(self, status: int) -> NoReturn:
        """Exit as a process with this wait status did."""
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            call_c("prctl", _DUMPABLE, 0, 0, 0, 0)  # no second core file
            if -code != signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code & 255)


def _exit(code: int, reason: str) -> NoReturn:
    os.write(2, os.fsencode(f"cub: {reason}\n"))
    os._exit(code)


def _fail(error: OSError) -> NoReturn:
    where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
    _exit(SETUP_FAILED, f"the walls can't be built: {where}{error.strerror}")
