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

from cub.edit.document import Document
from cub.edit.repair.similar_text import find_similar_text
from cub.prompt.section_text import SectionSpec, list_released_bodies
from cub.prompt.templates import load_shipped_templates
from tests.conftest import environment
from tests.fork_server import get_cub_command

SHARED = Path(os.environ.get("CUB_SHARED", "."))


PARTS = 25

pytestmark = pytest.mark.skipif("CUB_SHARED" not in os.environ, reason="CUB_SHARED is not set")


def read_rows() -> list[str]:
    """A line for each file of the corpus."""
    return (SHARED / "corpus" / "index.jsonl").read_text(encoding="utf-8").splitlines()


def check_files(rows: list[str], name: str, folder: Path, home: Path) -> None:
    """Have the checker use these files as the instruction file `name` of a project."""
    results, corpus = folder / "results.json", folder / "corpus"
    corpus.mkdir()
    (corpus / "files").symlink_to((SHARED / "corpus" / "files").resolve())
    (corpus / "index.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, str(SHARED / "cases" / "preserve.py"), "-j", "1", "--names", name,
            "--corpus", str(corpus), "--tmp", str(folder), "--out", str(results),
            shlex.join(get_cub_command()),
        ],
        env=environment(home), capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(results.read_text())["results"]
    assert len(found) == len(rows)
    bad = [(r["file"], r["why"]) for r in found if False in r["res"].values()]
    assert bad == []


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_every_real_file_passes_every_check(part: int, tmp_path: Path, home: Path) -> None:
    rows = read_rows()
    assert len(rows) >= 125
    # What differs between the names is not how a file is edited: some of each tell enough.
    name = "AGENTS.md" if part % 5 else "CLAUDE.md"
    check_files(rows[part::PARTS], name, tmp_path, home)


def test_a_few_real_files_pass_every_check(tmp_path: Path, home: Path) -> None:
    rows = read_rows()
    check_files(rows[:: len(rows) // 4], "AGENTS.md", tmp_path, home)


def test_no_real_file_has_a_text_that_is_taken_for_cubs() -> None:
    templates, specs = load_shipped_templates(), (SectionSpec("agents"), SectionSpec("nested"))
    released = [list_released_bodies(templates, spec) for spec in specs]
    bodies = list(dict.fromkeys(body for each in released for body in each))
    files = sorted((SHARED / "corpus" / "files").iterdir())
    assert len(files) >= 125
    assert [p.name for p in files if find_similar_text(Document(p.read_bytes()), bodies)] == []
