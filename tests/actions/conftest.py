"""Fixtures of the actions' tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.prompt.templates import TemplateSet, shipped


@pytest.fixture
def next_version(tmp_path: Path) -> TemplateSet:
    """The shipped templates with a v2 whose shared text and run loop have changed."""
    folder = tmp_path / "templates"
    shutil.copytree(shipped().folder, folder)
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
