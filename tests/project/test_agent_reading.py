from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cub.agent_profiles.agent_files import AgentFiles
from cub.project.agent_reading import find_agent_reading, find_claude_above, list_loaded_files
from tests.project.memory_tree import MemoryTree

KIB = 1024
GEMINI = ".gemini/settings.json"
SETTING = '{"context": {"fileName": "%s"}}'


def loaded(
    agent: str,
    files: Mapping[str, str],
    home: Mapping[str, str] | None = None,
    version: tuple[int, ...] = (),
    **place: Any,
) -> list[str]:
    where = replace(opened(files, home, version), **place)
    return [
        where.shorten(file.path) for file in list_loaded_files(find_agent_reading(agent), where)
    ]


def opened(
    files: Mapping[str, str], home: Mapping[str, str] | None, version: tuple[int, ...] = ()
) -> AgentFiles:
    """A project at /up/project, links with an arrow, and a home folder at /home/ann."""
    around = {f"/home/ann/{path}"[1:]: text for path, text in (home or {}).items()}
    around = {path.removeprefix("home/ann//"): text for path, text in around.items()}
    environ = {"HOME": "/home/ann"}
    return AgentFiles(
        make_tree(files), "/up/project", outside=make_tree(around), environ=environ, version=version
    )


def make_tree(files: Mapping[str, str]) -> MemoryTree:
    links = {path: text[3:] for path, text in files.items() if text.startswith("-> ")}
    return MemoryTree({p: t.encode() for p, t in files.items() if p not in links}, links)


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, []),
        ({"AGENTS.md": "A"}, ["AGENTS.md"]),
        ({"AGENTS.md": "A", "CLAUDE.md": "C"}, ["CLAUDE.md"]),
        ({"AGENTS.md": "A", "CLAUDE.md": ""}, ["AGENTS.md"]),
        ({"AGENTS.md": "A", "CLAUDE.md": "<!-- later\n -->\n"}, ["AGENTS.md"]),
        ({"AGENTS.md": "A", ".claude/CLAUDE.md": "C"}, [".claude/CLAUDE.md"]),
        ({"AGENTS.md": "A", "CLAUDE.local.md": "C"}, ["CLAUDE.local.md"]),
        (
            {"AGENTS.md": "A", ".claude/rules/a.md": "a", ".claude/rules/b/c.md": "c"},
            ["AGENTS.md", ".claude/rules/a.md", ".claude/rules/b/c.md"],
        ),
        ({"CLAUDE.md": "C", "CLAUDE.local.md": "L"}, ["CLAUDE.md", "CLAUDE.local.md"]),
        ({"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "A"}, ["CLAUDE.md", "AGENTS.md"]),
        (
            {".claude/CLAUDE.md": "@../AGENTS.md", "AGENTS.md": "A"},
            [".claude/CLAUDE.md", "AGENTS.md"],
        ),
        ({"CLAUDE.md": "`@AGENTS.md` @no.md @~/x.md @/etc/x", "AGENTS.md": "A"}, ["CLAUDE.md"]),
        ({"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "@CLAUDE.md"}, ["CLAUDE.md", "AGENTS.md"]),
    ],
)  # fmt: skip
def test_claude_reads_its_own_files_or_else_agents_md(
    files: dict[str, str], names: list[str]
) -> None:
    assert loaded("claude", files) == names


def test_older_versions_of_claude_read_no_agents_md() -> None:
    assert loaded("claude", {"AGENTS.md": "A"}, version=(2, 1, 276)) == []
    assert loaded("claude", {"AGENTS.md": "A"}, version=(2, 1, 277)) == ["AGENTS.md"]


def test_imports_are_followed_as_deep_as_the_agent_does() -> None:
    chain = {f"n{n}.md": f"@n{n + 1}.md" for n in range(9)}
    assert loaded("claude", {"CLAUDE.md": "@n0.md", **chain})[1:] == [f"n{n}.md" for n in range(4)]
    assert loaded("gemini", {"GEMINI.md": "@n0.md", **chain})[1:] == [f"n{n}.md" for n in range(5)]
    assert loaded("codex", {"AGENTS.md": "@n0.md", **chain}) == ["AGENTS.md"]


def test_claude_loads_an_import_once_and_gemini_each_time() -> None:
    files = {"a.md": "@x.md", "b.md": "@x.md @x.md", "x.md": "@a.md"}
    assert loaded("claude", {"CLAUDE.md": "@a.md @b.md", **files})[1:] == ["a.md", "x.md", "b.md"]
    found = loaded("gemini", {"GEMINI.md": "@a.md @b.md", **files})[1:]
    assert (found.count("x.md"), found.count("b.md")) == (3, 1)
    both = {"AGENTS.md": "A", "GEMINI.md": "@AGENTS.md", GEMINI: SETTING % "AGENTS.md"}
    assert loaded("gemini", both) == ["AGENTS.md", "GEMINI.md", "AGENTS.md"]


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"])
def test_instructions_above_the_project_hide_agents_md_from_claude(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / "home" / "project"
    work_tree = root / ".cub" / "worktrees" / "1"
    work_tree.mkdir(parents=True)
    assert find_claude_above(root, None) is None
    file = tmp_path / "home" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("C")
    assert find_claude_above(root, None) == file
    assert find_claude_above(work_tree, None) == file
    is_of_the_user = name.startswith(".claude/")
    assert find_claude_above(root, tmp_path / "home") == (None if is_of_the_user else file)
    file.rename(root / "CLAUDE.md")
    assert find_claude_above(work_tree, None) is None
    assert find_claude_above(root / "inner", None) == root / "CLAUDE.md"
    assert loaded("claude", {"AGENTS.md": "A"}, {f"/up/{name}": "C"}) == [f"/up/{name}"]


@pytest.mark.parametrize(
    ("files", "config", "names"),
    [
        ({"AGENTS.md": "A", "CLAUDE.md": "C"}, "", [("AGENTS.md", 32 * KIB)]),
        ({"AGENTS.md": "A", "AGENTS.override.md": "O"}, "", [("AGENTS.override.md", 32 * KIB)]),
        ({"CLAUDE.md": "C"}, "", []),
        (
            {"CLAUDE.md": "C"},
            'project_doc_fallback_filenames = ["X.md", "CLAUDE.md"]\nproject_doc_max_bytes = 9',
            [("CLAUDE.md", 9)],
        ),
        (
            {"AGENTS.md": "A", "CLAUDE.md": "C"},
            'project_doc_fallback_filenames = ["CLAUDE.md"]',
            [("AGENTS.md", 32 * KIB)],
        ),
        ({"AGENTS.md": "A"}, "project_doc_max_bytes = ", [("AGENTS.md", 32 * KIB)]),
        ({"AGENTS.md": "A"}, 'project_doc_max_bytes = "9"', [("AGENTS.md", 32 * KIB)]),
        (
            {"AGENTS.md": "A", ".codex/config.toml": "project_doc_max_bytes = 9"},
            "",
            [("AGENTS.md", 32 * KIB)],
        ),
    ],
)
def test_codex_reads_one_file_up_to_its_limit(
    files: dict[str, str], config: str, names: list[tuple[str, int]]
) -> None:
    where = opened(files, {".codex/config.toml": config})
    found = list_loaded_files(find_agent_reading("codex"), where)
    assert [(where.shorten(file.path), file.max_bytes) for file in found] == names


@pytest.mark.parametrize(
    ("project", "home", "names"),
    [
        (None, None, ["GEMINI.md"]),
        ("AGENTS.md", None, ["AGENTS.md", "GEMINI.md"]),
        (None, "AGENTS.md", ["AGENTS.md", "GEMINI.md"]),
        ("CLAUDE.md", "AGENTS.md", ["CLAUDE.md", "GEMINI.md"]),
    ],
)
def test_gemini_goes_by_the_setting_of_the_project_or_else_of_the_user(
    project: str | None, home: str | None, names: list[str]
) -> None:
    files = {"AGENTS.md": "A", "CLAUDE.md": "C", "GEMINI.md": "G"}
    files |= {GEMINI: SETTING % project} if project else {}
    user = {GEMINI: SETTING % home} if home else {}
    assert loaded("gemini", files, user) == names


@pytest.mark.parametrize(
    ("files", "home", "names"),
    [
        ({"AGENTS.md": "@.cub/map.md", "CLAUDE.md": "C"}, {}, ["AGENTS.md"]),
        ({"CLAUDE.md": "C"}, {}, ["CLAUDE.md"]),
        (
            {"AGENTS.md": "A", "opencode.jsonc": '{"instructions": [".cub/*.md"]} // x'},
            {},
            ["AGENTS.md", ".cub/constitution.md", ".cub/map.md"],
        ),
        (
            {
                "AGENTS.md": "A",
                "opencode.json": '{"instructions": ["AGENTS.md", "./.cub/map.md", "CLAUDE.md"]}',
            },
            {".config/opencode/opencode.json": '{"instructions": [".cub/constitution.md"]}'},
            ["AGENTS.md", ".cub/constitution.md", ".cub/map.md"],
        ),
        ({"opencode.json": '{"instructions": 3}'}, {}, []),
    ],
)
def test_opencode_adds_its_lists_to_the_first_file(
    files: dict[str, str], home: dict[str, str], names: list[str]
) -> None:
    texts = {".cub/map.md": "M", ".cub/constitution.md": "P"}
    assert loaded("opencode", {**texts, **files}, home) == names


@pytest.mark.parametrize(
    ("project", "home", "names"),
    [
        (None, None, []),
        ("read: AGENTS.md", None, ["AGENTS.md"]),
        (None, "read: [AGENTS.md, .cub]", ["AGENTS.md", ".cub/map.md"]),
        ("read: [CLAUDE.md]", "read: AGENTS.md", ["CLAUDE.md"]),
        ("model: m", "read: AGENTS.md", ["AGENTS.md"]),
        ("read: [", "read: AGENTS.md", ["AGENTS.md"]),
    ],
)
def test_aider_reads_what_the_nearest_list_names(
    project: str | None, home: str | None, names: list[str]
) -> None:
    files = {"AGENTS.md": "A", "CLAUDE.md": "C", ".cub/map.md": "M"}
    files |= {".aider.conf.yml": project} if project else {}
    assert loaded("aider", files, {".aider.conf.yml": home} if home else {}) == names


def test_other_agents_read_agents_md_or_nothing() -> None:
    files = {"AGENTS.md": "@CLAUDE.md", "CLAUDE.md": "C"}
    assert loaded("agents_md", files) == ["AGENTS.md"]
    assert loaded("nothing", files) == []
    with pytest.raises(LookupError):
        find_agent_reading("emacs")


def test_two_names_of_one_file_are_loaded_once() -> None:
    files = {"AGENTS.md": "A", "GEMINI.md": "-> AGENTS.md"}
    assert loaded("gemini", files, {GEMINI: SETTING % "AGENTS.md"}) == ["AGENTS.md"]


def test_a_file_that_can_not_be_read_is_not_loaded() -> None:
    assert loaded("codex", {"AGENTS.md/x": "A"}) == []
