"""The script that builds a release: what it refuses, and that names and documents agree with it."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from cub import __version__
from tests.command_line import run_program
from tests.conftest import environment, git

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with all that the script reads before it builds anything."""
    folder = tmp_path / "clone"
    for name in (".ci/release", "cub/__init__.py", "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    (folder / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    return folder


def release(folder: Path, *words: str) -> tuple[int, str]:
    line = ["bash", ".ci/release", *words]
    done = run_program(line, cwd=folder, environ=environment(folder.parent))
    assert git(folder, "tag") in ("", f"v{__version__}\n")
    return done.code, done.err


def test_uncommitted_changes_are_refused(clone: Path) -> None:
    (clone / "new.txt").touch()
    assert release(clone) == (
        1, "error: there are uncommitted changes\nhint: commit them first\n",
    )  # fmt: skip


def test_a_changelog_without_the_version_is_refused(clone: Path) -> None:
    code, said = release(clone)
    assert (code, said.splitlines()[0]) == (
        1, f"error: CHANGELOG.md has no section for {__version__}",
    )  # fmt: skip


def test_a_tag_that_is_there_is_refused(clone: Path) -> None:
    (clone / "CHANGELOG.md").write_text(f"## {__version__} - 2026-12-01\n", encoding="utf-8")
    git(clone, "commit", "-qam", "changelog")
    git(clone, "tag", f"v{__version__}")
    code, said = release(clone)
    assert (code, said.splitlines()[0]) == (1, f"error: the tag v{__version__} is there already")


def test_an_unknown_argument_is_refused(clone: Path) -> None:
    assert release(clone, "now")[0] == 1


def test_the_package_is_named_as_the_documents_say() -> None:
    name = PROJECT["name"]
    for page in ("README.md", "docs/how-to/install.md"):
        assert f"`{name}`" in (ROOT / page).read_text(encoding="utf-8")
    assert PROJECT["scripts"]["cub"] == PROJECT["scripts"][name]


def test_nothing_tells_to_install_an_unreleased_name() -> None:
    """Until the first release, anybody could register the name: remove this test with it."""
    name = PROJECT["name"]
    command = re.compile(rf"(pip3?|pipx|uv tool) (install|upgrade) [^`\n]*\b{name}\b|uvx {name}")
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "templates").rglob("*.*"),
    ]
    named = [path.name for path in pages if command.search(path.read_text(encoding="utf-8"))]
    assert named == []


def test_ci_rehearses_a_release() -> None:
    assert ".ci/release --rehearse" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
