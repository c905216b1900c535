"""When the commands of `run.setup` run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.place.checkout import TreeGit, find_checkout
from cub.place.setup_files import make_setup_key
from tests.conftest import git
from tests.written_files import write_files


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("package-lock.json", True),
        ("packages/shop/package.json", True),
        ("uv.lock", True),
        ("requirements-dev.txt", True),
        ("tools/setup.sh", True),
        ("tools/other.sh", False),
        ("src/a.py", False),
    ],
)
def test_the_files_that_name_dependencies_count(
    project: Path, tmp_path: Path, path: str, changes: bool
) -> None:
    first = _write(project, tmp_path, path, "1")
    assert first == _write(project, tmp_path, "README.md", "2")
    assert (_write(project, tmp_path, path, "2") != first) is changes


def test_the_commands_count(project: Path, tmp_path: Path) -> None:
    commands: tuple[list[str], ...] = (["a"], ["a", "b"], ["a b"], [])
    keys = [_write(project, tmp_path, "uv.lock", "1", *words) for words in commands]
    assert len(set(keys)) == 4


def _write(root: Path, tmp_path: Path, path: str, text: str, *commands: str) -> str:
    write_files(root, {path: text})
    git(root, "add", ".")
    tree = git(root, "write-tree").strip()
    runner = TreeGit(find_checkout(root), root, tmp_path / "index", root / ".git/objects")
    return make_setup_key(runner, tree, commands or ["npm ci && sh ./tools/setup.sh"])
