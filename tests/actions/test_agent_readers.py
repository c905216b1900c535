from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cub.actions.agent_readers import (
    describe_cut_sources,
    list_reader_names,
    suggest_reading_fix,
    warn_missed_texts,
)
from cub.actions.init_update import InitOptions, plan_init
from cub.actions.plan_warnings import ONE_FILE_HINT, UNREAD_HINT
from cub.actions.project_state import ProjectState, load_project_state
from cub.edit.plan import PlanWarning
from cub.files.file_tree import PlannedTree
from cub.project.project import Project
from tests.actions.helpers import list_context_sources
from tests.project.memory_tree import MemoryTree

AGENTS, CLAUDE, MAP, CONSTITUTION = "AGENTS.md", "CLAUDE.md", ".cub/map.md", ".cub/constitution.md"
OTHERS = ("Cursor", "Copilot", "Amp", "Zed", "Windsurf", "Cline", "Kiro", "Junie")
FIVE = ("claude", "codex", "gemini", "opencode", "aider")
OURS, THEIRS = {AGENTS: "# Ours\n"}, {CLAUDE: "# Theirs\n"}
OURS_TEXT = "# Ours\n\nBake before six.\n\nFlour is in grams.\n"


def state_without_cub(files: Mapping[str, str], root: Path = Path("/nowhere")) -> ProjectState:
    tree = MemoryTree({path: text.encode() for path, text in files.items()})
    return load_project_state(Project.from_tree(root, tree, is_commit=True))


def state_after_init(
    files: Mapping[str, str], root: Path = Path("/nowhere"), **options: Any
) -> ProjectState:
    project = state_without_cub({**files, MAP: "# Map\n"}, root).project
    plan = plan_init(project, InitOptions(**options))
    planned = PlannedTree(project.tree, plan.contents)
    return load_project_state(Project.from_tree(root, planned, is_commit=True))


def readers(state: ProjectState, *paths: str) -> dict[str, tuple[str, ...]]:
    return list_reader_names(state, paths)


def said(warnings: list[PlanWarning]) -> list[tuple[str, str]]:
    return [(warning.path, warning.hint) for warning in warnings]


@pytest.mark.parametrize(
    ("files", "agents", "agents_md", "claude_md", "rest"),
    [
        (OURS, (), ("Claude Code", "Codex", "opencode", "pi", *OTHERS), (), ("Claude Code",)),
        (
            {},
            (),
            ("Claude Code", "Codex", "opencode", "pi", *OTHERS),
            ("Claude Code",),
            ("Claude Code",),
        ),
        (
            {**OURS, **THEIRS},
            (),
            ("Codex", "opencode", "pi", *OTHERS),
            ("Claude Code",),
            ("Claude Code",),
        ),
        (
            OURS,
            ("gemini", "opencode", "aider"),
            ("Claude Code", "Codex", "Gemini CLI", "opencode", "aider", "pi", *OTHERS),
            (),
            ("Claude Code", "Gemini CLI", "opencode", "aider"),
        ),
    ],
    ids=["agents", "none", "both", "settings"],
)  # fmt: skip
def test_only_agents_that_load_a_file_are_its_readers(
    files: dict[str, str],
    agents: tuple[str, ...],
    agents_md: tuple[str, ...],
    claude_md: tuple[str, ...],
    rest: tuple[str, ...],
) -> None:
    found = readers(state_after_init(files, agents=agents), AGENTS, CLAUDE)
    assert found == {AGENTS: agents_md, CLAUDE: claude_md, MAP: rest, CONSTITUTION: rest}


def test_a_text_in_the_section_has_the_readers_of_the_section() -> None:
    config = {".cub/config.yaml": "inline: [map]\n"}
    found = readers(state_after_init({**OURS, **config}), AGENTS)
    assert found[MAP] == ("Claude Code", "Codex", "opencode", "pi", *OTHERS)
    assert found[CONSTITUTION] == ("Claude Code",)


def test_claude_reads_files_of_folders_only_without_a_file_at_the_root() -> None:
    nested = {**OURS, "api/AGENTS.md": "# Api\n"}
    found = readers(state_after_init(nested, paths=["api"]), "api/AGENTS.md")
    assert found["api/AGENTS.md"][:2] == ("Claude Code", "Codex")
    found = readers(state_after_init({**nested, **THEIRS}, paths=["api"]), "api/AGENTS.md")
    assert found["api/AGENTS.md"][0] == "Codex"
    targets = [AGENTS, "web/CLAUDE.md"]
    found = readers(state_after_init({**OURS, "web/CLAUDE.md": "W"}, targets=targets), *targets)
    assert found["web/CLAUDE.md"] == ("Claude Code",)


def test_two_texts_without_an_import_are_told_with_the_line_that_joins_them() -> None:
    state = state_after_init({**OURS, **THEIRS})
    assert said(list(warn_missed_texts(state))) == [
        (AGENTS, "add the line `@AGENTS.md` to CLAUDE.md"),
        (
            CLAUDE,
            "move what all agents should know to AGENTS.md, and import it here: `@AGENTS.md`",
        ),
    ]
    for files in (OURS, {}, {**OURS, CLAUDE: "@AGENTS.md\n\n# Theirs\n"}):
        assert list(warn_missed_texts(state_after_init(files))) == []


@pytest.mark.parametrize(
    ("agents", "readers"), [((), "Claude Code reads"), (FIVE, "Claude Code and aider read")]
)
def test_a_text_that_a_file_of_cubs_hides_is_told_with_the_way_to_one_file(
    agents: tuple[str, ...], readers: str
) -> None:
    (warning,) = warn_missed_texts(state_after_init(THEIRS, agents=agents))
    assert warning.path == CLAUDE
    assert warning.message == f"only {readers} this file, because there is an AGENTS.md"
    assert "`mv -f CLAUDE.md AGENTS.md`, then `cub init`" in warning.hint


@pytest.mark.parametrize(
    ("name", "line"), [(".claude/CLAUDE.md", "@../AGENTS.md"), ("CLAUDE.local.md", "@AGENTS.md")]
)
def test_other_files_of_claude_that_hide_the_text_are_named(name: str, line: str) -> None:
    state = state_after_init({**OURS, name: "# Theirs\n"}, targets=[AGENTS])
    assert said(list(warn_missed_texts(state))) == [(AGENTS, f"add the line `{line}` to {name}")]


def test_a_file_above_the_project_is_made_up_for_by_init(tmp_path: Path) -> None:
    (tmp_path / CLAUDE).write_text("Above.\n")
    root = tmp_path / "project"
    state = state_after_init(OURS, root, targets=[AGENTS])
    assert said(list(warn_missed_texts(state))) == [
        (AGENTS, "run `cub init` to create a CLAUDE.md that imports it")
    ]
    made = state_after_init(OURS, root)
    assert "@AGENTS.md" in (made.tree.read(CLAUDE) or b"").decode()
    assert list(warn_missed_texts(made)) == []


def fix(state: ProjectState, agent: str, version: tuple[int, ...] = ()) -> str:
    sources = list_context_sources(state.project, agent, version=version)
    return suggest_reading_fix(state.project, agent, sources, version)


@pytest.mark.parametrize(
    ("files", "options", "fixes"),
    [
        (OURS, {}, ["", *(f"cub init --agent {name}" for name in FIVE[1:])]),
        (OURS, {"agents": FIVE}, [""] * 5),
        (
            {**OURS, **THEIRS},
            {"agents": FIVE},
            ["add the line `@AGENTS.md` to CLAUDE.md"]
            + ["move the text for this agent from CLAUDE.md to AGENTS.md"] * 4,
        ),
        (THEIRS, {"agents": FIVE}, ["", *[ONE_FILE_HINT] * 3, ""]),
        (
            {**OURS, **THEIRS},
            {"targets": [AGENTS]},
            [f"cub init --agent {name}" for name in FIVE],
        ),
        ({AGENTS: "Rule.\n" * 6_000}, {"agents": FIVE}, ["", UNREAD_HINT, "", "", ""]),
    ],
    ids=["default", "all", "both", "claude", "targets", "long"],
)
def test_what_helps_an_agent_that_misses_something(
    files: dict[str, str], options: dict[str, Any], fixes: list[str]
) -> None:
    state = state_after_init(files, **options)
    assert [fix(state, agent) for agent in FIVE] == fixes


def test_an_agent_of_a_project_without_cub_or_in_an_old_version_is_helped_by_init() -> None:
    bare = state_without_cub({**OURS, **THEIRS})
    assert fix(bare, "claude") == "add the line `@AGENTS.md` to CLAUDE.md"
    assert fix(bare, "opencode") == "cub init --agent opencode"
    assert fix(state_without_cub({**OURS, CLAUDE: "<!-- Later. -->\n"}), "claude") == ""
    old = (2, 1, 197)
    assert fix(state_after_init(OURS), "claude", old) == "cub init --targets AGENTS.md,CLAUDE.md"
    targets = state_after_init(OURS, targets=[AGENTS, CLAUDE])
    assert fix(targets, "claude", old) == ""


def test_a_text_that_is_loaded_twice_is_loaded_once_after_init() -> None:
    inline = {".cub/config.yaml": "inline: [map, constitution]\n"}
    lists = {"opencode.json": f'{{"instructions": ["{MAP}", "{CONSTITUTION}", "X.md"]}}\n'}
    twice = state_after_init({**OURS, **inline, **lists})
    assert fix(twice, "opencode") == "cub init --agent opencode"
    once = state_after_init({**OURS, **lists}, agents=FIVE)
    assert fix(once, "opencode") == ""
    assert once.tree.read("opencode.json") == b'{"instructions": ["X.md"]}\n'


@pytest.mark.parametrize("theirs", [OURS_TEXT, f"# Mine\n\n{OURS_TEXT}\nOne more rule.\n"])
def test_a_file_that_says_what_another_says_is_not_missed(theirs: str) -> None:
    state = state_after_init({AGENTS: OURS_TEXT, CLAUDE: theirs})
    warned = said(list(warn_missed_texts(state)))
    assert [path for path, _ in warned] == [CLAUDE] * (theirs != OURS_TEXT)
    stub = state_after_init({AGENTS: OURS_TEXT}, targets=[AGENTS, CLAUDE])
    claude = (stub.tree.read(CLAUDE) or b"").decode()
    assert "@AGENTS.md" in claude
    later = state_after_init({AGENTS: OURS_TEXT, CLAUDE: theirs + claude})
    assert "@AGENTS.md" not in (later.tree.read(CLAUDE) or b"").decode()
    sources = list_context_sources(later.project, "claude")
    assert {source.times for source in sources} == {1}


def test_a_run_says_which_file_is_cut() -> None:
    state = state_after_init({AGENTS: "Rule.\n" * 6_000})
    sources = list_context_sources(state.project, "codex")
    (text,) = describe_cut_sources(sources, "codex")
    assert text.startswith("Codex does not read AGENTS.md to its end")
    assert list(describe_cut_sources(list_context_sources(state.project, "claude"), "claude")) == []
