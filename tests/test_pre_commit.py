"""The hooks that this repository offers, and those of its own, run by the real pre-commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cub, copy_checkout, git

REPOSITORY = Path(__file__).parents[1]
PRE_COMMIT = os.environ.get("CUB_PRE_COMMIT")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not PRE_COMMIT, reason="CUB_PRE_COMMIT names no pre-commit (it installs from PyPI)"
    ),
]
CONFIG = """\
repos:
  - repo: {folder}
    rev: {revision}
    hooks:
      - id: cub-check
      - id: cub-update
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment that it makes for cub."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration with the hooks of this repository as it stands.

    pre-commit makes an environment for each repository and revision: so both are the same for all
    tests.
    """
    folder = tmp_path_factory.mktemp("offered")
    copy_checkout(REPOSITORY, folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "As it stands")
    file = tmp_path_factory.mktemp("config") / "config.yaml"
    revision = git(folder, "rev-parse", "HEAD").strip()
    file.write_text(CONFIG.format(folder=folder, revision=revision))
    return file


def run(hook: str, project: Path, config: Path, store: Path) -> tuple[int, str]:
    """Run one hook as a commit would."""
    return _run_pre_commit(project, store, "--config", str(config), hook)


def _run_pre_commit(folder: Path, store: Path, *words: str, left_out: str = "") -> tuple[int, str]:
    assert PRE_COMMIT
    done = subprocess.run(
        [PRE_COMMIT, "run", *words, "--all-files", "--color=never"],
        cwd=folder,
        env={**os.environ, "PRE_COMMIT_HOME": str(store), "SKIP": left_out},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_fresh_project_passes_and_a_stale_one_is_refreshed(
    project: Path, cub: Cub, config: Path, store: Path
) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    cub("init")
    git(project, "add", "-A")
    assert run("cub-check", project, config, store)[0] == 0

    runloop = project / ".cub" / "runloop.md"
    runloop.unlink()
    code, said = run("cub-check", project, config, store)
    assert (code, ".cub/runloop.md" in said) == (1, True), said
    code, said = run("cub-update", project, config, store)
    assert (code, "files were modified by this hook" in said) == (1, True), said
    assert run("cub-check", project, config, store)[0] == 0


def test_an_edited_section_stops_the_commit_and_says_how_to_go_on(
    project: Path, cub: Cub, config: Path, store: Path
) -> None:
    cub("init")
    agents = project / "AGENTS.md"
    agents.write_text(agents.read_text().replace("- Claim:", "- Never claim:"))
    git(project, "add", "-A")
    code, said = run("cub-check", project, config, store)
    assert code == 1
    assert "edited manually" in said
    assert "--edited move" in said


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of this repository that has this environment as its own."""
    folder = tmp_path / "clone"
    git(REPOSITORY, "clone", "-q", ".", str(folder))
    shutil.copy(REPOSITORY / ".pre-commit-config.yaml", folder)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def run_own_hooks(folder: Path, store: Path) -> tuple[int, str]:
    """Run all hooks of a repository but mypy, which takes half a minute without its cache."""
    return _run_pre_commit(folder, store, left_out="mypy")


def test_the_own_hooks_pass_here_and_stop_what_is_odd(clone: Path, store: Path) -> None:
    code, said = run_own_hooks(clone, store)
    assert (code, said.count("Passed"), said.count("Skipped")) == (0, 3, 1), said
    (clone / "cub" / "errors.py").write_text("import os\nx = {  }\n")
    (clone / ".cub" / "runloop.md").unlink()
    code, said = run_own_hooks(clone, store)
    assert (code, said.count("Failed")) == (1, 3), said
    assert ".cub/runloop.md" in said
