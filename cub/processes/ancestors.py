"""What a process is a part of, by its ancestors: whatever its environment says, the keeper of a
command is above it, and carries a mark.

On Linux orphans go to the keeper, so that nothing below it gets away; elsewhere they do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

# Imported, not run as a file: so it is compiled only once.
_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.processes.keeper import main
control, status, after_int, after_term = sys.argv[2:6]
main(int(control), int(status), (float(after_int), float(after_term)))
"""
_OPTIONS = ("-I", "-S", "-c", _MAIN)
_WORDS = 5  # of a keeper, in front of the mark
_HIGHEST = 1000  # ancestors: nobody has more


def keeper_argv(words: Iterable[str], mark: str) -> list[str]:
    """Return the arguments of a keeper behind the name of Python: its five words, and its mark."""
    return [*_OPTIONS, *words, mark]


def find_marks() -> Iterator[str]:
    """Yield the marks of the keepers above this process, the nearest one first."""
    lines = _from_proc() if sys.platform == "linux" else _from_psutil()
    for argv in lines:
        words = argv[1:]
        if tuple(words[: len(_OPTIONS)]) == _OPTIONS and len(words) > len(_OPTIONS) + _WORDS:
            mark = words[len(_OPTIONS) + _WORDS]
            if mark:
                yield mark


def _from_proc() -> Iterator[list[str]]:
    """The command line of each ancestor (proc_pid_stat(5), proc_pid_cmdline(5))."""
    process = os.getppid()
    for _ in range(_HIGHEST):
        if process <= 1:
            return
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib is slow
                yield [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
            with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has gone, or is hidden
            return


def _from_psutil() -> Iterator[list[str]]:
    from psutil import Error, Process

    with suppress(Error):
        for parent in Process().parents():
            with suppress(Error):
                yield parent.cmdline()
