from __future__ import annotations

import json
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
    root.mkdir(parents=True)
    assert find_claude_above(root, None) is None
    file = tmp_path / "home" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("C")
    assert find_claude_above(root, None) == file
    is_of_the_user = name.startswith(".claude/")
    assert find_claude_above(root, tmp_path / "home") == (None if is_of_the_user else file)
    file.rename(root / "CLAUDE.md")
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


@pytest.mark.parametrize("key", ["project_doc_fallback_filenames", "project_root_markers"])
def test_settings_of_codex_that_are_no_names_have_no_say(key: str) -> None:
    settings = {".codex/config.toml": f'{key} = [{{ a = 1 }}, 7, [".git"]]\n'}
    assert loaded("codex", {"AGENTS.md": "A"}, settings) == ["AGENTS.md"]


def test_a_file_that_can_not_be_read_is_not_loaded() -> None:
    assert loaded("codex", {"AGENTS.md/x": "A"}) == []


def big(name: str, size: int = 20 * KIB) -> str:
    return f"{name}\n" + "x" * (size - len(name) - 2) + "\n"


def test_the_limit_of_codex_counts_all_files_down_to_where_it_starts() -> None:
    files = {".git/HEAD": "", "AGENTS.md": big("A"), "a/AGENTS.md": big("B"), "a/b/AGENTS.md": "C"}
    where = replace(opened(files, {".codex/AGENTS.md": big("U")}), folder="a/b")
    found = list_loaded_files(find_agent_reading("codex"), where)
    assert [(where.shorten(one.path), one.max_bytes, one.is_cut) for one in found] == [
        ("~/.codex/AGENTS.md", None, False),
        ("AGENTS.md", 32 * KIB, False),
        ("a/AGENTS.md", 12 * KIB, True),
        ("a/b/AGENTS.md", 0, True),
    ]
    assert [one.text[:1] for one in found] == ["U", "A", "B", ""]
    assert loaded("codex", {"AGENTS.md": "A", "a/AGENTS.md": "B"}, folder="a") == ["a/AGENTS.md"]


@pytest.mark.parametrize(
    ("agent", "files", "names"),
    [
        # Imports are those of the folder that a link leads to; of the link's own for Gemini CLI.
        ("claude", {"CLAUDE.md": "-> docs/R.md"}, ["CLAUDE.md", "docs/x.md"]),
        ("gemini", {"GEMINI.md": "-> docs/R.md"}, ["GEMINI.md", "x.md"]),
    ],
)
def test_a_link_decides_where_imports_are(
    agent: str, files: dict[str, str], names: list[str]
) -> None:
    texts = {"docs/R.md": "R\n\n@x.md\n", "x.md": "root", "docs/x.md": "docs"}
    assert loaded(agent, {**texts, **files}) == names


def test_gemini_imports_what_is_in_comments_and_not_in_backticks() -> None:
    text = "`@a.md` <!-- @b.md --> (@c.md)\n\n    @d.md\n\n```\n@e.md\n```\n@f.md, @1.md\n"
    files = {"GEMINI.md": text, **{f"{name}.md": name for name in "abcdef1"}}
    assert loaded("gemini", files) == ["GEMINI.md", "b.md", "d.md"]


@pytest.mark.parametrize(
    ("patterns", "is_read"),
    [
        ("**/CLAUDE.md", False),
        ("/up/project/CLAUDE.md", False),
        ("/up/**", False),
        ("**/{CLAUDE,X}.md", False),
        ("/up/*/C*.md", False),
        ("CLAUDE.md", True),
        ("/up/CLAUDE.md", True),
        ("**/claude.md", True),
    ],
)
@pytest.mark.parametrize(
    "place", ["settings.json", "settings.local.json", "user", "--settings", "a file"]
)
def test_claude_leaves_out_what_its_settings_exclude(
    patterns: str, is_read: bool, place: str
) -> None:
    setting = json.dumps({"claudeMdExcludes": [patterns]})
    name = place if place.startswith("settings") else "other.json"
    files = {"CLAUDE.md": "C", f".claude/{name}": setting}
    home = {".claude/settings.json": setting} if place == "user" else {}
    given = {"--settings": ("--settings", setting), "a file": ("--settings=.claude/other.json",)}
    found = loaded("claude", files, home, arguments=given.get(place, ()))
    assert found == ["CLAUDE.md"] * is_read


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--bare",), []),
        (("--setting-sources", "user"), ["~/.claude/CLAUDE.md"]),
        (("--setting-sources=project",), ["CLAUDE.md", ".claude/rules/r.md"]),
        (("--setting-sources", "local"), ["CLAUDE.local.md"]),
    ],
)
def test_arguments_of_claude_decide_what_it_reads(
    arguments: tuple[str, ...], names: list[str]
) -> None:
    files = {"CLAUDE.md": "C", "CLAUDE.local.md": "L", ".claude/rules/r.md": "R"}
    assert loaded("claude", files, {".claude/CLAUDE.md": "U"}, arguments=arguments) == names


def test_claude_imports_from_where_it_starts_and_the_user_from_anywhere() -> None:
    files = {"CLAUDE.md": "@x.md @../o.md", "x.md": "X", "a/CLAUDE.md": "@y.md", "a/y.md": "Y"}
    home = {".claude/CLAUDE.md": "@~/h.md", "h.md": "H", "/up/o.md": "O"}
    users = ["~/.claude/CLAUDE.md", "~/h.md"]
    assert loaded("claude", files, home) == [*users, "CLAUDE.md", "x.md"]
    assert loaded("claude", files, home, folder="a") == [
        *users, "CLAUDE.md", "a/CLAUDE.md", "a/y.md",
    ]  # fmt: skip
    allowed = {"projects": {"/up/project": {"hasClaudeMdExternalIncludesApproved": True}}}
    home[".claude.json"] = json.dumps(allowed)
    assert loaded("claude", files, home) == [*users, "CLAUDE.md", "/up/o.md", "x.md"]


@pytest.mark.parametrize(
    ("agent", "environ", "home", "names"),
    [
        ("claude", {"CLAUDE_CONFIG_DIR": "/home/ann/c"}, {"c/CLAUDE.md": "U"}, ["~/c/CLAUDE.md"]),
        ("codex", {"CODEX_HOME": "/home/ann/c"}, {"c/AGENTS.md": "U"}, ["~/c/AGENTS.md"]),
        (
            "opencode",
            {"XDG_CONFIG_HOME": "/home/ann/x"},
            {"x/opencode/AGENTS.md": "U"},
            ["~/x/opencode/AGENTS.md"],
        ),
        (
            "opencode",
            {"OPENCODE_CONFIG_DIR": "/home/ann/o"},
            {"o/AGENTS.md": "U", ".config/opencode/AGENTS.md": "V"},
            ["~/o/AGENTS.md"],
        ),
        (
            "opencode",
            {"OPENCODE_CONFIG": "/home/ann/o.json"},
            {"o.json": '{"instructions": ["~/i.md"]}', "i.md": "I"},
            ["~/i.md"],
        ),
        ("opencode", {}, {".claude/CLAUDE.md": "U"}, ["~/.claude/CLAUDE.md"]),
        ("opencode", {"OPENCODE_DISABLE_CLAUDE_CODE": "1"}, {".claude/CLAUDE.md": "U"}, []),
        ("gemini", {}, {".gemini/GEMINI.md": "U @u.md", ".gemini/u.md": "V"},
         ["~/.gemini/GEMINI.md", "~/.gemini/u.md"]),
        ("aider", {"AIDER_READ": "/home/ann/r.md"}, {"r.md": "R"}, ["~/r.md"]),
    ],
)  # fmt: skip
def test_variables_say_where_the_users_files_are(
    agent: str, environ: dict[str, str], home: dict[str, str], names: list[str]
) -> None:
    environ = {"HOME": "/home/ann", **environ}
    assert loaded(agent, {"x.md": "X"}, home, environ=environ) == names


def test_codex_takes_settings_of_a_project_that_the_user_trusts() -> None:
    files = {".git/HEAD": "", "AGENTS.md": "A", ".codex/config.toml": "project_doc_max_bytes = 0"}
    trust = '[projects."/up/project"]\ntrust_level = "trusted"\n'
    where = opened(files, {".codex/config.toml": trust})
    (file,) = list_loaded_files(find_agent_reading("codex"), where)
    assert file.text == ""
    assert loaded(
        "codex", {"B.md": "B"}, arguments=("-c", 'project_doc_fallback_filenames=["B.md"]')
    ) == ["B.md"]
