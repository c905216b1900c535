"""A program that stands for `cub` where something else starts it, such as a shell.

`python -I -S fork_client.py ADDRESS WORD...` asks the server of tests/fork_server.py for a process
with these words, and its own streams, folder and environment, and ends as that one ends. It imports
next to nothing, so that a call costs 20 ms of CPU instead of 300.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence


def send_request(
    address: bytes,
    arguments: Sequence[bytes],
    cwd: bytes,
    environ: Sequence[bytes],
    descriptors: tuple[int, int, int] = (0, 1, 2),
    *,
    session: bytes = b"",
) -> socket.socket:
    """Ask the server at `address` for a process; return where the answers come from.

    With "new" as its `session`, it leads a new one; with "terminal", its stdin is the terminal of
    that session, in which ^C is a signal.

    `environ` has an item `NAME=value` for each variable. The answers are two lines: the number of
    the process, and its exit code when it has ended, negative for the signal that killed it.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    head = [session, cwd, b"%d" % len(arguments)]
    data = b"\0".join([*head, *arguments, *environ])
    rights = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
    connection.sendmsg(
        [len(data).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
    )
    connection.sendall(data)
    return connection


def _main() -> None:
    words = [os.fsencode(word) for word in sys.argv[1:]]
    environ = [name + b"=" + value for name, value in os.environb.items()]
    here = os.getcwdb()  # noqa: PTH109 - pathlib would be half of the start
    with send_request(words[0], words[1:], here, environ).makefile("rb") as answers:
        _, code = int(answers.readline()), int(answers.readline())
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _main()
