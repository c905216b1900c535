"""Fixtures of the repairs' tests: a project with cub in it, made once and copied.

Fixtures of the actions' tests.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.prompt.templates import TemplateSet, load_shipped_templates
from tests.actions.repairs import bakery_in


@pytest.fixture(scope="session")
def bakery_template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project with text of its own in both files, and cub in it; to be copied."""
    root = tmp_path_factory.mktemp("bakery") / "project"
    return bakery_in(Path(shutil.copytree(empty_repository, root)).resolve())


@pytest.fixture
def bakery(project: Path, bakery_template: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copytree(bakery_template, project, dirs_exist_ok=True))


@pytest.fixture
def next_version(tmp_path: Path) -> TemplateSet:
    """The shipped templates with a v2 whose shared text and run loop have changed."""
    folder = tmp_path / "templates"
    shutil.copytree(load_shipped_templates().folder, folder)
    shutil.copytree(folder / "sections" / "v1", folder / "sections" / "v2")
    shared = folder / "sections" / "v2" / "_shared.md.j2"
    shared.write_text(shared.read_text().replace("Work in tasks:", "Work in small tasks:"))
    for file in (folder / "sections" / "v2").glob("*.j2"):
        file.write_text(file.read_text().replace("sections/v1/", "sections/v2/"))
    (folder / "sections" / "v2" / "changes.txt").write_text("tasks are small\n")
    runloop = folder / "files" / "runloop.md"
    (folder / "files" / "v1").mkdir()
    shutil.copy(runloop, folder / "files" / "v1")
    runloop.write_text(runloop.read_text() + "\nOne more rule.\n")
    return TemplateSet(folder)
