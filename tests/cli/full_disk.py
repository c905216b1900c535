"""Runs `cub task claim` on a small disk at argv[1], with ever more pages free on it.

Prints one JSON object for each run. Has to run in a mount namespace of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.command_line import call_cub
from tests.files.small_disk import PAGE, PAGES, fill

STORES = (".cub/tasks.jsonl", ".cub/ledger.jsonl")


def claim_with(disk: Path, free: int) -> dict[str, object]:
    root = disk / "project"
    (root / ".cub").mkdir(parents=True)
    line = {"id": "t-1", "title": "Bake", "status": "open", "description": "x" * 3 * PAGE}
    (root / STORES[0]).write_text(json.dumps(line) + "\n")
    (root / STORES[1]).write_text('{"ev":"run_start"}\n' + " " * (PAGE - 100) + "\n")
    before = [(root / name).read_bytes() for name in STORES]
    fill(disk / "filler", free)
    done = call_cub(["task", "claim", "t-1"], cwd=root)
    same = [(root / name).read_bytes() for name in STORES] == before
    left = sorted(path.name for path in (root / ".cub").iterdir())
    shutil.rmtree(root)
    (disk / "filler").unlink()
    return {"code": done.code, "same": same, "left": left, "err": done.err}


if __name__ == "__main__":
    folder = sys.argv[1]
    size = f"size={PAGE * PAGES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", folder], check=True)
    for pages in range(10):
        sys.stdout.write(json.dumps(claim_with(Path(folder), pages)) + "\n")
