"""Runs `cub init` on a small disk at argv[1], with ever more pages free on it.

Prints one JSON object for each run. Has to run in a mount namespace of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.command_line import call_cub
from tests.files.worlds import build, whole

PAGE, PAGES = 4096, 40


def init_with(disk: Path, free: int) -> dict[str, object]:
    root = build(disk / "project")
    (root / "AGENTS.md").write_bytes(b"x\n" * 3990)
    (root / "twin.txt").hardlink_to(root / "AGENTS.md")  # is overwritten, and grows by a page
    before = whole(root)
    fill(disk / "filler", free)
    done = call_cub(["-C", str(root), "init"], cwd=disk)
    same = whole(root) == before
    shutil.rmtree(root)
    (disk / "filler").unlink()
    return {"free": free, "code": done.code, "same": same, "err": done.err}


def fill(path: Path, free: int) -> None:
    """Take all pages of the disk but `free` of them."""
    left = shutil.disk_usage(path.parent).free - free * PAGE
    path.write_bytes(b"\0" * max(0, left))


if __name__ == "__main__":
    folder = sys.argv[1]
    size = f"size={PAGE * PAGES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", folder], check=True)
    for pages in range(0, 24, 2):
        sys.stdout.write(json.dumps(init_with(Path(folder), pages)) + "\n")
