from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent.agent_types import MAX_DESCRIPTION_CHARS, AgentType, load_agent_types
from cub.agent.tools.toolset import RULE_NAMES
from tests.context.places import make_reader

OF_CLAUDE_CODE = """\
Read, LS, TodoRead, TodoWrite, MultiEdit, NotebookRead, NotebookEdit, BashOutput, KillBash, \
KillShell, SlashCommand, ExitPlanMode, AskUserQuestion, Agent, TaskCreate, TaskGet, TaskList, \
TaskUpdate, TaskStop, TaskOutput, LSP, ListMcpResourcesTool"""


def test_later_folders_come_last_and_all_fields_are_read(tmp_path: Path) -> None:
    front = "---\nname: Reviewer\ndescription: >\n  Reviews: all\n  of it.\ntools: Read, Grep\n"
    files = {
        "home/.claude/agents/reviewer.md": "---\nname: Reviewer\n---\nThe user's.\n",
        "home/.cub/agents/tester.md": "---\nmodel: ollama/qwen\n---\nTest it.\n",
        "proj/.claude/agents/team/any.md": f"{front}model: haiku\ncolor: red\n---\n\nReview it.\n",
        "proj/api/.cub/agents/tester.md": "---\nmodel: inherit\n---\nTest the API.\n",
        "proj/api/.claude/agents/README.md": "These are agents.\n",
    }
    reader = make_reader(tmp_path, files, "api")
    assert load_agent_types(reader) == [
        AgentType("Reviewer", "Reviews: all of it.", "Review it.", ("Read", "Grep"), "small"),
        AgentType("tester", "Agent: tester", "Test the API."),
    ]
    assert reader.warnings == []


@pytest.mark.parametrize(("name", "model"), [("inherit", ""), ("sonnet", ""), ("haiku", "small")])
def test_models_are_those_of_the_session(tmp_path: Path, name: str, model: str) -> None:
    files = {"proj/.cub/agents/a.md": f"---\nmodel: {name}\ntools: '*'\n---\nText.\n"}
    (agent,) = load_agent_types(make_reader(tmp_path, files))
    assert (agent.model, agent.tools) == (model, None)


def test_a_model_of_a_project_or_of_no_provider_is_ignored(tmp_path: Path) -> None:
    files = {
        "home/.claude/agents/a.md": "---\nmodel: nobody/x\n---\nText.\n",
        "proj/.claude/agents/b.md": "---\nmodel: ollama/qwen\n---\nText.\n",
    }
    reader = make_reader(tmp_path, files)
    assert [agent.model for agent in load_agent_types(reader)] == ["", ""]
    assert [warning.message for warning in reader.warnings] == [
        "model is not a model of a known provider; it is ignored",
        "model is not one of inherit, opus, sonnet, haiku, small; it is ignored",
    ]


def test_descriptions_are_bounded(tmp_path: Path) -> None:
    files = {"proj/.claude/agents/a.md": f"---\ndescription: {'x ' * 5_000}\n---\nText.\n"}
    (agent,) = load_agent_types(make_reader(tmp_path, files))
    assert len(agent.description) == MAX_DESCRIPTION_CHARS


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("Raed, Grep", ["tools has unknown tools: Raed", "did you mean Read?"]),
        ("[Bash(git *), 'GREP(x)', web_fetch]",
         ["tools has unknown tools: GREP, web_fetch", "did you mean Grep, WebFetch?"]),
        ("Serach, TodoWrite",
         ["tools has unknown tools: Serach, TodoWrite; it allows none",
          f"choose from {', '.join(RULE_NAMES)}"]),
        (OF_CLAUDE_CODE, []),
        ("mcp__files__list, mcp__files__read, Reed", ["tools has unknown tools: Reed",
                                                      "did you mean Read?"]),
        ("mcp__files", []),
        ("[]", []),
        ("Skill, Task, Task", []),
    ],
)  # fmt: skip
def test_tools_that_cub_does_not_have_are_a_warning_if_that_looks_like_a_mistake(
    tmp_path: Path, tools: str, said: list[str]
) -> None:
    files = {"proj/.claude/agents/a.md": f"---\nname: a\ntools: {tools}\n---\nText.\n"}
    reader = make_reader(tmp_path, files)
    assert len(load_agent_types(reader)) == 1
    assert [text for row in reader.warnings for text in (row.message, row.hint)] == said
    assert {row.location for row in reader.warnings} <= {".claude/agents/a.md:3"}


def test_what_cannot_be_used_is_a_warning(tmp_path: Path) -> None:
    files = {
        "proj/.claude/agents/empty.md": "---\nname: empty\n---\n",
        "proj/.claude/agents/wrong.md": "---\ntools: 5\nmodel: [a]\ndescription: D\n---\nText.\n",
        "home/secret.md": "secret\n",
    }
    reader = make_reader(tmp_path, files)
    (reader.root / ".claude/agents/out.md").symlink_to(tmp_path / "home/secret.md")
    assert load_agent_types(reader) == [AgentType("wrong", "D", "Text.")]
    assert [(warning.location, warning.message) for warning in reader.warnings] == [
        (".claude/agents/empty.md", "no text below the front matter; it is left out"),
        (".claude/agents/out.md", "this leads out of the project; it is left out"),
        (".claude/agents/wrong.md:2", "tools is not a list of tools; it is ignored"),
        (".claude/agents/wrong.md:3", "model is not a string; it is ignored"),
    ]
