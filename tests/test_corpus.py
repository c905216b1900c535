"""Real instruction files of other projects, and a checker that knows nothing of cub's code.

CUB_SHARED names a folder with `cases/preserve.py` and `corpus/`, which are not part of cub.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.fork_server import get_cub_command

SHARED = Path(os.environ.get("CUB_SHARED", "."))


@pytest.mark.skipif("CUB_SHARED" not in os.environ, reason="CUB_SHARED is not set")
# What differs between the names is not how a file is edited: a third of them tells enough.
@pytest.mark.parametrize(("name", "each"), [("AGENTS.md", 1), ("CLAUDE.md", 3)])
def test_every_real_file_passes_every_check(
    name: str, each: int, tmp_path: Path, home: Path
) -> None:
    results, corpus = tmp_path / "results.json", tmp_path / "corpus"
    rows = (SHARED / "corpus" / "index.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) >= 125
    corpus.mkdir()
    (corpus / "files").symlink_to((SHARED / "corpus" / "files").resolve())
    (corpus / "index.jsonl").write_text("\n".join(rows[::each]) + "\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, str(SHARED / "cases" / "preserve.py"), "--names", name,
            "--corpus", str(corpus), "--tmp", str(tmp_path), "--out", str(results),
            shlex.join(get_cub_command()),
        ],
        env=environment(home), capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(results.read_text())["results"]
    assert len(found) == len(rows[::each])
    bad = [(r["file"], r["why"]) for r in found if False in r["res"].values()]
    assert bad == []
