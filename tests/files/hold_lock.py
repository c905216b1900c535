"""A living process that holds a project's lock."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cub.files import exclusive
from tests.conftest import environment


@contextmanager
def holder(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the lock of `root`, until its stdin is closed or it is killed."""
    with subprocess.Popen(
        [sys.executable, __file__, str(root)],
        env=environment(root.parent),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


if __name__ == "__main__":
    with exclusive(Path(sys.argv[1])):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.read()
