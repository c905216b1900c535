from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import UsageError
from cub.files.file_tree import FileTree
from cub.project.project import Project, resolve_target
from tests.conftest import git
from tests.project.memory_tree import MemoryTree

FILES = {"packages/Api/x.py": b"", "tools/CLAUDE.md": b"T.\n", "both/CLAUDE.md": b"B.\n"}
FILES["both/AGENTS.md"] = b"B.\n"


def _at(path: str, tree: FileTree, root: Path = Path("/nowhere")) -> str:
    return resolve_target(Project.from_tree(root, tree), path)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("packages/Api", "packages/Api/AGENTS.md"),
        ("packages/Api/", "packages/Api/AGENTS.md"),
        ("./packages//Api", "packages/Api/AGENTS.md"),
        ("packages/Api/CLAUDE.md", "packages/Api/CLAUDE.md"),
        ("tools", "tools/CLAUDE.md"),
        ("both", "both/AGENTS.md"),
        (".", "AGENTS.md"),
        ("GEMINI.md", "GEMINI.md"),
    ],
)
def test_a_folder_means_the_file_in_it(path: str, target: str) -> None:
    assert _at(path, MemoryTree(FILES)) == target


@pytest.mark.parametrize("path", ["PACKAGES/api", "packages/API/AGENTS.md", "Packages/Api"])
def test_on_a_disk_that_ignores_case_a_path_is_spelled_as_it_is_listed(path: str) -> None:
    assert _at(path, MemoryTree(FILES, ignores_case=True)) == "packages/Api/AGENTS.md"
    with pytest.raises(UsageError, match="no such directory"):
        _at(path, MemoryTree(FILES))


@pytest.mark.parametrize("path", ["nowhere", "packages/Api/x.py", "tools/agents.md", "x/AGENTS.md"])
def test_what_is_neither_a_folder_nor_an_instruction_file_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="no such directory or instruction file"):
        _at(path, MemoryTree(FILES))


def test_another_repository_inside_is_refused(project: Path) -> None:
    (project / "vendor/other/deep").mkdir(parents=True)
    git(project / "vendor/other", "init", "-q")
    with pytest.raises(UsageError, match="another git repository") as caught:
        resolve_target(Project.load(project), "vendor/other/deep")
    assert caught.value.hint == "run cub there: cub -C vendor/other init"
