"""Keep programs of the same user from reading this process's secrets: its environment and memory.

Linux shows the environment with which a process was started, whatever becomes of it later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from cub.processes.process_tree import load_prctl

_DUMPABLE = 4  # what prctl(2) sets
_ENV_START, _ENV_END = 47, 48  # fields of /proc/PID/stat after the program's name


def hide_own_secrets(is_secret: Callable[[str], bool]) -> bool:
    """Return whether other programs of this user can no longer read the secrets; only on Linux.

    `is_secret` tells by a name and a value, as in `NAME=value`. For root, whom nothing keeps from
    reading memory, the values are gone from /proc/PID/environ at least.
    """
    if sys.platform != "linux":
        return False
    _erase_values(is_secret)
    return load_prctl()(_DUMPABLE, 0) == 0


def _erase_values(is_secret: Callable[[str], bool]) -> None:
    """Overwrite secrets in the block of memory that /proc/PID/environ shows."""
    for name, value in os.environ.items():
        if is_secret(f"{name}={value}"):
            os.environ[name] = value  # so that libc has it elsewhere, for programs that we start
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - as below
            fields = file.read().rpartition(b")")[2].split()
        start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:  # noqa: PTH123 - unbuffered
            memory.seek(start)
            block = memory.read(end - start)
            memory.seek(start)
            memory.write(b"\0".join(_blank(entry, is_secret) for entry in block.split(b"\0")))
    except OSError:  # /proc is not there, or hidden
        return


def _blank(entry: bytes, is_secret: Callable[[str], bool]) -> bytes:
    name, mark, value = entry.partition(b"=")
    return name + mark + b" " * len(value) if is_secret(os.fsdecode(entry)) else entry
