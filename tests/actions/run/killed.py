"""A run in a process of its own that is killed by SIGKILL at a step of its choice.

`python -m tests.actions.run.killed ROOT HOME STEP` kills itself when the STEPth thing is about to
be done to a file or with a process; STEP 0 prints how many there are. It can be the name of a file
as well: one that is about to be replaced.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.actions.run.shop import CHECK, Shop, surroundings

_STEPS = ("os.rename", "os.remove", "os.mkdir", "os.link", "os.truncate", "subprocess.Popen")


class Steps:
    """Counts what is done, and ends it all at one of them."""

    def __init__(self, last: str) -> None:
        self.last = last
        self.count = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
        if event in _STEPS or writes:
            self.count += 1
            name = os.path.basename(arguments[1]) if event == "os.rename" else ""  # noqa: PTH119
            if self.last in (str(self.count), name):
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run until killed, or to the end."""
    root, home, last = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    Shop(root, surroundings(home)).run(no_checks=True, label="warm")  # imports are no steps
    steps = Steps(last)
    sys.addaudithook(steps)
    Shop(root, surroundings(home)).run(checks=CHECK)
    sys.stdout.write(f"{steps.count}\n")


if __name__ == "__main__":
    main()
