from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cub, tree

CONFIG = """\
# What we agreed on in May.
schema: 1

targets:   # both, please
  - AGENTS.md   # people
  - "CLAUDE.md"

placement: 'bottom'  # as ever
"""


def config(project: Path) -> str:
    return (project / ".cub" / "config.yaml").read_bytes().decode()


@pytest.fixture
def nested(project: Path) -> Path:
    (project / "packages" / "api").mkdir(parents=True)
    (project / ".cub").mkdir()
    return project


def test_a_nested_file_is_remembered_and_every_comment_stays(nested: Path, cub: Cub) -> None:
    (nested / ".cub" / "config.yaml").write_bytes(CONFIG.encode())
    assert cub("init", "packages/api").code == 0
    expected = CONFIG.replace('"CLAUDE.md"\n', '"CLAUDE.md"\n  - packages/api/AGENTS.md\n')
    assert config(nested) == expected
    assert cub("update", "--check").code == 0


@pytest.mark.parametrize("how", ["packages/api", "packages/api/", "packages/api/AGENTS.md"])
def test_a_folder_and_its_file_are_one_and_the_same(nested: Path, cub: Cub, how: str) -> None:
    assert cub("init", how).code == 0
    assert config(nested).splitlines()[-1] == "  - packages/api/AGENTS.md"
    assert b"`../../AGENTS.md`" in (nested / "packages/api/AGENTS.md").read_bytes()


def test_a_path_is_relative_to_where_the_person_is(nested: Path, cub: Cub) -> None:
    assert cub("init", ".", cwd=nested / "packages" / "api").code == 0
    assert (nested / "packages/api/AGENTS.md").exists()


def test_only_a_claude_file_in_a_folder_is_the_one_to_manage(nested: Path, cub: Cub) -> None:
    (nested / "packages/api/CLAUDE.md").write_bytes(b"# Theirs\n")
    assert cub("init", "packages/api").code == 0
    assert config(nested).splitlines()[-1] == "  - packages/api/CLAUDE.md"
    assert not (nested / "packages/api/AGENTS.md").exists()


def test_nested_files_that_were_not_asked_for_are_left_alone(nested: Path, cub: Cub) -> None:
    (nested / "packages/api/AGENTS.md").write_bytes(b"# Theirs\n")
    assert cub("init").code == 0
    assert (nested / "packages/api/AGENTS.md").read_bytes() == b"# Theirs\n"
    assert not (nested / ".cub" / "config.yaml").exists()


def test_targets_choose_the_files(nested: Path, cub: Cub) -> None:
    assert cub("init", "--targets", "AGENTS.md").code == 0
    assert (nested / "AGENTS.md").exists()
    assert not (nested / "CLAUDE.md").exists()
    assert cub("update", "--check").code == 0


@pytest.mark.parametrize(
    "folder",
    ["a b", "ü", "(group)", "[slug]", "@scope", "#1", "a: b", "- x", "*", "'q'", '"', "!t"],
)
def test_any_folder_name_is_remembered(project: Path, cub: Cub, folder: str) -> None:
    try:
        (project / folder).mkdir()
    except OSError:
        pytest.skip("this disk has no such names")
    assert cub("init", "--", folder).code == 0
    assert cub("update", "--check").code == 0
    (project / folder / "AGENTS.md").unlink()
    assert cub("init").code == 0
    assert f"{folder}/AGENTS.md" in tree(project)
