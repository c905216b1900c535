from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cub.actions.agent_context import list_context_sources
from cub.actions.agent_readers import list_reader_names, warn_cut_sources, warn_missed_texts
from cub.actions.init_update import InitOptions, plan_init
from cub.actions.project_state import ProjectState, load_project_state
from cub.edit.plan import PlanWarning
from cub.files import PlannedTree
from cub.project.project import Project
from tests.project.memory_tree import MemoryTree

AGENTS, CLAUDE, MAP, CONSTITUTION = "AGENTS.md", "CLAUDE.md", ".cub/map.md", ".cub/constitution.md"
OTHERS = ("Copilot", "Cursor", "Amp", "Zed", "Windsurf", "Cline", "Junie", "Kiro")
OURS, THEIRS = {AGENTS: "# Ours\n"}, {CLAUDE: "# Theirs\n"}


def state_after_init(
    files: Mapping[str, str], root: Path = Path("/nowhere"), **options: object
) -> ProjectState:
    tree = MemoryTree({path: text.encode() for path, text in {**files, MAP: "# Map\n"}.items()})
    project = Project.from_tree(root, tree, is_commit=True)
    plan = plan_init(project, InitOptions(**options))  # type: ignore[arg-type]
    planned = PlannedTree(tree, plan.contents)
    return load_project_state(Project.from_tree(root, planned, is_commit=True))


def readers(state: ProjectState, *paths: str) -> dict[str, tuple[str, ...]]:
    return list_reader_names(state, paths)


def said(warnings: list[PlanWarning]) -> list[tuple[str, str]]:
    return [(warning.path, warning.hint) for warning in warnings]


@pytest.mark.parametrize(
    ("files", "agents", "agents_md", "claude_md", "rest"),
    [
        (OURS, (), ("Claude Code", "Codex", "opencode", *OTHERS), (), ("Claude Code",)),
        (
            {},
            (),
            ("Claude Code", "Codex", "opencode", *OTHERS),
            ("Claude Code",),
            ("Claude Code",),
        ),
        (
            {**OURS, **THEIRS},
            (),
            ("Codex", "opencode", *OTHERS),
            ("Claude Code",),
            ("Claude Code",),
        ),
        (
            OURS,
            ("gemini", "opencode", "aider"),
            ("Claude Code", "Codex", "Gemini CLI", "opencode", "aider", *OTHERS),
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
    assert found[MAP] == ("Claude Code", "Codex", "opencode", *OTHERS)
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
            "move what all agents should know to AGENTS.md, and import that here: `@AGENTS.md`",
        ),
    ]
    for files in (OURS, THEIRS, {}, {**OURS, CLAUDE: "@AGENTS.md\n\n# Theirs\n"}):
        assert list(warn_missed_texts(state_after_init(files))) == []


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
        (AGENTS, "`cub init` makes a CLAUDE.md that imports it")
    ]
    made = state_after_init(OURS, root)
    assert "@AGENTS.md" in (made.tree.read(CLAUDE) or b"").decode()
    assert list(warn_missed_texts(made)) == []


def test_a_run_says_which_file_is_cut() -> None:
    state = state_after_init({AGENTS: "Rule.\n" * 6_000})
    sources = list_context_sources(state.project, "codex")
    (warning,) = warn_cut_sources(sources, "codex")
    assert (warning.path, warning.message.split(" does")[0]) == (AGENTS, "Codex")
    assert list(warn_cut_sources(list_context_sources(state.project, "claude"), "claude")) == []
