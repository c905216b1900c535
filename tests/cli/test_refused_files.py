from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.standing import MINE, Stand, stand
from tests.conftest import Cub

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def _read_only(path: Path) -> None:
    path.write_bytes(MINE)
    path.chmod(0o444)


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "this is a directory"),
    "FIFO": (os.mkfifo, "this is a FIFO"),
    "out of the project": (lambda p: p.symlink_to("../home/x"), "this"),
    "dangling": (lambda p: p.symlink_to("nowhere"), "points to nowhere, which does not exist"),
    "loop": (lambda p: p.symlink_to(p.name), "leads back to itself"),
    "read-only": (_read_only, "this file is read-only; nothing was written"),
}


def unlike(before: dict[str, Stand], now: dict[str, Stand]) -> set[str]:
    """What differs, apart from folders in which the lock came and went."""
    return {name for name in before | now if before.get(name) != now.get(name)} - {".", ".cub"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "pkg/AGENTS.md"])
def test_a_file_that_cub_may_not_write_stops_everything(
    project: Path, cub: Cub, kind: str, name: str
) -> None:
    make, message = KINDS[kind]
    (project / "pkg").mkdir()
    make(project / name)
    before = stand(project)
    result = cub("init", *(["pkg"] if name.startswith("pkg") else []))
    assert result.code == 1
    assert f"error: {name}: " in result.err
    assert message in result.err
    assert "\nhint: " in result.err
    assert unlike(before, stand(project)) == set()


@pytest.mark.parametrize("name", [".cub/config.yaml", ".cub/state.json", ".cub/constitution.md"])
@pytest.mark.parametrize("kind", ["folder", "FIFO", "out of the project", "loop"])
def test_what_is_no_file_in_dot_cub_is_a_known_error(
    project: Path, cub: Cub, kind: str, name: str
) -> None:
    (project / ".cub").mkdir()
    KINDS[kind][0](project / name)
    for command in ("init", "status", "update"):
        result = cub(command)
        assert result.code == 1
        assert result.err.startswith(f"error: {name}: ")
    assert sorted(path.name for path in project.iterdir()) == [".cub", ".git"]


def test_a_folder_out_of_the_project_is_not_written_to(project: Path, home: Path, cub: Cub) -> None:
    (project / "pkg").symlink_to(home)
    result = cub("init", "pkg")
    assert result.code in (1, 2)
    assert "outside the project" in result.err or "out of the project" in result.err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("folder", [".", ".cub", "pkg"])
@pytest.mark.parametrize("command", ["init", "remove", "remove --purge --yes"])
def test_a_read_only_folder_is_an_error_that_changes_nothing(
    project: Path, cub: Cub, unprivileged_cub: Cub, folder: str, command: str
) -> None:
    (project / "pkg").mkdir()
    if command == "init":
        (project / "AGENTS.md").write_bytes(MINE)
        (project / ".cub").mkdir()
        command = "init pkg"
    else:
        assert cub("init", "pkg").code == 0
    before = stand(project)
    (project / folder).chmod(0o555)
    try:
        done = unprivileged_cub(*command.split())
    finally:
        (project / folder).chmod(0o755)
    assert done.code == 1
    assert any(line.startswith("error: ") for line in done.err.splitlines())
    assert "Traceback" not in done.err
    assert unlike(before, stand(project)) <= {"pkg"}


def test_a_git_folder_that_may_not_be_read_is_no_obstacle(
    project: Path, unprivileged_cub: Cub
) -> None:
    (project / ".git").chmod(0)
    try:
        done = unprivileged_cub("init")
    finally:
        (project / ".git").chmod(0o755)
    assert done.code == 0
    assert (project / "AGENTS.md").exists()


def test_where_nothing_may_be_written_looking_still_works(
    project: Path, cub: Cub, unprivileged_cub: Cub
) -> None:
    cub("init")
    (project / ".cub").chmod(0o555)
    project.chmod(0o555)
    try:
        codes = [
            unprivileged_cub(*command.split()).code
            for command in ("status", "update --check", "update --diff", "init --json")
        ]
    finally:
        project.chmod(0o755)
        (project / ".cub").chmod(0o755)
    assert codes == [0, 0, 0, 0]
