from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from tests.command_line import Result, run_program
from tests.conftest import environment
from tests.files import run_plan
from tests.files.worlds import PLAN, build, change, whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes and links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555])
@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("plain.md", "plain.md"),
        ("hard.md", "twin.md"),
        ("link.md", "real/target.md"),
        ("gone.md", "gone.md"),
    ],
)
def test_a_read_only_file_is_refused_even_for_root(
    root: Path, path: str, place: str, mode: int
) -> None:
    (root / place).chmod(mode)
    before = whole(root)
    with pytest.raises(CubError, match="this file is read-only; nothing was written") as error:
        change(root)
    assert (error.value.where, error.value.exit_code) == (path, 1)
    assert f"chmod u+w {path}" in error.value.hint
    assert whole(root) == before


def test_a_read_only_file_that_is_only_read_is_no_obstacle(root: Path) -> None:
    (root / "real" / "other.md").write_bytes(b"x")
    (root / "real" / "other.md").chmod(0o444)
    change(root, Plan((FileEdit("made.md", None, b"new"),)))
    assert (root / "made.md").read_bytes() == b"new"


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def run(root: Path, prefix: list[str]) -> Result:
    words = [*prefix, sys.executable, run_plan.__file__, str(root)]
    return run_program(words, cwd=root, environ=environment(root.parent))


@pytest.mark.parametrize("folder", [".", "real", "home-of-gone"])
def test_a_read_only_folder_stops_the_whole_plan(
    root: Path, unprivileged: list[str], folder: str
) -> None:
    (root / "home-of-gone").mkdir()
    (root / "gone.md").rename(root / "home-of-gone" / "gone.md")
    (root / "gone.md").symlink_to("home-of-gone/gone.md")
    before = whole(root)
    with read_only(root / folder):
        done = run(root, unprivileged)
    assert done.code == 1
    assert "cub.errors.CubError: " in done.err
    assert whole(root) == before


def test_the_same_plan_succeeds_where_folders_may_be_written(
    root: Path, unprivileged: list[str]
) -> None:
    assert run(root, unprivileged).code == 0
    assert (root / "plain.md").read_bytes() == PLAN.edits[2].after


def test_a_file_of_somebody_else_keeps_its_owner(root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(root / "plain.md", 12345, 54321)
    change(root)
    status = (root / "plain.md").stat()
    assert (status.st_uid, status.st_gid) == (12345, 54321)
