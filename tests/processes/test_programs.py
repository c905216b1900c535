from __future__ import annotations

from pathlib import Path

import pytest

from cub.processes.programs import why_missing


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with programs, and one with a script below it."""
    for name, text, mode in (
        ("bin/agent", "\x7fELF", 0o755),
        ("bin/plain", "#!/bin/sh\n", 0o644),
        ("other/plain", "#!/bin/sh\n", 0o755),
        ("bin/script", "#! /bin/sh -e\n", 0o755),
        ("bin/orphan", "#!/no/such/python3\n", 0o755),
        ("bin/node-cli", "#!/usr/bin/env no-such-node\n", 0o755),
        ("bin/env-cli", "#!/usr/bin/env agent\n", 0o755),
        ("bin/option-cli", "#!/usr/bin/env -S no-such-node --x\n", 0o755),
        ("bin/empty", "", 0o755),
        ("bin/bare", "#!\n", 0o755),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    (tmp_path / "bin" / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["agent", "script", "env-cli", "option-cli", "empty", "bare", "./bin/agent", "bin/script"],
)
def test_what_is_there_can_be_started(shelf: Path, name: str) -> None:
    assert why_missing(name, shelf, {"PATH": "no-such-folder:bin"}) == ""
    assert why_missing(str(shelf / "bin/agent"), Path("/"), {}) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "nobody is not in PATH"),
        ("folder", "folder is not in PATH"),
        (".", ". is not in PATH"),
        ("./agent", "./agent is not there"),
        ("~/bin/agent", "~/bin/agent is not there"),
        ("/no/such/program", "/no/such/program is not there"),
        ("bin/folder", "bin/folder is not there"),
        ("plain", "F/bin/plain is not executable"),
        ("bin/plain", "F/bin/plain is not executable"),
        ("orphan", "F/bin/orphan needs /no/such/python3, which is not there"),
        ("node-cli", "F/bin/node-cli needs no-such-node, which is not there"),
    ],
)
def test_what_is_missing_is_told(shelf: Path, name: str, why: str) -> None:
    assert why_missing(name, shelf, {"PATH": f"{shelf}/bin"}) == why.replace("F", str(shelf))


def test_a_file_that_can_not_be_started_hides_no_program_behind_it(shelf: Path) -> None:
    assert why_missing("plain", shelf, {"PATH": "bin:other"}) == ""


def test_without_a_path_it_is_the_systems_own(shelf: Path) -> None:
    assert why_missing("sh", shelf, {}) == ""
    assert why_missing("agent", shelf, {}) == "agent is not in PATH"


def test_an_empty_part_of_the_path_is_the_folder_itself(shelf: Path) -> None:
    assert why_missing("agent", shelf / "bin", {"PATH": "/usr/bin:"}) == ""
