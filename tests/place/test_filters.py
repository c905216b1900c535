"""Filters of files, which may execute what an attempt wrote, as git runs them behind walls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cub.git.process import make_config_variables
from cub.place.checkout import find_checkout
from cub.place.repository import confine_filters, read_repository_settings
from tests.conftest import environment, git


@pytest.mark.parametrize(
    ("line", "is_confined"),
    [
        ("git-lfs clean -- %f", False), ("git lfs filter-process", False),
        ("git-crypt clean", False), ("sh ./clean.sh", True), ("python -m nbstripout", True),
        ("git-lfs clean; sh x", True), ("git-lfs clean $(x)", True), ("./git-lfs clean", True),
        ("git -c alias.lfs=!x lfs", True),
    ],
)  # fmt: skip
def test_which_filters_stay_outside(project: Path, line: str, is_confined: bool) -> None:
    git(project, "config", "filter.one.clean", line)
    git(project, "config", "filter.one.required", "true")
    found = read_repository_settings(find_checkout(project)).filters
    assert found == ({"filter.one.clean": line} if is_confined else {})


@pytest.mark.parametrize(
    ("line", "content"),
    [
        ("tr a-z A-Z", b"TEXT 100%"),
        ("cat; printf %%s %f", b"text 100%$(touch pwned) 'x.txt"),
        ("cat; printf %%%%f", b"text 100%%f"),
    ],
)
def test_a_confined_filter_gets_its_file_and_its_name(
    project: Path, home: Path, line: str, content: bytes
) -> None:
    name = "$(touch pwned) 'x.txt"
    (project / name).write_bytes(b"text 100%")
    (project / ".gitattributes").write_text("*.txt filter=one\n")
    walls = ("env", "WALLS=100%")
    settings = confine_filters({"filter.one.clean": line}, lambda argv: (*walls, *argv))
    assert settings["filter.one.clean"].startswith("env WALLS=100%% /bin/sh -c ")
    environ = environment(home) | make_config_variables(settings)
    subprocess.run(["git", "add", "."], cwd=project, env=environ, check=True)
    shown = ["git", "cat-file", "blob", f":{name}"]
    assert subprocess.run(shown, cwd=project, capture_output=True, check=True).stdout == content
    assert not (project / "pwned").exists()


def test_a_process_stays_as_it_is() -> None:
    settings = confine_filters({"filter.one.process": "x %f %%"}, lambda argv: ("walls", *argv))
    assert settings == {"filter.one.process": "walls /bin/sh -c 'x %f %%'"}
