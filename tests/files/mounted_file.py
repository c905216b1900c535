"""Runs `cub init` where AGENTS.md is a mount point, as in a container; argv[1] is the project.

Prints a JSON object. Has to run in a mount namespace of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.command_line import call_cub
from tests.files.worlds import whole

if __name__ == "__main__":
    root = Path(sys.argv[1])
    (root / "AGENTS.md").write_bytes(b"")
    other = root.with_name("other.md")
    other.write_bytes(b"# Theirs\n")
    subprocess.run(["mount", "--bind", str(other), str(root / "AGENTS.md")], check=True)
    before = whole(root)
    done = call_cub(["-C", str(root), "init"], cwd=root)
    now = whole(root)
    left = [name for name in now if name.endswith((".tmp", "journal.jsonl"))]
    result = {"code": done.code, "same": now == before, "left": left, "err": done.err}
    sys.stdout.write(json.dumps(result))
