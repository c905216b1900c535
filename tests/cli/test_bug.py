from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of cub with a fault in it: a template that is none."""
    for name in ("cub", "templates"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, tmp_path / "checkout" / name, ignore=ignored)
    for file in (tmp_path / "checkout" / "templates" / "sections").glob("*/agents.md.j2"):
        file.write_text("{% no such thing %}", encoding="utf-8")
    return tmp_path / "checkout"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bug_is_3_and_leaves_its_traceback_in_a_file(
    project: Path, home: Path, checkout: Path, as_json: bool
) -> None:
    (project / "AGENTS.md").write_bytes(b"mine")
    done = subprocess.run(
        [sys.executable, "-m", "cub", "init", *(["--json"] if as_json else [])],
        cwd=project,
        env={**environment(home), "PYTHONPATH": os.fspath(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    first, last = done.stderr.splitlines()[0], done.stderr.splitlines()[-1]
    assert first.startswith("error: TemplateSyntaxError: ")
    assert last.startswith("this is a bug in cub; its traceback is in ")
    log = Path(last.removeprefix("this is a bug in cub; its traceback is in "))
    assert "Traceback (most recent call last):" in log.read_text(encoding="utf-8")
    assert ('"code": 3' in done.stdout) == as_json
    assert [path.name for path in sorted(project.iterdir())] == [".git", "AGENTS.md"]
