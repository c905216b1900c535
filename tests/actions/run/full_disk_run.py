"""Runs on a small disk at argv[1], with an agent that fills it: the home and all places are there.

Prints one JSON object. Has to run in a mount namespace of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.actions.run.attacked import CHECK, is_untouched, prepare
from tests.actions.run.shop import shop
from tests.conftest import git

_FILL = "cat > /dev/null; echo 'A = 2' > a.py; head -c 40000000 /dev/zero > big"


def main() -> None:
    """Fill the disk, and say what is left."""
    disk = Path(sys.argv[1])
    command = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    subprocess.run(command, check=True)
    root, home = disk / "project", disk / "home"
    root.mkdir()
    home.mkdir()
    git(root, "init", "-q")
    made = prepare(shop(root, home))
    made.client(_FILL)
    done = made.run(checks=CHECK)
    left = {
        "end": done.end["end"],
        "charged": done.of("attempt_end")[0]["fail"]["charge"],
        "untouched": is_untouched(made),
        "status": made.status(),
    }
    made.client("cat > /dev/null; echo C > c.py")
    left["next"] = made.run(checks=CHECK).outcomes
    sys.stdout.write(json.dumps(left))


if __name__ == "__main__":
    main()
