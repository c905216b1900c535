from __future__ import annotations

import pytest

from cub.project.targets import (
    DEFAULT_TARGETS,
    TARGETS,
    find_target,
    find_target_problem,
    is_fully_managed,
    is_nested_target,
    list_reading_agents,
    normalize_target,
)

COPILOT, CURSOR = ".github/copilot-instructions.md", ".cursor/rules/cub.mdc"


def test_the_rows_of_the_table_are_targets_of_the_root() -> None:
    for row in TARGETS:
        assert find_target(row.path) is row
        assert not is_nested_target(row.path)
        assert find_target_problem(row.path) == ""
        assert list_reading_agents(row.path) == row.agents != ()


def test_only_files_that_somebody_asks_for_are_written_beside_the_two() -> None:
    assert DEFAULT_TARGETS == ("AGENTS.md", "CLAUDE.md")


@pytest.mark.parametrize(
    ("path", "clients"),
    [
        ("packages/api/AGENTS.md", "Codex"),
        ("packages/api/CLAUDE.md", "Claude Code"),
        ("a/b/GEMINI.md", "Gemini CLI"),
        (".github/AGENTS.md", "Codex"),
    ],
)
def test_names_that_clients_look_for_in_every_folder_may_be_nested(path: str, clients: str) -> None:
    assert is_nested_target(path)
    assert find_target_problem(path) == ""
    assert clients in list_reading_agents(path)


@pytest.mark.parametrize("path", [COPILOT, CURSOR])
def test_files_that_clients_look_for_in_one_place_may_not(path: str) -> None:
    assert "is not a file that cub manages" in find_target_problem(f"packages/api/{path}")
    assert "is not a file that cub manages" in find_target_problem(path.rpartition("/")[2])
    assert list_reading_agents(f"packages/api/{path}") == ()


def test_one_file_is_cubs_as_a_whole() -> None:
    assert [row.path for row in TARGETS if is_fully_managed(row.path)] == [CURSOR]


def test_readers_of_agents_md_that_have_a_file_of_their_own_are_known() -> None:
    agents = list_reading_agents("AGENTS.md")
    assert {row.path: row.also_reads_agents_md for row in TARGETS if row.also_reads_agents_md} == {
        COPILOT: "Copilot",
        CURSOR: "Cursor",
    }
    assert {row.also_reads_agents_md for row in TARGETS if row.also_reads_agents_md} < {*agents}


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/AGENTS.md", "is not a path inside the project"),
        ("../AGENTS.md", "is not a path inside the project"),
        ("a/../AGENTS.md", "is not a path inside the project"),
        ("a/../../AGENTS.md", "is not a path inside the project"),
        ("..", "is not a file that cub manages"),
        (".", "is not a file that cub manages"),
        ("AGENTS.md/x", "is not a file that cub manages"),
        ("a\0b/AGENTS.md", "is not a printable name"),
        ("caf\udce9/AGENTS.md", "is not a printable name"),
        ("packages\\api\\AGENTS.md", "is not a path inside the project, written with /"),
        (".git/AGENTS.md", "is in .git or .cub"),
        ("a/.git/b/AGENTS.md", "is in .git or .cub"),
        (".GIT/AGENTS.md", "is in .git or .cub"),
        (".Cub/AGENTS.md", "is in .git or .cub"),
        ("a\nb/AGENTS.md", "is not a printable name"),
        ("agents.md", "is not a file that cub manages"),
        (".github/Copilot-Instructions.md", "is not a file that cub manages"),
        (".cursor/rules/other.mdc", "is not a file that cub manages"),
        ("README.md", "is not a file that cub manages"),
        ("AGENTS.md/", "is not a file that cub manages"),
        ("", "is not a file that cub manages"),
    ],
)
def test_what_can_be_no_target_is_said(path: str, problem: str) -> None:
    assert problem in find_target_problem(path)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("./AGENTS.md", "AGENTS.md"),
        ("./.github/copilot-instructions.md", COPILOT),
        (".cursor//rules/./cub.mdc", CURSOR),
        ("packages//api/GEMINI.md", "packages/api/GEMINI.md"),
        ("ü b/AGENTS.md", "ü b/AGENTS.md"),
    ],
)
def test_one_path_may_be_written_in_several_ways(written: str, path: str) -> None:
    assert find_target_problem(written) == ""
    assert normalize_target(written) == path
