"""A run as a process that goes on until somebody ends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.actions.run.shop import Shop

# It tells its process, and waits to be ended.
WAIT = """
cat > /dev/null; echo half > kept.txt
echo $$ > "$HOME/pid.new"; mv "$HOME/pid.new" "$HOME/pid"; echo begun; exec sleep 1000
"""


def started(bakery: Shop, *words: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A run that goes on until it is stopped, its client at work."""
    (Path(bakery.environ["HOME"]) / "pid").unlink(missing_ok=True)
    run = subprocess.Popen(
        [*before, sys.executable, "-m", "cub", "run", "--trust", "--no-checks", "--json", *words],
        cwd=bakery.root,
        env=bakery.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout
    while '"begun' not in run.stdout.readline():
        assert run.poll() is None
    return run


def client_of(bakery: Shop) -> int:
    return int((Path(bakery.environ["HOME"]) / "pid").read_text())
